package reports

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"coldwave/analysis"
	"coldwave/record"
)

// tableRows is how many lines the table under a chart has at most.
const tableRows = 200

// failedPoint is the code of a request that did not succeed; the other codes are those of record.StartKind.
const failedPoint = byte(record.StartKinds)

// A scatter is what the script needs to draw one cell: every request's response time over its intended start. Columns
// are little-endian, gzip, base64: uint32 microseconds since the request before, uint32 microseconds of response time,
// uint32 sequence number since the request before, and one byte of start kind.
type scatter struct {
	ID      string     `json:"id"`
	Group   int        `json:"group"` // charts of one group zoom together
	N       int        `json:"n"`
	XMax    float64    `json:"xMax"` // seconds
	YMin    float64    `json:"yMin"` // milliseconds
	YMax    float64    `json:"yMax"`
	Waves   []waveMark `json:"waves"`
	Columns string     `json:"columns"`

	Title, Desc, Note string `json:"-"`
}

type waveMark struct {
	At float64 `json:"at"` // seconds
	N  int     `json:"n"`
}

// scatterOf packs one cell. Both cells of a pattern get the same axes. Beyond limit points the fast warm ones are
// thinned out evenly: everything else, and the slowest hundredth, stays.
func scatterOf(pr pair, c cell, group, limit int) (scatter, error) {
	lo, hi := responseRange(pr)
	y := logarithmic(lo, hi, 0, 1)
	records := plotted(c.Run)
	kept := thin(records, limit)
	s := scatter{Group: group, N: len(kept), XMax: runSeconds(pr), YMin: y.min, YMax: y.max, Waves: []waveMark{},
		Title: fmt.Sprintf("%s, %s: response time of every request", pr.Pattern, c.Label()), Desc: scatterFinding(c.Run)}
	if len(kept) < len(records) {
		s.Note = fmt.Sprintf("%d of %d points are drawn: the fast warm ones are thinned out evenly.", len(kept), len(records))
	}
	for _, w := range c.Run.Summary.Waves {
		s.Waves = append(s.Waves, waveMark{At: inSeconds(w.At), N: w.N})
	}
	var err error
	s.Columns, err = pack(kept)
	return s, err
}

// plotted lists the records that have a response time, by intended start.
func plotted(r *analysis.Run) []*record.Record {
	var kept []*record.Record
	for i := range r.Records {
		if ended(&r.Records[i]) {
			kept = append(kept, &r.Records[i])
		}
	}
	slices.SortStableFunc(kept, func(a, b *record.Record) int { return cmp.Compare(a.Intended, b.Intended) })
	return kept
}

// thin returns at most about limit of the records.
func thin(records []*record.Record, limit int) []*record.Record {
	if len(records) <= limit {
		return records
	}
	var times []time.Duration
	for _, r := range records {
		times = append(times, r.Response())
	}
	slices.Sort(times)
	slow := times[len(times)*99/100]
	var must int
	for _, r := range records {
		if !thinnable(r, slow) {
			must++
		}
	}
	stride := max(1, (len(records)-must)/max(1, limit-must))
	var kept []*record.Record
	seen := 0
	for _, r := range records {
		if thinnable(r, slow) {
			if seen++; seen%stride != 0 {
				continue
			}
		}
		kept = append(kept, r)
	}
	return kept
}

func thinnable(r *record.Record, slow time.Duration) bool {
	return r.Outcome == record.OK && r.Server.Start == record.Warm && r.Response() < slow
}

func pack(records []*record.Record) (string, error) {
	n := len(records)
	raw := make([]byte, 13*n)
	var at, seq int64
	for i, r := range records {
		now := int64(r.Intended) / 1000
		binary.LittleEndian.PutUint32(raw[4*i:], micros(now-at))
		binary.LittleEndian.PutUint32(raw[4*(n+i):], micros(int64(r.Response())/1000))
		binary.LittleEndian.PutUint32(raw[4*(2*n+i):], uint32(int32(r.Seq-seq)))
		raw[12*n+i] = pointCode(r)
		at, seq = now, r.Seq
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(raw); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(zipped.Bytes()), nil
}

// micros fits a number of microseconds into 32 bits: 71 minutes, beyond which it is cut off.
func micros(n int64) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

func pointCode(r *record.Record) byte {
	if r.Outcome != record.OK || r.Server.Start >= record.StartKinds {
		return failedPoint
	}
	return byte(r.Server.Start)
}

func scatterFinding(r *analysis.Run) string {
	s := &r.Summary
	text := fmt.Sprintf("%d requests", len(r.Records))
	for _, k := range kindOrder {
		if n := s.ByStart[k].N; n > 0 {
			text += fmt.Sprintf(", %d %s with median %s", n, k, duration(s.ByStart[k].P50))
		}
	}
	if n := s.Sent - s.Outcomes[record.OK]; n > 0 {
		text += fmt.Sprintf(", %d not successful", n)
	}
	return text + "."
}

// requestTable lists requests: all of a short run, the slowest of a long one.
func requestTable(c cell) grid {
	g := grid{Caption: "Requests, " + c.Label(), Columns: []column{
		{Name: "request", Number: true}, {Name: "wave", Number: true}, {Name: "intended s", Number: true},
		{Name: "response ms", Number: true}, {Name: "wait ms", Number: true}, {Name: "start"}, {Name: "outcome"}, {Name: "instance"},
	}}
	records := plotted(c.Run)
	if n := len(records); n > tableRows {
		slices.SortStableFunc(records, func(a, b *record.Record) int { return cmp.Compare(b.Response(), a.Response()) })
		records = records[:tableRows]
		g.Notes = []string{fmt.Sprintf("The slowest %d of %d.", tableRows, n)}
	}
	for _, r := range records {
		wave := "-"
		if r.Wave >= 0 {
			wave = count(int(r.Wave) + 1)
		}
		g.add(fmt.Sprint(r.Seq), wave, inUnit(time.Duration(r.Intended), seconds, 3), inUnit(r.Response(), milliseconds, 2),
			inUnit(r.Server.Wait(), milliseconds, 2), r.Server.Start.String(), r.Outcome.String(), r.Server.Instance)
	}
	return g
}
