package reports

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/references"
	"coldwave/scheduler/policies"
	"coldwave/workload"
)

// The fixture draws a whole verification from the closed-form model of the two policies (FC-12, FC-6, FC-7): 5–20 ms
// of overhead, 100 ms of work, and 1.7–3 s end to end for a request that is served by its own start.

const (
	body = 100 * time.Millisecond
	gap  = 10 * time.Second
)

var (
	rampSizes  = []int{1, 2, 4, 8, 16, 32}
	burstSizes = []int{2, 2, 2, 20, 2, 2, 2}
)

// model plays one cell in closed form.
type model struct {
	rng  *rand.Rand
	race bool // waiting requests take freed instances
	run  *analysis.Run
	free []clock.Instant // by instance: when it is idle again
}

func modelRun(pattern, policy string, sizes []int, seed uint64) analysis.Run {
	m := &model{rng: rand.New(rand.NewPCG(seed, 1)), race: policy == "fc-race", run: &analysis.Run{
		ID: "01JX-" + pattern + "-" + policy, Pattern: pattern, Policy: policy, Law: "uniform", Driver: "wire",
		Target: "http://127.0.0.1:8080/fn/hello", Seed: seed, Hash: fmt.Sprintf("%064x", seed+uint64(len(sizes))),
		Schedule: &workload.Schedule{Pattern: pattern, Seed: seed, Length: gap * time.Duration(len(sizes))},
		Host:     calmHost(),
	}}
	for w, n := range sizes {
		m.wave(int32(w), clock.Instant(gap)*clock.Instant(w), n)
	}
	m.run.Tariff = policies.TariffOf(policy, 0)
	m.run.Summary = analysis.Summarize(analysis.Input{
		Schedule: m.run.Schedule, Records: m.run.Records, Instances: m.run.Instances, Tariff: m.run.Tariff})
	return *m.run
}

func calmHost() analysis.Host {
	ms := time.Millisecond
	return analysis.Host{
		Overshoot: analysis.Stats{N: 50, Mean: 210 * time.Microsecond, Min: 60 * time.Microsecond, P50: 180 * time.Microsecond,
			P90: 390 * time.Microsecond, P95: 412 * time.Microsecond, P99: ms, Max: ms},
		Loopback: analysis.Stats{N: 50, Mean: 130 * time.Microsecond, Min: 80 * time.Microsecond, P50: 118 * time.Microsecond,
			P90: 190 * time.Microsecond, P95: 221 * time.Microsecond, P99: ms / 2, Max: ms / 2},
	}
}

// wave serves n simultaneous arrivals, the ones that reach the scheduler first first.
func (m *model) wave(wave int32, at clock.Instant, n int) {
	overhead := make([]time.Duration, n)
	for i := range overhead {
		overhead[i] = m.between(5*time.Millisecond, 20*time.Millisecond)
	}
	slices.Sort(overhead)
	for _, h := range overhead {
		m.arrive(wave, at, workload.Demand{Exec: body, Pre: h / 2, Post: h / 2})
	}
}

func (m *model) between(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(m.rng.Int64N(int64(hi-lo)))
}

func (m *model) arrive(wave int32, at clock.Instant, d workload.Demand) {
	seq := int64(len(m.run.Records))
	lag := m.between(20*time.Microsecond, 400*time.Microsecond)
	now := at.Add(lag + d.Pre)
	r := record.Record{
		Seq: seq, Wave: wave, Intended: at, Sent: at.Add(lag), Outcome: record.OK, Status: 200, Attempt: 1, BytesIn: 12,
		Server: record.Server{Exec: body, Source: record.FromHeader, StartBy: record.ByNone},
	}
	inst, begin, kind := m.serve(now, d)
	r.Server.Instance, r.Server.Start = fmt.Sprint(inst+1), kind
	if kind == record.Cold {
		r.Server.Init, r.Server.StartBy = begin.Sub(now), record.ByOwn
	} else {
		r.Server.Queue = begin.Sub(now)
	}
	end := begin.Add(body)
	m.free[inst] = end
	if m.run.Instances[inst].Served == 0 {
		m.run.Instances[inst].First = fmt.Sprintf("r-%d", seq)
	}
	m.run.Instances[inst].Served++
	m.run.Instances[inst].Busy += body
	r.Done = end.Add(d.Post)
	r.FirstByte = r.Done
	m.run.Records = append(m.run.Records, r)
	m.run.Schedule.Arrivals = append(m.run.Schedule.Arrivals, workload.Arrival{Seq: seq, At: at, Wave: wave, Demand: d})
}

// serve chooses the instance as the policy would and starts a new one for every request that finds none idle.
func (m *model) serve(now clock.Instant, d workload.Demand) (int, clock.Instant, record.StartKind) {
	best := m.earliest()
	if best >= 0 && m.free[best] <= now {
		return best, now, record.Warm
	}
	own := m.start(now, d)
	if m.race && best >= 0 && m.free[best] < m.free[own] {
		return best, m.free[best], record.Queued
	}
	return own, m.free[own], record.Cold
}

func (m *model) earliest() int {
	best := -1
	for i, t := range m.free {
		if best < 0 || t < m.free[best] {
			best = i
		}
	}
	return best
}

func (m *model) start(now clock.Instant, d workload.Demand) int {
	ready := now.Add(m.between(1700*time.Millisecond, 3000*time.Millisecond) - body - d.Overhead())
	m.free = append(m.free, ready)
	m.run.Instances = append(m.run.Instances, record.Instance{
		ID: int32(len(m.free)), Started: now, Ready: ready, Stopped: clock.Never, Cause: fmt.Sprintf("r-%d", len(m.run.Records)),
	})
	return len(m.free) - 1
}

func fixtureLadder(before, after *analysis.Run) []references.LadderRow {
	rows, err := references.Ladder(references.Evidence{Law: "uniform", Cells: []references.Cell{
		{Pattern: "fc-burst", Role: references.Before, Run: before}, {Pattern: "fc-burst", Role: references.After, Run: after},
	}})
	if err != nil {
		panic(err)
	}
	return rows
}

func fixtureMeta() Meta {
	return Meta{Tool: "loadgen", Version: "0.1.0", Commit: "462a337", Go: "go1.26.0", OS: "linux/amd64, kernel 6.1", CPUs: 2,
		Began: time.Date(2026, 11, 29, 21, 30, 0, 0, time.UTC), Command: "loadgen verify --seed 1", Seed: 1}
}

// twinned returns the run with its distance to the same run without send lag.
func twinned(r analysis.Run) analysis.Run {
	twin := r
	twin.Records = slices.Clone(r.Records)
	for i := range twin.Records {
		rec := &twin.Records[i]
		rec.Done, rec.Sent = rec.Done.Add(-rec.SendLag()), rec.Intended
	}
	d := analysis.Twin(&r, &twin)
	r.Twin = &d
	return r
}

func fixtureVerification() Verification {
	runs := []analysis.Run{
		twinned(modelRun("fc-ramp", "fc-bound", rampSizes, 1)), twinned(modelRun("fc-ramp", "fc-race", rampSizes, 1)),
		twinned(modelRun("fc-burst", "fc-bound", burstSizes, 1)), twinned(modelRun("fc-burst", "fc-race", burstSizes, 1)),
	}
	return Verification{Meta: fixtureMeta(), ID: "01JX7Q", Driver: "wire", Law: "uniform", Tries: 1, Runs: runs,
		Claims: fixtureClaims(), Ladder: fixtureLadder(&runs[2], &runs[3]), Elapsed: 71200 * time.Millisecond}
}

func fixtureSingle() Single {
	r := modelRun("fc-burst", "fc-race", burstSizes, 1)
	r.Summary.Warnings = []analysis.Warning{{Code: "send-lag", Text: "3 of 32 requests left more than 5 ms late; the largest lag was 6.1 ms"}}
	return Single{Meta: fixtureMeta(), Run: r, Elapsed: 70300 * time.Millisecond}
}

func claim(id, pattern, statement, documented, tolerance, why, measured string, v references.Verdict, reason string) references.Result {
	return references.Result{Claim: references.Claim{ID: id, Pattern: pattern, Statement: statement, Documented: documented,
		Tolerance: tolerance, Why: why, Source: "fc.json stated", Check: id, Laws: []string{"uniform"},
		Limits: map[string]float64{"high_ms": 200}}, Measured: measured, Verdict: v, Reason: reason}
}

func fixtureClaims() []references.Result {
	ok := references.Agrees
	return []references.Result{
		claim("fc-ramp-before-mean", "fc-ramp", "The ramp's mean response time before the change is about one second.", "about 1000 ms",
			"650 to 1350 ms", "three standard deviations of one run under the uniform law around 1231 ms reach 1332 ms", "1.23 s (n=62)", ok, ""),
		claim("fc-ramp-after-mean", "fc-ramp", "After the change the mean is below 200 ms, the first fully cold wave left out.", "below 200 ms",
			"≤ 200 ms", "the source's own limit", "161 ms (n=62)", ok, ""),
		claim("fc-burst-ladder", "fc-burst", "Each two requests share a level, and neighbouring groups differ by the execution time.",
			"groups 100 ms apart", "median step 99 to 106 ms, at least 8 of 9 steps in 95 to 112 ms", "hand-over costs up to 3 ms a slot",
			"9 of 9 steps, median 100.2 ms", ok, ""),
		claim("fc-burst-p99", "fc-burst", "The p99 spike falls by more than half.", "more than halved", "ratio ≥ 2.0",
			"the uniform law misses it once in 10^10 runs", "2.88×", ok, ""),
		claim("FR-1", "", "Starts, served, rejected and how each request was served.", "32 starts in the ramp, 20 in the burst", "exact",
			"counts do not depend on milliseconds: every margin is at least 500 ms", "32, 32, 20, 20 starts", ok, ""),
		claim("FA-5", "fc-ramp", "Mean of the wave means over 200 seeds.", "1231 ms", "1219 to 1243 ms", "three standard deviations of the mean of 200 runs",
			"one seed", references.NotComparable, "needs 200 seeds, and this run has one: run loadgen simulate --seeds 200"),
	}
}
