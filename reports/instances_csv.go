package reports

import (
	"encoding/csv"
	"io"
	"strconv"

	"coldwave/internal/clock"
	"coldwave/record"
)

// InstancesCSV writes one line for each instance: its life, and what became of its start (own, other or never, FC-6,
// FC-8). Instants are nanoseconds since the run's epoch; one that never came is empty. Its only errors are those of w.
func InstancesCSV(w io.Writer, instances []record.Instance) error {
	table := csv.NewWriter(w)
	rows := [][]string{{"instance", "cause", "first", "used_by", "started_ns", "ready_ns", "stopped_ns", "failed", "served", "busy_ns"}}
	for i := range instances {
		in := &instances[i]
		rows = append(rows, []string{
			strconv.Itoa(int(in.ID)), in.Cause, in.First, usedBy(in), instantText(in.Started), instantText(in.Ready), instantText(in.Stopped),
			strconv.FormatBool(in.Failed), strconv.Itoa(in.Served), strconv.FormatInt(int64(in.Busy), 10),
		})
	}
	return table.WriteAll(rows)
}

func instantText(at clock.Instant) string {
	if at == clock.Never {
		return ""
	}
	return strconv.FormatInt(int64(at), 10)
}
