package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"coldwave/analysis"
	"coldwave/internal/realclock"
	"coldwave/platform"
	"coldwave/references"
	"coldwave/reports"
	"coldwave/scheduler"
)

// DefaultTries is how often the main job runs until the host is calm.
const DefaultTries = 3

// QuickGap is the time between two waves of a quick run: more than a cold start and a ladder together (10.5).
const QuickGap = 4 * time.Second

// pause is the wait before another try on a busy host.
const pause = 5 * time.Second

// Verify is the main job: the documented patterns under two policies, and the claims that they are judged by.
type Verify struct {
	ID       string   // of the run, also the prefix of the request ids
	Patterns []string // documented patterns; empty: all
	Before   string   // policy that is judged by the claims about the old scheduling
	After    string   // policy that is judged by the claims about the new one
	Profile  platform.Profile
	Seed     uint64
	Quick    bool // QuickGap between two waves
	Fleet    Fleet
	Gateway  *Remote          // instead of the bundled stack: a gateway that runs already, which can play one role only
	Role     references.Role  // with Gateway: the role that it plays
	Tries    int              // 0: DefaultTries
	Claims   []string         // ids; empty: all
	Virtual  bool             // in virtual time
	Suite    references.Suite // worked examples to judge instead of the main job; the zero Suite: the main job
	Policy   string           // with Suite: the policy to judge in place of the suite's, or parameters of it; empty: the suite's
	Abort    <-chan struct{}

	// MakePolicy makes the policy of a role instead of Before and After; for tests. nil: by name.
	MakePolicy func(references.Role) (scheduler.Policy, error)
}

// Run runs all cells side by side, judges the claims, and does it again while the host is too busy, at most Tries
// times. With an error the result holds what was recorded until then.
func (v Verify) Run(ctx context.Context, show func(Progress)) (reports.Verification, error) {
	began := time.Now()
	claims, err := v.claims()
	if err != nil {
		return reports.Verification{}, err
	}
	cells, err := v.cells(claims)
	if err != nil {
		return reports.Verification{}, err
	}
	if v.Tries == 0 {
		v.Tries = DefaultTries
	}
	for try := 1; ; try++ {
		evidence, err := v.try(ctx, cells, func(p Progress) { p.Try = try; show(p) })
		if err != nil && len(evidence.Cells) == 0 {
			return reports.Verification{}, err // nothing was sent
		}
		out := v.result(evidence, claims)
		out.Tries, out.Elapsed = try, time.Since(began)
		if err != nil || try == v.Tries || !isVoid(out) {
			return out, err
		}
		show(Progress{Try: try, Stage: "host busy, waiting: " + hostReason(evidence)})
		if err := wait(ctx, pause); err != nil {
			return out, err
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

func isVoid(v reports.Verification) bool {
	for _, r := range v.Claims {
		if r.Verdict == references.Void {
			return true
		}
	}
	return false
}

func hostReason(e references.Evidence) string {
	if e.Host.Busy {
		return e.Host.Reason
	}
	return fmt.Sprintf("it stood still for up to %.1f ms while the run was on", milliseconds(e.Host.During.Max))
}

// claims returns the claims to judge. On the wire those that need virtual time count only if they were asked for by name:
// they could only be told not to be comparable.
func (v Verify) claims() ([]references.Claim, error) {
	if v.Suite.Name != "" {
		return references.Select(v.Suite.Claims, v.Claims)
	}
	all, err := references.Load()
	if err != nil {
		return nil, err
	}
	if len(v.Claims) == 0 && !v.Virtual {
		all = slices.DeleteFunc(all, func(c references.Claim) bool { return c.Driver == "virtual" })
	}
	return references.Select(all, v.Claims)
}

// try runs all cells once.
func (v Verify) try(ctx context.Context, cells []Cell, show func(Progress)) (references.Evidence, error) {
	evidence := references.Evidence{Quick: v.Quick}
	if v.Suite.Name == "" { // the scenes of a suite have start-ups of their own
		evidence.Law = v.Profile.Cold.Name()
	}
	if v.Virtual {
		return v.tryVirtual(ctx, evidence, cells)
	}
	for _, cell := range cells {
		if _, err := v.setup().check(ctx, cell); err != nil {
			return evidence, err
		}
	}
	show(Progress{Stage: "checking that the host is calm"})
	host, err := Calibrate(ctx, realclock.New(time.Now()))
	evidence.Host = host
	if err != nil || host.Busy {
		evidence.Cells = missing(cells, "the host was too busy to begin")
		return evidence, err
	}
	return v.tryWire(ctx, evidence, cells, show)
}

func missing(cells []Cell, why string) []references.Cell {
	var out []references.Cell
	for _, c := range cells {
		out = append(out, c.evidence(nil, why))
	}
	return out
}

// evidence is the cell's place in the evidence, with its run or why there is none.
func (c Cell) evidence(run *analysis.Run, failed string) references.Cell {
	return references.Cell{Pattern: c.Pattern, Role: c.Role, Quota: c.quota(), Scene: c.Scene, Run: run, Failed: failed}
}

func (v Verify) tryVirtual(ctx context.Context, evidence references.Evidence, cells []Cell) (references.Evidence, error) {
	if v.Suite.Name != "" {
		played, err := play(ctx, cells)
		if err == nil {
			evidence.Cells = played
		}
		return evidence, err
	}
	for _, c := range cells {
		run, err := Virtual(c)
		if err != nil {
			return evidence, err
		}
		evidence.Cells = append(evidence.Cells, c.evidence(&run, ""))
	}
	return evidence, nil
}

// tryWire opens a stack for each cell, sends all schedules side by side, and closes the stacks.
func (v Verify) tryWire(ctx context.Context, evidence references.Evidence, cells []Cell, show func(Progress)) (references.Evidence, error) {
	replays, err := v.openAll(ctx, cells)
	if err != nil {
		return evidence, errors.Join(err, closeAll(ctx, replays))
	}
	stopWatch := Watch(ctx, realclock.New(time.Now()))
	err = replayAll(ctx, replays, show)
	evidence.Host.During = analysis.Of(stopWatch())
	judgeHost(&evidence.Host)
	for i, r := range replays {
		r.run.Host = evidence.Host
		err = errors.Join(err, v.compare(cells[i], r))
		c := cells[i].evidence(&r.run, "")
		if r.runError != nil {
			c.Failed = r.runError.Error()
		}
		evidence.Cells = append(evidence.Cells, c)
	}
	return evidence, errors.Join(err, closeAll(ctx, replays))
}

// openAll puts the cells together. Their epochs are staggered over the gap between two waves, longest schedule first,
// so that no two waves coincide and the whole takes hardly longer than the longest cell.
func (v Verify) openAll(ctx context.Context, cells []Cell) ([]*replay, error) {
	start := time.Now().Add(setUp)
	offsets, err := stagger(cells)
	if err != nil {
		return nil, err
	}
	var replays []*replay
	for i, cell := range cells {
		u := v.setup()
		u.ID, u.Epoch = fmt.Sprintf("%s.%d", v.ID, i), start.Add(offsets[i])
		r, err := u.open(ctx, cell)
		if err != nil {
			return replays, err
		}
		replays = append(replays, r)
	}
	return replays, nil
}

func (v Verify) setup() setup {
	return setup{ID: v.ID, Fleet: v.Fleet, Remote: v.Gateway, Sending: Sending{Abort: v.Abort}}
}

func closeAll(ctx context.Context, replays []*replay) error {
	var errs []error
	for _, r := range replays {
		errs = append(errs, r.system.close(ctx))
	}
	return errors.Join(errs...)
}

// result judges the claims by the evidence.
func (v Verify) result(evidence references.Evidence, claims []references.Claim) reports.Verification {
	out := reports.Verification{
		ID: v.ID, Driver: "wire", Law: evidence.Law, Quick: v.Quick, Claims: references.Check(claims, evidence),
	}
	if v.Virtual {
		out.Driver = "virtual"
	}
	if v.Suite.Name != "" {
		out.Suite = &reports.Suite{Name: v.Suite.Name, Title: v.Suite.Title, Left: v.Suite.Left}
	}
	if rows, err := references.Ladder(evidence); err == nil && slices.ContainsFunc(rows, references.LadderRow.Measured) {
		out.Ladder = rows // without a burst there is nothing beside the documented rows
	}
	for _, c := range evidence.Cells {
		if c.Run != nil {
			out.Runs = append(out.Runs, *c.Run)
		}
	}
	return out
}
