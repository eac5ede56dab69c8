package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// ErrDocument is the error of a document that is none of ours, or not of this version.
var ErrDocument = errors.New("malformed document")

// maxDocument is the largest document that is read, in bytes: that of a run with a million windows has 400 MB.
const maxDocument = 1 << 30

// ReadSingle reads what SingleJSON wrote: the run without its records, arrivals and instances, which have files of their
// own, and without its gates and its bill, which follow from them and from thresholds and tariff. What a document leaves
// out in virtual time stays empty. Errors wrap ErrDocument or are those of r.
func ReadSingle(r io.Reader) (Single, error) {
	var doc singleDoc
	if err := readDocument(r, &doc); err != nil {
		return Single{}, err
	}
	if doc.Schema != RunSchema {
		return Single{}, fmt.Errorf("%w: schema %q, want %q", ErrDocument, doc.Schema, RunSchema)
	}
	var p parsing
	out := Single{Meta: p.meta(doc.Tool), Run: p.run(&doc.runDoc), Elapsed: durationOf(doc.Elapsed)}
	return out, p.err
}

func readDocument(r io.Reader, into any) error {
	limited := &io.LimitedReader{R: r, N: maxDocument + 1}
	b, err := io.ReadAll(limited)
	switch {
	case err != nil:
		return err
	case limited.N == 0:
		return fmt.Errorf("%w: longer than %d bytes", ErrDocument, maxDocument)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%w: %w", ErrDocument, err)
	}
	return nil
}

// parsing turns documents back into values and keeps the first error.
type parsing struct{ err error }

func (p *parsing) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: "+format, append([]any{ErrDocument}, args...)...)
	}
}

func (p *parsing) wallTime(field string, text *string) time.Time {
	if text == nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, *text)
	if err != nil {
		p.fail("%s: %q is no time of RFC 3339", field, *text)
	}
	return at.UTC()
}

func (p *parsing) meta(d metaDoc) Meta {
	m := Meta{Tool: d.Name, Version: d.Version, Commit: or(d.Commit), Go: or(d.Go), OS: or(d.OS), CPUs: or(d.CPUs), Command: d.Command, Seed: d.Seed}
	m.Began = p.wallTime("tool.began", d.Began)
	return m
}

func (p *parsing) run(d *runDoc) analysis.Run {
	r := analysis.Run{
		ID: d.ID, Pattern: d.Pattern, Policy: or(d.Policy), Law: or(d.Law), Target: or(d.Target), Driver: d.Driver, Quota: or(d.Quota),
		Epoch: p.wallTime("epoch", d.Epoch), Seed: d.Seed, Hash: d.Hash, Log: or(d.Log), Host: p.host(d.Host), Twin: p.twin(d.Twin),
		Schedule: &workload.Schedule{Pattern: d.Schedule.Pattern, Seed: d.Seed, Function: d.Schedule.Function, Length: time.Duration(d.Schedule.Length)},
		Summary:  p.summary(d),
	}
	r.Placement, r.Summary.Nodes = d.Nodes.nodes()
	return r
}

func (p *parsing) host(d hostDoc) analysis.Host {
	return analysis.Host{Overshoot: p.stats(d.Overshoot), Loopback: p.stats(d.Loopback), During: p.stats(d.During), Busy: d.Busy, Reason: or(d.Reason)}
}

func (p *parsing) summary(d *runDoc) analysis.Summary {
	s := analysis.Summary{
		Scheduled: d.Scheduled, Sent: d.Sent, Resent: d.Resent, All: p.stats(d.Answered), OK: p.stats(d.OK), Service: p.stats(d.Service),
		SendLag: p.stats(d.SendLag), Uses: p.attribution(&d.Uses), Waiting: time.Duration(d.Instances.Waiting),
		Buckets: d.Quantiles == bucketQuantiles,
		Instances: analysis.InstanceTotals{Starts: d.Instances.Starts, Failed: d.Instances.Failed, Peak: d.Instances.Peak,
			Allocated: time.Duration(d.Instances.Allocated), Ready: time.Duration(d.Instances.Ready),
			Busy: time.Duration(d.Instances.Busy), Idle: time.Duration(d.Instances.Idle)},
	}
	for name, n := range d.Outcomes {
		if o, ok := record.ParseOutcome(name); ok {
			s.Outcomes[o] = n
		} else {
			p.fail("outcome %q is not known", name)
		}
	}
	for name, stats := range d.ByStart {
		s.ByStart[p.kind(name)] = p.stats(stats)
	}
	for i := range d.Waves {
		s.Waves = append(s.Waves, p.wave(&d.Waves[i]))
	}
	for i := range d.Windows {
		s.Windows = append(s.Windows, p.window(&d.Windows[i]))
	}
	for _, w := range d.Warnings {
		s.Warnings = append(s.Warnings, analysis.Warning(w))
	}
	return s
}

// kind returns the start kind of that name.
func (p *parsing) kind(name string) record.StartKind {
	k, ok := record.ParseStartKind(name)
	if !ok {
		p.fail("start kind %q is not known", name)
	}
	return k
}

func (p *parsing) wave(d *waveDoc) analysis.Wave {
	w := analysis.Wave{Wave: d.Wave, At: instantOf(d.At), N: d.N, Rejected: d.Rejected, Response: p.stats(d.Response), Makespan: time.Duration(d.Makespan)}
	for name, n := range d.ByStart {
		w.ByStart[p.kind(name)] = n
	}
	return w
}

func (p *parsing) window(d *windowDoc) analysis.Window {
	return analysis.Window{From: instantOf(d.From), Length: time.Duration(d.Length), N: d.N, Answered: d.Answered, TPS: or(d.TPS), Response: p.stats(d.Response)}
}

func (p *parsing) attribution(d *attributionDoc) (a analysis.Attribution) {
	for name, c := range d.Requests {
		n := &a.Requests[p.kind(name)]
		n[record.ByOwn], n[record.ByOther], n[record.ByNone], n[record.ByUnknown] = c.Own, c.Other, c.None, c.Unknown
	}
	for name, ns := range d.Waiting {
		a.Waiting[p.kind(name)] = time.Duration(ns)
	}
	for u := range analysis.Uses {
		use := d.Starts[u.String()]
		a.Starts[u], a.Spent[u] = use.Starts, time.Duration(use.Allocated)
	}
	return a
}

func (p *parsing) twin(d *twinDoc) *analysis.Distance {
	if d == nil {
		return nil
	}
	out := &analysis.Distance{Starts: d.Starts, TwinStarts: d.TwinStarts, Compared: d.Compared, Different: d.Different, Later: p.stats(d.Later)}
	for _, w := range d.Waves {
		out.Waves = append(out.Waves, analysis.WaveDistance{Wave: w.Wave, Wire: served(w.Wire), Twin: served(w.Twin)})
	}
	return out
}

func served(d map[string]int) (s analysis.Served) {
	for w := range analysis.Ways {
		s[w] = d[w.String()]
	}
	return s
}

func (p *parsing) stats(d statsDoc) analysis.Stats {
	if d.N < 0 {
		p.fail("a sample of %d", d.N)
	}
	return analysis.Stats{N: d.N, Mean: durationOf(d.Mean), Min: durationOf(d.Min), P50: durationOf(d.P50), P90: durationOf(d.P90),
		P95: durationOf(d.P95), P99: durationOf(d.P99), Max: durationOf(d.Max)}
}

func durationOf(ns *int64) time.Duration { return time.Duration(or(ns)) }

// instantOf is the inverse of instant.
func instantOf(ns *int64) clock.Instant {
	if ns == nil {
		return clock.Never
	}
	return clock.Instant(*ns)
}

// or returns what is known, or the zero value.
func or[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}
