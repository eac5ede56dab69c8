package reports

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// instanceColumns are the columns of a table of instances.
var instanceColumns = []string{"instance", "cause", "first", "used_by", "started_ns", "ready_ns", "stopped_ns", "failed", "served", "busy_ns",
	"node", "cached", "reason", "failure", "cpu_ns", "memory_peak_bytes"}

// InstancesCSV writes one line for each instance: its life, and what became of its start (own, other or never, FC-6,
// FC-8). Instants are nanoseconds since the run's epoch; one that never came is empty. Its only errors are those of w.
func InstancesCSV(w io.Writer, instances []record.Instance) error {
	table := csv.NewWriter(w)
	if err := table.Write(instanceColumns); err != nil {
		return err
	}
	for i := range instances {
		in := &instances[i]
		err := table.Write([]string{
			strconv.Itoa(int(in.ID)), in.Cause, in.First, usedBy(in), instantText(in.Started), instantText(in.Ready), instantText(in.Stopped),
			strconv.FormatBool(in.Failed), strconv.Itoa(in.Served), strconv.FormatInt(int64(in.Busy), 10),
			nodeText(in.Node), strconv.FormatBool(in.Cached),
			in.Reason, in.Failure, strconv.FormatInt(int64(in.CPU), 10), strconv.FormatInt(in.Memory, 10),
		})
		if err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// nodeText is empty for an instance that is placed nowhere in particular.
func nodeText(id int32) string {
	if id == 0 {
		return ""
	}
	return strconv.Itoa(int(id))
}

func instantText(at clock.Instant) string {
	if at == clock.Never {
		return ""
	}
	return strconv.FormatInt(int64(at), 10)
}

// ReadInstancesCSV reads what InstancesCSV wrote. Columns are found by name and unknown ones are skipped; what became of the
// start follows from the rest. Errors wrap ErrDocument and name line and column, or are those of r.
func ReadInstancesCSV(r io.Reader) ([]record.Instance, error) {
	table := csv.NewReader(r)
	table.ReuseRecord = true
	places, err := instancePlaces(table)
	if err != nil {
		return nil, err
	}
	var all []record.Instance
	for {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDocument, err)
		}
		in := record.Instance{Ready: clock.Never, Stopped: clock.Never}
		for i, place := range places {
			if place < 0 || cells[place] == "" {
				continue
			}
			if err := instanceCells[i].read(&in, cells[place]); err != nil {
				line, col := table.FieldPos(place)
				return nil, fmt.Errorf("%w: %d:%d: %s: %w", ErrDocument, line, col, instanceCells[i].name, err)
			}
		}
		all = append(all, in)
	}
}

// instancePlaces returns for each of our columns its place in the table, or -1.
func instancePlaces(table *csv.Reader) ([]int, error) {
	head, err := table.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: line 1: %w", ErrDocument, err)
	}
	places := make([]int, len(instanceCells))
	for i, c := range instanceCells {
		places[i] = slices.Index(head, c.name)
	}
	if places[0] < 0 || places[3] < 0 {
		return nil, fmt.Errorf("%w: line 1: no table of instances: the columns instance and started_ns are not there", ErrDocument)
	}
	return places, nil
}

// instanceCells are the columns that an instance is made of.
var instanceCells = [...]struct {
	name string
	read func(*record.Instance, string) error
}{
	{"instance", whole(func(in *record.Instance) *int32 { return &in.ID })},
	{"cause", func(in *record.Instance, s string) error { in.Cause = strings.Clone(s); return nil }},
	{"first", func(in *record.Instance, s string) error { in.First = strings.Clone(s); return nil }},
	{"started_ns", whole(func(in *record.Instance) *clock.Instant { return &in.Started })},
	{"ready_ns", whole(func(in *record.Instance) *clock.Instant { return &in.Ready })},
	{"stopped_ns", whole(func(in *record.Instance) *clock.Instant { return &in.Stopped })},
	{"failed", truth(func(in *record.Instance) *bool { return &in.Failed })},
	{"served", whole(func(in *record.Instance) *int { return &in.Served })},
	{"busy_ns", whole(func(in *record.Instance) *time.Duration { return &in.Busy })},
	{"node", whole(func(in *record.Instance) *int32 { return &in.Node })},
	{"cached", truth(func(in *record.Instance) *bool { return &in.Cached })},
	{"reason", func(in *record.Instance, s string) error { in.Reason = strings.Clone(s); return nil }},
	{"failure", func(in *record.Instance, s string) error { in.Failure = strings.Clone(s); return nil }},
	{"cpu_ns", whole(func(in *record.Instance) *time.Duration { return &in.CPU })},
	{"memory_peak_bytes", whole(func(in *record.Instance) *int64 { return &in.Memory })},
}

func whole[T ~int | ~int32 | ~int64](at func(*record.Instance) *T) func(*record.Instance, string) error {
	return func(in *record.Instance, s string) error {
		v, err := strconv.ParseInt(s, 10, 64)
		if err == nil && int64(T(v)) != v {
			err = strconv.ErrRange
		}
		*at(in) = T(v)
		return err
	}
}

func truth(at func(*record.Instance) *bool) func(*record.Instance, string) (err error) {
	return func(in *record.Instance, s string) (err error) {
		*at(in), err = strconv.ParseBool(s)
		return err
	}
}
