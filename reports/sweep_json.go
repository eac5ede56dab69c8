package reports

import (
	"encoding/csv"
	"io"
	"strconv"

	"coldwave/analysis"
)

// SweepSchema is the schema id of a sweep.
const SweepSchema = "loadgen.sweep/1"

// SweepJSON writes s as one JSON document of SweepSchema, every point in the order of the grid. It holds nothing of the host:
// equal seeds give equal bytes. Its only errors are those of w.
func SweepJSON(w io.Writer, s Sweep) error {
	d := sweepDoc{
		Schema: SweepSchema, Tool: metaFor(s.Meta, virtualDriver), settingDoc: settingOf(&s.Setting), Policy: s.Policy, Axes: []axisDoc{},
		LeftOut: s.LeftOut, Standings: standingsOf(&s.Standings),
	}
	for _, a := range s.Axes {
		d.Axes = append(d.Axes, axisDoc{Name: a.Name, Values: append([]string{}, a.Values...)})
	}
	return encode(w, d)
}

type sweepDoc struct {
	Schema string  `json:"schema"`
	Tool   metaDoc `json:"tool"`
	settingDoc
	Policy    string       `json:"policy"`
	Axes      []axisDoc    `json:"axes"`
	LeftOut   int          `json:"points_left_out"`
	Standings standingsDoc `json:"standings"`
}

type axisDoc struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// SweepCSV writes one line for each point, in the order of Sort: the parameters, the place, and the median of each metric over
// the seeds with its interval, in the units of SweepJSON. What is not known is empty. Its errors are those of w and of Order.
func SweepCSV(w io.Writer, s Sweep) error {
	order, err := s.Order(s.Sort)
	if err != nil {
		return err
	}
	table := csv.NewWriter(w)
	rows := [][]string{sweepHead(&s)}
	for _, i := range order {
		rows = append(rows, sweepRow(&s.Standings, i))
	}
	return table.WriteAll(rows)
}

func sweepHead(s *Sweep) []string {
	head := append([]string{}, s.Standings.Columns...)
	head = append(head, "policy", "requests", "requests_not_ok", "place", "front_seeds", "behind", "latency_ratio_to_best", "cost_ratio_to_best")
	for _, m := range analysis.Metrics() {
		name := m.Name
		if m.Unit.IsTime() {
			name += "_" + unitNames[m.Unit]
		}
		head = append(head, name, name+"_low", name+"_high")
	}
	return head
}

func sweepRow(s *Standings, i int) []string {
	one := &s.All[i]
	word, _ := placeText(s, i)
	row := append([]string{}, one.Labels...)
	row = append(row, one.Policy, strconv.FormatInt(one.Requests, 10), strconv.FormatInt(one.NotOK, 10), word, s.seedsOnFront(i))
	for _, x := range []float64{one.Place.Behind, one.Place.Latency, one.Place.Cost} {
		row = append(row, csvNumber(one.Place.OK, x))
	}
	for _, m := range analysis.Metrics() {
		spread := one.spread(m.Name)
		median := ""
		if spread.N > 0 {
			median = strconv.FormatInt(spread.Median, 10)
		}
		row = append(row, median, csvNumber(spread.MedianIn.OK, spread.MedianIn.Low), csvNumber(spread.MedianIn.OK, spread.MedianIn.High))
	}
	return row
}

// csvNumber prints a number as short as it can be read back, or nothing.
func csvNumber(known bool, x float64) string {
	if !known || finite(x) == nil {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
