package reports

import (
	"time"

	"coldwave/analysis"
)

// twinGrids says how far each cell is from the same cell in virtual time; none where nothing was compared.
func twinGrids(ps []pair) []grid {
	s := scaleOf(twinTimes(ps)...)
	g := grid{Caption: "Distance to the virtual twin (" + s.unit.name + ")", Columns: []column{
		{Name: "pattern"}, {Name: "policy"}, {Name: "starts", Number: true}, {Name: "waves", Number: true}, {Name: "requests", Number: true},
		{Name: "p50", Number: true}, {Name: "p99", Number: true}, {Name: "max", Number: true},
	}, Notes: []string{"The twin is the same schedule, policy and seed in virtual time (FR-8). starts: ours/the twin's; waves, requests: " +
		"alike/compared, by whether an idle, a freed or a new instance served, for requests whose order of arrival is certain; " +
		"p50 to max: response time − that of equal rank in the twin's wave."}}
	for _, p := range ps {
		for _, c := range p.Cells {
			if d := c.Run.Twin; d != nil {
				l := d.Later
				g.add(p.Pattern, c.Policy, share(d.Starts, d.TwinStarts), share(d.SameWaves(), len(d.Waves)),
					share(d.Compared-len(d.Different), d.Compared), some(l, s, l.P50), some(l, s, l.P99), some(l, s, l.Max))
			}
		}
	}
	if len(g.Lines) == 0 {
		return nil
	}
	return []grid{g}
}

func twinTimes(ps []pair) []time.Duration {
	var all []time.Duration
	for _, p := range ps {
		for _, c := range p.Cells {
			if d := c.Run.Twin; d != nil {
				all = append(all, d.Later.P50, d.Later.P99, d.Later.Max)
			}
		}
	}
	return all
}

// share prints a number beside what it should be, such as "31/32".
func share(got, whole int) string { return count(got) + "/" + count(whole) }

// twinDoc is the distance of a run on the wire to its virtual twin.
type twinDoc struct {
	Starts     int           `json:"starts"`
	TwinStarts int           `json:"twin_starts"`
	Waves      []twinWaveDoc `json:"waves"`
	Compared   int           `json:"requests_compared"`
	Different  []int64       `json:"requests_different"` // by seq
	Later      statsDoc      `json:"response_later"`     // may be negative
}

type twinWaveDoc struct {
	Wave int32          `json:"wave"` // from 0, as in the records; -1: none
	Wire map[string]int `json:"wire"`
	Twin map[string]int `json:"twin"`
}

func twinOf(d *analysis.Distance) *twinDoc {
	if d == nil {
		return nil
	}
	doc := &twinDoc{Starts: d.Starts, TwinStarts: d.TwinStarts, Waves: []twinWaveDoc{}, Compared: d.Compared,
		Different: append([]int64{}, d.Different...), Later: statsDocOf(d.Later)}
	for _, w := range d.Waves {
		doc.Waves = append(doc.Waves, twinWaveDoc{Wave: w.Wave, Wire: servedDoc(w.Wire), Twin: servedDoc(w.Twin)})
	}
	return doc
}

func servedDoc(s analysis.Served) map[string]int {
	doc := map[string]int{}
	for w, n := range s {
		doc[analysis.Way(w).String()] = n
	}
	return doc
}
