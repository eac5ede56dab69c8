package reports

import (
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

type runDoc struct {
	ID        string              `json:"id"`
	Pattern   string              `json:"pattern"`
	Policy    *string             `json:"policy"`
	Law       *string             `json:"law"`
	Target    *string             `json:"target"`
	Driver    string              `json:"driver"`
	Quota     *int                `json:"quota"`
	Seed      uint64              `json:"seed"`
	Hash      string              `json:"schedule_hash"`
	Epoch     *string             `json:"epoch"`
	Log       *string             `json:"event_log_sha256"`
	Quantiles string              `json:"quantiles"`
	Schedule  scheduleDoc         `json:"schedule"`
	Host      hostDoc             `json:"host"`
	Scheduled int                 `json:"scheduled"`
	Sent      int                 `json:"sent"`
	Resent    int                 `json:"sent_again"`
	Outcomes  map[string]int      `json:"outcomes"`
	Answered  statsDoc            `json:"response_answered"`
	OK        statsDoc            `json:"response_ok"`
	ByStart   map[string]statsDoc `json:"response_by_start"`
	Service   statsDoc            `json:"service_ok"`
	SendLag   statsDoc            `json:"send_lag"`
	Waves     []waveDoc           `json:"waves"`
	Windows   []windowDoc         `json:"windows"`
	Instances instancesDoc        `json:"instances"`
	Nodes     *nodesDoc           `json:"nodes"`
	Usage     usageDoc            `json:"usage"`
	Uses      attributionDoc      `json:"attribution"`
	Bill      *billDoc            `json:"bill"`
	Twin      *twinDoc            `json:"twin"`
	Warnings  []warningDoc        `json:"warnings"`
}

// scheduleDoc says what was asked for: the pattern's canonical text gives the same arrivals again.
type scheduleDoc struct {
	Pattern  string            `json:"pattern"`
	Length   int64             `json:"length_ns"`
	Function workload.Function `json:"function"`
}

type hostDoc struct {
	Overshoot statsDoc `json:"sleep_overshoot"`
	Loopback  statsDoc `json:"loopback"`
	During    statsDoc `json:"sleep_overshoot_during_run"`
	Busy      bool     `json:"busy"`
	Reason    *string  `json:"reason"`
}

// statsDoc is one sample; everything but its size is null when it is empty.
type statsDoc struct {
	N    int    `json:"n"`
	Mean *int64 `json:"mean_ns"`
	Min  *int64 `json:"min_ns"`
	P50  *int64 `json:"p50_ns"`
	P90  *int64 `json:"p90_ns"`
	P95  *int64 `json:"p95_ns"`
	P99  *int64 `json:"p99_ns"`
	Max  *int64 `json:"max_ns"`
}

type waveDoc struct {
	Wave     int32          `json:"wave"` // from 0, as in the records
	At       *int64         `json:"at_ns"`
	N        int            `json:"n"`
	Rejected int            `json:"rejected"`
	ByStart  map[string]int `json:"by_start"`
	Response statsDoc       `json:"response"`
	Makespan int64          `json:"makespan_ns"`
}

type windowDoc struct {
	From     *int64   `json:"from_ns"`
	Length   int64    `json:"length_ns"`
	N        int      `json:"n"`
	Answered int      `json:"answered"`
	TPS      *float64 `json:"answered_per_second"`
	Response statsDoc `json:"response"`
}

type instancesDoc struct {
	Starts    int   `json:"starts"`
	Failed    int   `json:"failed"`
	Peak      int   `json:"peak"`
	Allocated int64 `json:"allocated_ns"`
	Ready     int64 `json:"ready_ns"`
	Busy      int64 `json:"busy_ns"`
	Idle      int64 `json:"idle_ns"`
	Waiting   int64 `json:"request_waiting_ns"`
}

type warningDoc struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

func runOf(r *analysis.Run) runDoc {
	s := &r.Summary
	d := runDoc{
		ID: r.ID, Pattern: r.Pattern, Policy: known(r.Policy), Law: known(r.Law), Target: known(r.Target), Driver: r.Driver, Quota: quotaOf(r.Quota),
		Seed: r.Seed, Hash: r.Hash, Scheduled: s.Scheduled, Sent: s.Sent, Resent: s.Resent, Outcomes: map[string]int{},
		Host: hostDoc{Overshoot: statsDocOf(r.Host.Overshoot), Loopback: statsDocOf(r.Host.Loopback),
			During: statsDocOf(r.Host.During), Busy: r.Host.Busy, Reason: known(r.Host.Reason)},
		Answered: statsDocOf(s.All), OK: statsDocOf(s.OK), ByStart: map[string]statsDoc{}, Service: statsDocOf(s.Service),
		SendLag: statsDocOf(s.SendLag), Waves: []waveDoc{}, Windows: []windowDoc{}, Twin: twinOf(r.Twin), Warnings: []warningDoc{},
		Instances: instancesDoc{Starts: s.Instances.Starts, Failed: s.Instances.Failed, Peak: s.Instances.Peak,
			Allocated: int64(s.Instances.Allocated), Ready: int64(s.Instances.Ready), Busy: int64(s.Instances.Busy),
			Idle: int64(s.Instances.Idle), Waiting: int64(s.Waiting)},
	}
	d.Epoch, d.Log, d.Quantiles, d.Uses = known(wallTime(r.Epoch)), known(r.Log), quantiles(s.Buckets), attributionOf(&s.Uses)
	d.Bill, d.Nodes, d.Usage = billOf(r.Tariff, &s.Bill), nodesOf(r.Placement, s.Nodes), usageOf(&s.Usage)
	if s := r.Schedule; s != nil {
		d.Schedule = scheduleDoc{Pattern: s.Pattern, Length: int64(s.Length), Function: s.Function}
	}
	for o := record.Outcome(0); o < record.Outcomes; o++ {
		d.Outcomes[o.String()] = s.Outcomes[o]
	}
	for k := record.StartKind(0); k < record.StartKinds; k++ {
		d.ByStart[k.String()] = statsDocOf(s.ByStart[k])
	}
	for i := range s.Waves {
		d.Waves = append(d.Waves, waveOf(&s.Waves[i]))
	}
	for i := range s.Windows {
		d.Windows = append(d.Windows, windowOf(&s.Windows[i]))
	}
	for _, w := range s.Warnings {
		d.Warnings = append(d.Warnings, warningDoc(w))
	}
	return d
}

func waveOf(w *analysis.Wave) waveDoc {
	d := waveDoc{Wave: w.Wave, At: instant(w.At), N: w.N, Rejected: w.Rejected, ByStart: map[string]int{},
		Response: statsDocOf(w.Response), Makespan: int64(w.Makespan)}
	for k := record.StartKind(0); k < record.StartKinds; k++ {
		d.ByStart[k.String()] = w.ByStart[k]
	}
	return d
}

func windowOf(w *analysis.Window) windowDoc {
	return windowDoc{From: instant(w.From), Length: int64(w.Length), N: w.N, Answered: w.Answered, TPS: finite(w.TPS),
		Response: statsDocOf(w.Response)}
}

func statsDocOf(s analysis.Stats) statsDoc {
	if s.N == 0 {
		return statsDoc{}
	}
	ns := func(d time.Duration) *int64 { n := int64(d); return &n }
	return statsDoc{N: s.N, Mean: ns(s.Mean), Min: ns(s.Min), P50: ns(s.P50), P90: ns(s.P90), P95: ns(s.P95), P99: ns(s.P99),
		Max: ns(s.Max)}
}

// instant returns nil for Never: the largest integer would be read as a time.
func instant(t clock.Instant) *int64 {
	if t == clock.Never {
		return nil
	}
	n := int64(t)
	return &n
}

// positive returns nil for a duration that does not exist.
func positive(d time.Duration) *int64 {
	if d <= 0 {
		return nil
	}
	n := int64(d)
	return &n
}

// quotaOf returns nil for no limit of alive instances.
func quotaOf(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}
