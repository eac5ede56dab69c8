package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"coldwave/analysis"
	"coldwave/reports"
	"coldwave/workload"
)

// Limits of runs over seeds.
const (
	MaxSeeds = 10_000_000 // runs of one call; 0.4 kB of numbers are kept of each
	MaxWaves = 100        // waves that have numbers of their own
)

// ErrSeeds is wrapped by the error for a number of seeds out of range.
var ErrSeeds = errors.New("bad number of seeds")

// Seeds is many independent runs of cells in virtual time, on all cores. Run k of N, from 0 on, has the seed of the first
// cell plus k. The cells must not differ in what their schedules depend on: on each seed all of them face the same
// arrivals and demands, and the start-up of instance i is drawn alike.
type Seeds struct {
	Cells   []Cell
	Runs    int     // N ≥ 1
	Workers int     // runs at once; 0: as many as the program may use processors
	Exact   int     // as in Simulation
	Level   float64 // of intervals, in (0, 1); 0: analysis.DefaultConfidence
	Judging Judging // of a comparison

	Thresholds []analysis.Threshold // judged by the first cell, over the runs
	Reading    analysis.Reading     // how they read a run; its Run is not used
}

// trial is what is kept of one cell on one seed.
type trial struct {
	values   []int64             // by metric; analysis.Missing: none
	limited  []analysis.Estimate // by threshold
	requests int64
	buckets  bool
	log      [sha256.Size]byte
}

// lot is all cells on one seed.
type lot struct {
	schedule [sha256.Size]byte
	trials   []trial // by cell
}

// check finds what is wrong before anything runs.
func (s Seeds) check() error {
	if s.Runs < 1 || s.Runs > MaxSeeds {
		return fmt.Errorf("%w: %d: must be 1 to %d", ErrSeeds, s.Runs, MaxSeeds)
	}
	if first := s.Cells[0].Seed; first > math.MaxUint64-uint64(s.Runs-1) {
		return fmt.Errorf("%w: %d from seed %d on: the last would be above %d", ErrSeeds, s.Runs, first, uint64(math.MaxUint64))
	}
	for _, c := range s.Cells {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// metrics returns what is measured in each run: the metrics of every run, and those of the first waves.
func (s Seeds) metrics(ctx context.Context) (all []analysis.Metric, waves int, err error) {
	schedule, err := Simulation{Cell: s.Cells[0], Exact: s.Exact}.schedule(ctx)
	if err == nil {
		waves = len(schedule.Waves())
	} else if !errors.Is(err, workload.ErrTooMany) {
		return nil, 0, err
	}
	return append(analysis.Metrics(), analysis.WaveMetrics(min(waves, MaxWaves))...), waves, nil
}

// lots runs every cell on every seed, in any order, and returns the numbers in the order of the seeds. Show is told how many
// runs are done.
func (s Seeds) lots(ctx context.Context, metrics []analysis.Metric, show func(done int64)) ([]lot, error) {
	out := make([]lot, s.Runs)
	for k := range out {
		out[k].trials = make([]trial, len(s.Cells))
	}
	schedules := &draws{uses: len(s.Cells), live: map[int]*drawn{}, of: func(k int) (*workload.Schedule, error) {
		return s.simulation(0, k).schedule(ctx)
	}}
	var done atomic.Int64
	err := forEach(ctx, s.Runs*len(s.Cells), cmp.Or(s.Workers, runtime.GOMAXPROCS(0)), func(i int) error {
		k, cell := i/len(s.Cells), i%len(s.Cells)
		d, err := schedules.take(k)
		if err != nil {
			return err
		}
		one, schedule, err := s.trial(ctx, d, cell, k, metrics)
		if err != nil {
			return err
		}
		if out[k].trials[cell] = one; cell == 0 {
			out[k].schedule = schedule
		}
		show(done.Add(1))
		return nil
	})
	return out, err
}

// simulation is the run of one cell on seed k.
func (s Seeds) simulation(cell, k int) Simulation {
	c := s.Cells[cell]
	c.Seed = s.Cells[0].Seed + uint64(k)
	return Simulation{Cell: c, Exact: s.Exact}
}

// trial runs one cell on one seed, and returns the hash of its schedule too.
func (s Seeds) trial(ctx context.Context, d *drawn, cell, k int, metrics []analysis.Metric) (trial, [sha256.Size]byte, error) {
	var schedule [sha256.Size]byte
	run, err := s.simulation(cell, k).runOn(ctx, d)
	if err != nil {
		return trial{}, schedule, err
	}
	one := trial{values: make([]int64, len(metrics)), requests: int64(run.Run.Summary.Scheduled), buckets: run.Run.Summary.Buckets}
	for i, m := range metrics {
		v, ok := m.Of(&run.Run.Summary)
		if !ok {
			v = analysis.Missing
		}
		one.values[i] = v
	}
	if one.limited, err = s.limited(&run.Run); err != nil {
		return one, schedule, err
	}
	return one, schedule, errors.Join(unhex(&one.log, run.Run.Log), unhex(&schedule, run.Run.Hash))
}

// limited takes the numbers that the thresholds limit from one run.
func (s Seeds) limited(run *analysis.Run) ([]analysis.Estimate, error) {
	r := s.Reading
	r.Run = run
	var out []analysis.Estimate
	for _, t := range s.Thresholds {
		if err := r.Find(t.Selector); err != nil {
			return nil, err
		}
		out = append(out, r.Of(t.Selector).Alone())
	}
	return out, nil
}

// gates judges the thresholds by the first cell over the seeds.
func (s Seeds) gates(lots []lot) []analysis.Gate {
	var out []analysis.Gate
	for i, t := range s.Thresholds {
		each := make([]analysis.Estimate, len(lots))
		for k := range lots {
			each[k] = lots[k].trials[0].limited[i]
		}
		out = append(out, analysis.JudgeRuns(t, each, s.Reading.Tail))
	}
	return out
}

func unhex(dst *[sha256.Size]byte, text string) error {
	_, err := hex.Decode(dst[:], []byte(text))
	return err
}

// forEach calls do for 0 … n−1, that many at once, lower numbers first. After an error or the end of ctx no further call
// begins. The error is that of the lowest number that failed, whichever was first.
func forEach(ctx context.Context, n, workers int, do func(k int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Bool
		lanes  sync.WaitGroup
		mu     sync.Mutex
		lowest = n
		first  error
	)
	for range min(workers, n) {
		lanes.Go(func() {
			for !failed.Load() && ctx.Err() == nil {
				k := int(next.Add(1) - 1)
				if k >= n {
					return
				}
				if err := do(k); err != nil {
					failed.Store(true)
					mu.Lock()
					if k < lowest {
						lowest, first = k, err
					}
					mu.Unlock()
				}
			}
		})
	}
	lanes.Wait()
	return errors.Join(first, context.Cause(ctx))
}

// Run runs the only cell on every seed. Equal seeds give equal results on any number of cores; only Wall differs. With an
// error there is no result.
func (s Seeds) Run(ctx context.Context, show func(Progress)) (reports.Seeds, error) {
	began := time.Now()
	if err := s.check(); err != nil {
		return reports.Seeds{}, err
	}
	metrics, waves, err := s.metrics(ctx)
	if err != nil {
		return reports.Seeds{}, err
	}
	lots, err := s.lots(ctx, metrics, s.progress(show))
	if err != nil {
		return reports.Seeds{}, err
	}
	c := &s.Cells[0]
	out := reports.Seeds{
		Setting: s.setting(lots), Policy: c.Policy, Waves: waves, Log: s.log(lots, 0), Wall: time.Since(began),
		Requests: requests(lots, 0), Gates: s.gates(lots),
	}
	for i, m := range metrics {
		out.Spreads = append(out.Spreads, analysis.SpreadOf(m, sampleOf(lots, 0, i), out.Setting.Level))
	}
	for k := range lots {
		t := &lots[k].trials[0]
		out.Trials = append(out.Trials, reports.Trial{
			Seed: c.Seed + uint64(k), Schedule: hex.EncodeToString(lots[k].schedule[:]), Log: s.log(lots[k:k+1], 0), Values: t.values,
		})
	}
	return out, nil
}

// setting says what all runs had in common, as the first cell has it.
func (s Seeds) setting(lots []lot) reports.Setting {
	c := &s.Cells[0]
	sum := sha256.New()
	buckets := false
	for k := range lots {
		sum.Write(lots[k].schedule[:])
		for i := range lots[k].trials {
			buckets = buckets || lots[k].trials[i].buckets
		}
	}
	return reports.Setting{
		Pattern: c.Pattern, Canonical: c.Process.String(), Law: c.Profile.Cold.Name(), Function: c.Profile.Function, Quota: c.quota(), Placement: s.placement(),
		Seed: c.Seed, Runs: s.Runs, Level: cmp.Or(s.Level, analysis.DefaultConfidence), Schedules: hex.EncodeToString(sum.Sum(nil)),
		Buckets: buckets,
	}
}

// placement is what the instances of all cells are placed on; nil: nowhere in particular, or not the same.
func (s Seeds) placement() *analysis.Placement {
	p := s.Cells[0].placement()
	for _, c := range s.Cells[1:] {
		if other := c.placement(); p == nil || other == nil && !c.isOracle() || other != nil && *other != *p {
			return nil
		}
	}
	return p
}

// log is the SHA-256 over the event logs of one cell, in the order of the seeds. That of one run is the run's own.
func (s Seeds) log(lots []lot, cell int) string {
	if s.Cells[cell].isOracle() {
		return ""
	}
	if len(lots) == 1 {
		return hex.EncodeToString(lots[0].trials[cell].log[:])
	}
	sum := sha256.New()
	for k := range lots {
		sum.Write(lots[k].trials[cell].log[:])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func requests(lots []lot, cell int) (n int64) {
	for k := range lots {
		n += lots[k].trials[cell].requests
	}
	return n
}

// sampleOf returns one metric of one cell in the order of the seeds.
func sampleOf(lots []lot, cell, metric int) analysis.Sample {
	out := make(analysis.Sample, len(lots))
	for k := range lots {
		out[k] = lots[k].trials[cell].values[metric]
	}
	return out
}

// progress returns what shows how many runs are done. It shows nothing within the first second.
func (s Seeds) progress(show func(Progress)) func(int64) {
	var mu sync.Mutex
	began := time.Now()
	next := time.Second
	return func(done int64) {
		mu.Lock()
		defer mu.Unlock()
		if elapsed := time.Since(began); elapsed >= next {
			next = elapsed + showEvery
			show(Progress{Stage: "simulating", Elapsed: elapsed, Runs: int64(s.Runs) * int64(len(s.Cells)), RunsDone: done})
		}
	}
}
