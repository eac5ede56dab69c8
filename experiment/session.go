package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"coldwave/analysis"
	"coldwave/internal/rng"
	"coldwave/reports"
)

// Limits of a session.
const (
	MaxRounds = 1000 // rounds of one session
	MaxLanes  = 64   // runs at once
	autoLanes = 8    // most runs at once unless more are asked for
)

// laneGap is the least time between two waves of neighbouring runs, and crowd the largest wave that runs side by side may
// have: a larger one loads the host for real, and such patterns run alone.
const (
	laneGap = time.Second
	crowd   = 100
)

// Contender is one side of a session: a policy on the bundled stack, a target, or a gateway program.
type Contender struct {
	Name    string
	Cell    Cell     // with Remote its policy and limits are not used
	Remote  *Remote  // a target that runs already; nil: none
	Program *Program // a gateway that is started for each run; nil: none
}

// Session is runs of several sides, interleaved so that a drift of the host moves all of them alike. In a round each side
// runs once, all on one seed: they face the same arrivals, demands and start-ups. The order turns round from round to
// round (ABBA), and the first one is drawn from the seed.
type Session struct {
	ID      string
	Sides   []Contender // at least two; the first is what the others are compared with
	Rounds  int         // valid ones that are wanted
	Spare   int         // more rounds that may take the place of void ones
	Lanes   int         // runs at once, from 1; 0: as many as the pattern leaves room for
	Rest    time.Duration
	Virtual bool // in virtual time
	AA      bool
	Paired  bool
	OneSeed bool    // all rounds on the seed of the first: what differs from run to run is the host
	Level   float64 // of intervals; 0: analysis.DefaultConfidence
	Fleet   Fleet
	Sending Sending
	Reading analysis.Reading // how numbers are taken; its Run is not used

	Yardsticks []analysis.Yardstick // empty: analysis.DefaultYardsticks

	// Keep is given each run that was sent, with the reason why it is void; it may be nil. It is called from one goroutine.
	Keep func(run Played) error
}

// Played is one run of a session.
type Played struct {
	Side  int // of Session.Sides
	Round int // from 0
	Run   analysis.Run
	Void  string // why it counts on no side; empty: it counts
}

// turn is a run that is due.
type turn struct{ round, side int }

// Plan says how a session will go.
type Plan struct {
	Rounds, Sides, Lanes, Batches int
	Length                        time.Duration // of the whole, if no round is void; 0 in virtual time
}

// bounds finds numbers that no session can have.
func (s Session) bounds() error {
	switch {
	case len(s.Sides) < 2:
		return fmt.Errorf("%w: %d sides: give at least two", ErrSides, len(s.Sides))
	case s.Rounds < 1 || s.Rounds > MaxRounds:
		return fmt.Errorf("%w: %d runs a side: must be 1 to %d", ErrSides, s.Rounds, MaxRounds)
	case s.Spare < 0 || s.Spare > MaxRounds:
		return fmt.Errorf("%w: %d spare rounds: must be 0 to %d", ErrSides, s.Spare, MaxRounds)
	case s.Lanes < 0 || s.Lanes > MaxLanes:
		return fmt.Errorf("%w: %d runs at once: must be 1 to %d", ErrSides, s.Lanes, MaxLanes)
	case s.Lanes > 1 && s.shared():
		return fmt.Errorf("%w: %d runs at once: a target that runs already serves one run at a time", ErrSides, s.Lanes)
	case s.first().Cell.Seed > math.MaxUint64-uint64(s.Rounds+s.Spare):
		return fmt.Errorf("%w: %d rounds from seed %d on: the last would be above the largest seed", ErrSides, s.Rounds+s.Spare, s.first().Cell.Seed)
	}
	return nil
}

// check finds what is wrong before anything is sent.
func (s Session) check(ctx context.Context) error {
	if err := s.bounds(); err != nil {
		return err
	}
	for _, c := range s.Sides {
		if s.Virtual && (c.Remote != nil || c.Program != nil) {
			return fmt.Errorf("%w: %s: only policies run in virtual time", ErrSides, c.Name)
		}
		if err := s.checkSide(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

func (s Session) checkSide(ctx context.Context, c Contender) error {
	if s.Virtual {
		return c.Cell.check()
	}
	_, err := s.setup(c).check(ctx, c.Cell)
	return err
}

func (s Session) first() Contender { return s.Sides[0] }

// shared says whether a side is a system that all its runs share: then only one may be on.
func (s Session) shared() bool {
	return slices.ContainsFunc(s.Sides, func(c Contender) bool { return c.Remote != nil })
}

func (s Session) setup(c Contender) setup {
	return setup{ID: s.ID, Fleet: s.Fleet, Remote: c.Remote, Program: c.Program, Sending: s.Sending}
}

// Plan says how the session will go: how many runs are on at once, and how long it takes.
func (s Session) Plan() (Plan, error) {
	if err := s.bounds(); err != nil {
		return Plan{}, err
	}
	schedule, err := s.first().Cell.Schedule()
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Rounds: s.Rounds, Sides: len(s.Sides), Lanes: s.Lanes}
	waves := schedule.Waves()
	gap := shortestGap(waves)
	if p.Lanes == 0 {
		p.Lanes = 1
		if !s.shared() && schedule.LargestWave() <= crowd {
			p.Lanes = max(1, min(autoLanes, int(gap/laneGap)))
		}
	}
	if p.Lanes >= p.Sides {
		p.Lanes -= p.Lanes % p.Sides // rounds are whole
	}
	p.Lanes = min(p.Lanes, p.Rounds*p.Sides)
	p.Batches = (p.Rounds*p.Sides + p.Lanes - 1) / p.Lanes
	if s.Virtual {
		return p, nil
	}
	each := setUp + hostProbes/hostLanes*hostSleep + s.Rest
	if n := len(schedule.Arrivals); n > 0 {
		each += time.Duration(schedule.Arrivals[n-1].At) + gap*time.Duration(p.Lanes-1)/time.Duration(p.Lanes) + s.first().Cell.Profile.Cold.Mean()
	}
	p.Length = time.Duration(p.Batches) * each
	return p, nil
}

// order lists the runs of rounds from first on. Each round turns the order of the one before round.
func (s Session) order(first, rounds int) []turn {
	flip := rng.Stream(s.first().Cell.Seed, "session order").IntN(2)
	var turns []turn
	for round := first; round < first+rounds; round++ {
		for i := range s.Sides {
			side := i
			if (round+flip)%2 == 1 {
				side = len(s.Sides) - 1 - i
			}
			turns = append(turns, turn{round, side})
		}
	}
	return turns
}

// Run plays the rounds and compares the sides. Rounds that the host spoilt are set aside and played again on further
// seeds, at most Spare of them: why a round is void has nothing to do with how its sides did. With an error the result
// holds what was valid until then.
func (s Session) Run(ctx context.Context, show func(Progress)) (reports.RunComparison, error) {
	began := time.Now()
	if err := s.check(ctx); err != nil {
		return reports.RunComparison{}, err
	}
	plan, err := s.Plan()
	if err != nil {
		return reports.RunComparison{}, err
	}
	out := s.result(plan)
	var errs error
	for round, valid := 0, 0; valid < s.Rounds && round < s.Rounds+s.Spare && errs == nil; {
		n := min(s.Rounds-valid, s.Rounds+s.Spare-round)
		var played []Played
		played, errs = s.play(ctx, plan, s.order(round, n), show)
		valid += s.sort(&out, played)
		round += n
	}
	out.Compare(s.Versus())
	out.Elapsed = time.Since(began)
	return out, errs
}

func (s Session) result(plan Plan) reports.RunComparison {
	c := s.first().Cell
	out := reports.RunComparison{
		ID: s.ID, Pattern: c.Pattern, Canonical: c.Process.String(), Driver: "wire", Seed: c.Seed,
		Level: cmp.Or(s.Level, analysis.DefaultConfidence), Paired: s.Paired, AA: s.AA, Wanted: s.Rounds, Lanes: plan.Lanes,
	}
	if s.Virtual {
		out.Driver = "virtual"
	}
	for _, c := range s.Sides {
		out.Sides = append(out.Sides, reports.RunSide{Name: c.Name})
		if c.Remote == nil {
			out.Law = c.Cell.Profile.Cold.Name()
		}
	}
	return out
}

// Versus says how the sides are compared.
func (s Session) Versus() analysis.Versus {
	return analysis.Versus{Yardsticks: s.Yardsticks, Level: s.Level, Paired: s.Paired}
}

// sort puts the runs of whole and valid rounds to their sides, and returns how many rounds those are.
func (s Session) sort(out *reports.RunComparison, played []Played) (valid int) {
	rounds := map[int][]Played{}
	var order []int
	for _, p := range played {
		if len(rounds[p.Round]) == 0 {
			order = append(order, p.Round)
		}
		rounds[p.Round] = append(rounds[p.Round], p)
	}
	for _, round := range order {
		if reason := s.void(rounds[round]); reason != "" {
			out.Void = append(out.Void, reports.VoidRound{Round: round + 1, Reason: reason})
			continue
		}
		valid++
		for _, p := range rounds[round] {
			s.count(&out.Sides[p.Side], p.Run)
		}
	}
	return valid
}

// void says why a round counts on no side: one of its runs does not, or is missing.
func (s Session) void(round []Played) string {
	for _, p := range round {
		if p.Void != "" {
			return p.Void
		}
	}
	if len(round) < len(s.Sides) {
		return "it was not played to its end"
	}
	return ""
}

// count adds one run to its side.
func (s Session) count(side *reports.RunSide, run analysis.Run) {
	stats, labels := s.measure(&run)
	side.Runs = append(side.Runs, reports.SideRun{ID: run.ID, Seed: run.Seed, Stats: stats})
	side.Requests += int64(run.Summary.Scheduled)
	for _, l := range labels {
		if !slices.Contains(side.Labels, l) {
			side.Labels = append(side.Labels, l)
		}
	}
}

// measure takes the numbers that are compared from a run, and where its start kinds come from.
func (s Session) measure(run *analysis.Run) (stats analysis.RunStats, labels []string) {
	ys := s.Yardsticks
	if len(ys) == 0 {
		ys = analysis.DefaultYardsticks()
	}
	return Measure(s.Reading, run, ys)
}

// Measure takes the numbers of yardsticks and the deciles from a run, and says where its start kinds come from.
func Measure(r analysis.Reading, run *analysis.Run, ys []analysis.Yardstick) (stats analysis.RunStats, labels []string) {
	r.Run = run
	stats = r.Stats(append(slices.Clone(ys), analysis.DecileYardsticks()...))
	for i := range run.Records {
		if l := run.Records[i].Server.Source.String(); l != "" && !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	slices.Sort(labels)
	return stats, labels
}
