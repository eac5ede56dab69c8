package analysis

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// DefaultWindow is the length of a window: the time buckets of the documented figures.
const DefaultWindow = 10 * time.Second

// Input is what a run left behind.
type Input struct {
	Schedule  *workload.Schedule
	Records   []record.Record
	Instances []record.Instance // none for an external target
	Window    time.Duration     // length of a window; 0: DefaultWindow
	Tariff    *Tariff           // nil: not documented
	Placed    bool              // instances were placed on nodes
	Nodes     []record.Node     // uses of the nodes
}

// Summarize adds up a run. It does not check the accounting identity; record.Account does.
func Summarize(in Input) Summary {
	if in.Window <= 0 {
		in.Window = DefaultWindow
	}
	counts := record.Count(in.Records)
	s := Summary{Scheduled: len(in.Schedule.Arrivals), Outcomes: counts, Sent: sent(counts)}
	describe(&s, in.Records)
	s.Waves = waves(in.Records)
	s.Windows = windows(in.Records, in.Schedule.Length, in.Window)
	s.ofInstances(in)
	s.Uses = Attribute(in.Records, in.Instances, clock.Instant(in.Schedule.Length))
	s.Bill = BillOf(in.Tariff, in)
	s.Warnings = warnings(&s, rateShare(&s, in))
	return s
}

// ofInstances fills in what follows from the lives of the instances alone.
func (s *Summary) ofInstances(in Input) {
	end := clock.Instant(in.Schedule.Length)
	s.Instances = Total(in.Instances, end)
	if in.Placed {
		t := TotalNodes(in.Nodes, in.Instances, end)
		s.Nodes = &t
	}
	s.Usage = UsageOf(in.Instances)
}

func sent(counts [record.Outcomes]int) (n int) {
	for o, c := range counts {
		if record.Outcome(o) != record.Dropped {
			n += c
		}
	}
	return n
}

// describe fills in everything that is a sample over the whole run.
func describe(s *Summary, records []record.Record) {
	var all, ok, service, lag []time.Duration
	var byStart [record.StartKinds][]time.Duration
	for i := range records {
		r := &records[i]
		if r.Sent != clock.Never {
			lag = append(lag, r.SendLag())
		}
		s.Resent += max(int(r.Attempt)-1, 0)
		s.Waiting += r.Server.Wait()
		if !answered(r) {
			continue
		}
		all = append(all, r.Response())
		if r.Outcome == record.OK {
			ok = append(ok, r.Response())
			service = append(service, r.Service())
			byStart[kind(r)] = append(byStart[kind(r)], r.Response())
		}
	}
	s.All, s.OK, s.Service, s.SendLag = Of(all), Of(ok), Of(service), Of(lag)
	for k := range byStart {
		s.ByStart[k] = Of(byStart[k])
	}
}

func answered(r *record.Record) bool {
	return r.Outcome == record.OK || r.Outcome == record.HTTPError || r.Outcome == record.Rejected
}

// kind returns the start kind; one that does not exist counts as unknown.
func kind(r *record.Record) record.StartKind {
	if r.Server.Start >= record.StartKinds {
		return record.StartUnknown
	}
	return r.Server.Start
}
