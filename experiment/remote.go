package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"coldwave/engine"
	"coldwave/internal/clock"
	"coldwave/record"
)

// Remote is a system that runs elsewhere: a gateway of ours with its admin port, or any HTTP target.
type Remote struct {
	Target *engine.Target
	Admin  *engine.Target // of a gateway; nil: the target tells nothing of its instances
	Token  string         // for the admin port; empty: none
}

// ErrAdmin is wrapped by errors of the gateway's admin port.
var ErrAdmin = errors.New("gateway admin port")

// remote is a Remote during one cell.
type remote struct {
	Remote
	client *http.Client
	clock  clock.Clock
	offset time.Duration // from the gateway's clock to ours
	never  chan struct{}
}

// openRemote checks that the target can be reached, and reads the gateway's clock.
func openRemote(ctx context.Context, r Remote, clk clock.Clock) (*remote, error) {
	if err := engine.Reach(ctx, r.Target); err != nil {
		return nil, err
	}
	out := &remote{Remote: r, clock: clk, never: make(chan struct{})}
	if r.Admin == nil {
		return out, nil
	}
	out.client = r.Admin.Client()
	var stats struct {
		Now clock.Instant `json:"now_ns"`
	}
	before := clk.Now()
	if err := out.ask(ctx, "/stats", &stats); err != nil {
		return nil, err
	}
	out.offset = (before + (clk.Now()-before)/2).Sub(stats.Now)
	return out, nil
}

// Limits of an answer of the admin port.
const (
	adminBytes = 64 << 20
	adminTime  = 5 * time.Second
)

func (r *remote) ask(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, adminTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Admin.URL(path), nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAdmin, err)
	}
	if r.Token != "" {
		request.Header.Set("Authorization", "Bearer "+r.Token)
	}
	answer, err := r.client.Do(request)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAdmin, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: GET %s: status %d; give its address with --admin, and its token", ErrAdmin, path, answer.StatusCode)
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, adminBytes)).Decode(into); err != nil {
		return fmt.Errorf("%w: GET %s: %w", ErrAdmin, path, err)
	}
	return nil
}

func (r *remote) target() *engine.Target { return r.Target }

func (r *remote) bundled() bool { return r.Admin != nil }

// life is one entry of /instances.
type life struct {
	ID      int32          `json:"id"`
	Cause   string         `json:"cause"`
	First   string         `json:"first"`
	Node    int32          `json:"node"`
	Cached  bool           `json:"cached"`
	Started clock.Instant  `json:"started_ns"`
	Ready   *clock.Instant `json:"ready_ns"`
	Stopped *clock.Instant `json:"stopped_ns"`
	Failed  bool           `json:"failed"`
	Served  int            `json:"served"`
	Busy    time.Duration  `json:"busy_ns"`
}

// instances returns the lives on our clock. Those that ended before our epoch belong to somebody else's run.
func (r *remote) instances(ctx context.Context) ([]record.Instance, error) {
	if r.Admin == nil {
		return nil, nil
	}
	var lives []life
	if err := r.ask(ctx, "/instances", &lives); err != nil {
		return nil, err
	}
	var out []record.Instance
	for _, l := range lives {
		in := record.Instance{
			ID: l.ID, Cause: l.Cause, First: l.First, Node: l.Node, Cached: l.Cached, Started: l.Started.Add(r.offset), Ready: r.instant(l.Ready), Stopped: r.instant(l.Stopped),
			Failed: l.Failed, Served: l.Served, Busy: l.Busy,
		}
		if in.Stopped >= 0 {
			out = append(out, in)
		}
	}
	return out, nil
}

// nodes returns the uses of nodes on our clock. Those that were over before our epoch belong to somebody else's run.
func (r *remote) nodes(ctx context.Context) ([]record.Node, error) {
	if r.Admin == nil {
		return nil, nil
	}
	var uses []struct {
		ID        int32          `json:"id"`
		Taken     clock.Instant  `json:"taken_ns"`
		Reclaimed *clock.Instant `json:"reclaimed_ns"`
	}
	if err := r.ask(ctx, "/nodes", &uses); err != nil {
		return nil, err
	}
	var out []record.Node
	for _, u := range uses {
		n := record.Node{ID: u.ID, Taken: u.Taken.Add(r.offset), Reclaimed: r.instant(u.Reclaimed)}
		if n.Reclaimed >= 0 {
			out = append(out, n)
		}
	}
	return out, nil
}

func (r *remote) instant(at *clock.Instant) clock.Instant {
	if at == nil {
		return clock.Never
	}
	return at.Add(r.offset)
}

// load shows what the gateway tells. That it does not answer now is no reason to stop a run.
func (r *remote) load(p *CellProgress) {
	if r.Admin == nil {
		return
	}
	var stats struct {
		Functions []struct {
			Alive, Starting, Idle, Queued int
		} `json:"functions"`
	}
	if r.ask(context.Background(), "/stats", &stats) != nil {
		return
	}
	for _, f := range stats.Functions {
		p.Alive, p.Starting, p.Idle, p.Queued = p.Alive+f.Alive, p.Starting+f.Starting, p.Idle+f.Idle, p.Queued+f.Queued
	}
}

func (r *remote) failed() <-chan struct{} { return r.never }

func (r *remote) err() error { return nil }

func (r *remote) close(context.Context) error {
	if r.client != nil {
		r.client.CloseIdleConnections()
	}
	return nil
}
