package bundle

import (
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"coldwave/analysis"
	"coldwave/internal/hdr"
	"coldwave/record"
	"coldwave/reports"
)

// The names of the other files that every run has.
const (
	Manifest      = "run.json"      // what the run was and what its records add up to
	RequestsTable = "requests.csv"  // Requests once more, for eyes and spreadsheets, of runs of at most TableRows
	Instances     = "instances.csv" // the lives of the instances
	Latency       = "latency.hlog"  // response times by second of the answer and start kind
	Waves         = "waves.hlog"    // response times by 10 s of the intended start and wave
	Percentiles   = "latency.hgrm"  // response times as percentiles
)

// TableRows is the most requests of which a run directory holds a requests.csv: what a spreadsheet takes.
const TableRows = 1_000_000

// File is one file of a run directory.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// RunFiles are the files that every run has. Each of them reads the records, in order of seq, anew.
func RunFiles(out reports.Single, records iter.Seq2[record.Record, error]) []File {
	run := &out.Run
	files := []File{
		{Manifest, func(w io.Writer) error { return reports.SingleJSON(w, out) }},
		{Requests, func(w io.Writer) error { return WriteRequests(w, headOf(&out), records) }},
		{Instances, func(w io.Writer) error { return reports.InstancesCSV(w, run.Instances) }},
		{Events, func(w io.Writer) error { return WriteEvents(w, run, records) }},
		{Latency, func(w io.Writer) error { return writeLatency(w, &out, records) }},
		{Waves, func(w io.Writer) error { return writeWaves(w, &out, records) }},
		{Percentiles, func(w io.Writer) error { return writePercentiles(w, records) }},
	}
	if run.Summary.Scheduled <= TableRows {
		files = append(files, File{RequestsTable, func(w io.Writer) error { return writeTable(w, records) }})
	}
	return files
}

// Within puts the files into a folder, whose name ends in a slash.
func Within(folder string, files []File) []File {
	for i := range files {
		files[i].Name = folder + files[i].Name
	}
	return files
}

// headOf is what the rows of a run have in common. What differs from host to host is left out in virtual time, where
// equal seeds give equal bytes.
func headOf(out *reports.Single) Head {
	run, meta := &out.Run, out.Meta
	h := Head{Run: run.ID, Scenario: run.Pattern, Target: run.Target, Facts: map[string]string{
		"loadgen.version": meta.Version, "loadgen.commit": meta.Commit, "loadgen.policy": run.Policy, "loadgen.driver": run.Driver,
		"loadgen.schedule_sha256": run.Hash, "loadgen.seed": strconv.FormatUint(run.Seed, 10),
	}}
	if s := run.Schedule; s != nil {
		h.Function, h.Facts["loadgen.pattern"] = s.Function.Name, s.Pattern
	}
	if !run.Epoch.IsZero() {
		h.Facts["loadgen.epoch"], h.Facts["loadgen.host"] = run.Epoch.UTC().Format(time.RFC3339Nano), meta.OS
	}
	return h
}

// fine yields the records up to the first error, which it leaves in err.
func fine(records iter.Seq2[record.Record, error], err *error) iter.Seq[record.Record] {
	return func(yield func(record.Record) bool) {
		for r, bad := range records {
			if bad != nil {
				*err = bad
				return
			}
			if !yield(r) {
				return
			}
		}
	}
}

func writeTable(w io.Writer, records iter.Seq2[record.Record, error]) (err error) {
	if wrong := record.WriteCSV(w, fine(records, &err)); wrong != nil {
		return wrong
	}
	return err
}

// writeLatency writes the response times of the successful requests, tagged by start kind, at the instant of their
// answers.
func writeLatency(w io.Writer, out *reports.Single, records iter.Seq2[record.Record, error]) error {
	return writeLog(w, logHead(out), records, func(r *record.Record) (time.Duration, string) {
		return time.Duration(r.Done), r.Server.Start.String()
	})
}

// writeWaves writes the same response times at the instant of their intended starts, tagged by wave, in windows of 10 s:
// the buckets of the documented figures.
func writeWaves(w io.Writer, out *reports.Single, records iter.Seq2[record.Record, error]) error {
	head := logHead(out)
	head.Interval = analysis.DefaultWindow
	return writeLog(w, head, records, func(r *record.Record) (time.Duration, string) {
		if r.Wave < 0 {
			return time.Duration(r.Intended), "no-wave"
		}
		return time.Duration(r.Intended), "wave-" + strconv.Itoa(int(r.Wave))
	})
}

// writeLog writes the response times of the successful requests at the instant and under the tag that place gives.
func writeLog(w io.Writer, head hdr.Head, records iter.Seq2[record.Record, error], place func(*record.Record) (time.Duration, string)) (err error) {
	log := hdr.NewLog(head)
	for r := range fine(records, &err) {
		if r.Outcome != record.OK {
			continue
		}
		at, tag := place(&r)
		if err := log.Add(at, tag, r.Response()); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return log.Write(w)
}

func logHead(out *reports.Single) hdr.Head {
	run := &out.Run
	return hdr.Head{
		Comment: fmt.Sprintf("coldwave %s run=%s pattern=%s policy=%s", out.Meta.Version, run.ID, run.Pattern, run.Policy), Start: run.Epoch,
	}
}

func writePercentiles(w io.Writer, records iter.Seq2[record.Record, error]) (err error) {
	longest := hdr.MinLimit
	for r := range fine(records, &err) {
		if r.Outcome == record.OK {
			longest = max(longest, r.Response())
		}
	}
	if err != nil {
		return err
	}
	h := hdr.New(longest)
	for r := range fine(records, &err) {
		if r.Outcome == record.OK {
			if err := h.Record(r.Response()); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return err
	}
	return hdr.WriteHgrm(w, h)
}
