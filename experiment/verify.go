package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"coldwave/analysis"
	"coldwave/internal/realclock"
	"coldwave/patterns"
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
	Gateway  *Remote         // instead of the bundled stack: a gateway that runs already, which can play one role only
	Role     references.Role // with Gateway: the role that it plays
	Tries    int             // 0: DefaultTries
	Claims   []string        // ids; empty: all
	Virtual  bool            // in virtual time
	Abort    <-chan struct{}

	// MakePolicy makes the policy of a role instead of Before and After; for tests. nil: by name.
	MakePolicy func(references.Role) (scheduler.Policy, error)
}

// Documented lists the documented patterns in the order of their reports.
func Documented() []string { return []string{"fc-ramp", "fc-burst"} }

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

// claims returns the claims to judge.
func (v Verify) claims() ([]references.Claim, error) {
	all, err := references.Load()
	if err != nil {
		return nil, err
	}
	return references.Select(all, v.Claims)
}

// cells returns the cells that the claims need, in the order of the reports: patterns outermost, before first, cells
// with a limit of instances last.
func (v Verify) cells(claims []references.Claim) ([]Cell, error) {
	var cells []Cell
	for _, n := range v.needs(claims) {
		pair, err := v.pair(n.pattern, n.limit)
		if err != nil {
			return nil, err
		}
		cells = append(cells, pair...)
	}
	return cells, nil
}

// need is a pattern and a limit of instances that some claim speaks of.
type need struct {
	pattern string
	limit   int
}

// needs lists what the claims speak of. The claims about a limit of instances count only if they were asked for by name:
// they cost two cells more.
func (v Verify) needs(claims []references.Claim) []need {
	wanted := map[need]bool{}
	for _, c := range claims {
		quota, limited := c.Limits["quota"]
		for _, p := range v.patterns() {
			switch {
			case c.Pattern != "" && c.Pattern != p:
			case !limited:
				wanted[need{p, scheduler.Unlimited}] = true
			case len(v.Claims) > 0:
				wanted[need{p, int(quota)}] = true
			}
		}
	}
	var out []need
	for _, p := range v.patterns() {
		if n := (need{p, scheduler.Unlimited}); wanted[n] {
			out = append(out, n)
			delete(wanted, n)
		}
	}
	rest := slices.Collect(maps.Keys(wanted))
	slices.SortFunc(rest, func(a, b need) int { return cmp.Or(cmp.Compare(a.pattern, b.pattern), cmp.Compare(a.limit, b.limit)) })
	return append(out, rest...)
}

func (v Verify) patterns() []string {
	if len(v.Patterns) == 0 {
		return Documented()
	}
	return v.Patterns
}

// pair returns the two cells of a pattern.
func (v Verify) pair(pattern string, limit int) ([]Cell, error) {
	process, err := v.process(pattern)
	if err != nil {
		return nil, err
	}
	var pair []Cell
	for _, role := range v.roles() {
		cell := Cell{
			Pattern: pattern, Process: process, Policy: v.Before, Role: role, Profile: v.Profile, Max: limit, Seed: v.Seed,
		}
		if role == references.After {
			cell.Policy = v.After
		}
		if v.MakePolicy != nil {
			cell.MakePolicy = func() (scheduler.Policy, error) { return v.MakePolicy(role) }
		}
		pair = append(pair, cell)
	}
	return pair, nil
}

func (v Verify) roles() []references.Role {
	if v.Gateway != nil {
		return []references.Role{v.Role}
	}
	return []references.Role{references.Before, references.After}
}

// shifted is the burst with the step of the published table, which a comparison row by row needs (10.4).
const shifted = "fc-burst-shifted"

func (v Verify) process(pattern string) (patterns.Pattern, error) {
	file := pattern
	if pattern == "fc-burst" && v.Profile.Cold.Name() == "documented" {
		file = shifted
	}
	process, err := patterns.Load(file, nil)
	if err != nil || !v.Quick {
		return process, err
	}
	return process.Override(patterns.Settings{Gap: QuickGap})
}

// try runs all cells once.
func (v Verify) try(ctx context.Context, cells []Cell, show func(Progress)) (references.Evidence, error) {
	evidence := references.Evidence{Law: v.Profile.Cold.Name(), Quick: v.Quick}
	if v.Virtual {
		return v.tryVirtual(evidence, cells)
	}
	for _, cell := range cells {
		if err := v.setup().check(ctx, cell); err != nil {
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
		out = append(out, references.Cell{Pattern: c.Pattern, Role: c.Role, Quota: c.quota(), Failed: why})
	}
	return out
}

func (v Verify) tryVirtual(evidence references.Evidence, cells []Cell) (references.Evidence, error) {
	for _, c := range cells {
		run, err := Virtual(c)
		if err != nil {
			return evidence, err
		}
		evidence.Cells = append(evidence.Cells, references.Cell{Pattern: c.Pattern, Role: c.Role, Quota: c.quota(), Run: &run})
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
		c := references.Cell{Pattern: cells[i].Pattern, Role: cells[i].Role, Quota: cells[i].quota(), Run: &r.run}
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
