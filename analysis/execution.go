package analysis

import (
	"strconv"
	"strings"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// Execution is one request on its instance, placed in time by what its record tells.
type Execution struct {
	Arrived  clock.Instant // when the scheduler saw the request
	From, To clock.Instant // on the instance; equal if it never ran
}

// ExecutionOf places a request of the schedule: the scheduler sees it after the part of its overhead that lies before,
// and the instance begins when the wait is over. The schedule may be nil.
func ExecutionOf(s *workload.Schedule, r *record.Record) Execution {
	arrived := r.Intended
	if r.Sent != clock.Never {
		arrived = r.Sent
	}
	if s != nil && r.Seq >= 0 && r.Seq < int64(len(s.Arrivals)) {
		arrived = arrived.Add(s.Arrivals[r.Seq].Demand.Pre)
	}
	from := arrived.Add(r.Server.Wait())
	return Execution{Arrived: arrived, From: from, To: from.Add(r.Server.Exec)}
}

// InstanceID reads the number at the end of an instance's name; 0 if there is none.
func InstanceID(name string) int32 {
	digits := name[len(strings.TrimRight(name, "0123456789")):]
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}
