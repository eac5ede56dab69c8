package reports

import (
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// HistorySchema is the schema id of what the verb history prints with --json.
const HistorySchema = "loadgen.history/1"

// Past is what is printed of a history: one or more of its parts.
type Past struct {
	Schema string      `json:"schema"`
	Runs   []PastRun   `json:"runs,omitempty"`
	Trend  *PastTrend  `json:"trend,omitempty"`
	Pins   []PastPin   `json:"pins,omitempty"`
	Alerts []PastAlert `json:"alerts,omitempty"`
}

// PastRun is one run of the history; a list leaves the cells out.
type PastRun struct {
	ID       string     `json:"id"`
	Began    time.Time  `json:"began"`
	Verb     string     `json:"verb"`
	State    string     `json:"state"`
	ExitCode int        `json:"exit_code"`
	Version  string     `json:"version"`
	Commit   string     `json:"commit"`
	Host     string     `json:"host"`
	Seed     uint64     `json:"seed"`
	Command  string     `json:"command"`
	Dir      string     `json:"dir"`
	Cells    []PastCell `json:"cells,omitempty"`
}

// PastCell is one cell of a run.
type PastCell struct {
	Name    string       `json:"name"`
	Driver  string       `json:"driver"`
	Hash    string       `json:"schedule_hash"`
	Figures []PastFigure `json:"figures"`
}

// PastFigure is one number of a cell.
type PastFigure struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"` // "ns", or what is counted
	Value float64 `json:"value"`
	N     int64   `json:"n"`
}

// PastTrend is one figure over runs, oldest first.
type PastTrend struct {
	Cell   string       `json:"cell"`
	Figure string       `json:"figure"`
	Unit   string       `json:"unit"`
	Points []TrendPoint `json:"points"`
}

// TrendPoint is the figure of one run.
type TrendPoint struct {
	Run     string    `json:"run"`
	Began   time.Time `json:"began"`
	Version string    `json:"version"`
	State   string    `json:"state"`
	Value   float64   `json:"value"`
	N       int64     `json:"n"`
}

// PastPin is a baseline that was pinned.
type PastPin struct {
	Name string    `json:"name"`
	Side string    `json:"side"`
	At   time.Time `json:"at"`
	Note string    `json:"note"`
}

// PastAlert is a change of level in a series.
type PastAlert struct {
	ID     string    `json:"id"`
	Series string    `json:"series"`
	At     time.Time `json:"at"`
	Before float64   `json:"before"`
	After  float64   `json:"after"`
	PValue float64   `json:"p_value"`
	From   string    `json:"from"`
	To     string    `json:"to"`
	State  string    `json:"state"`
	Note   string    `json:"note"`
}

// HistoryJSON writes p as one JSON document of HistorySchema.
func HistoryJSON(w io.Writer, p Past) error {
	p.Schema = HistorySchema
	return encode(w, p)
}

// HistoryText writes the parts of p as tables, each a sentence if it is empty and none if it is nil.
func HistoryText(w io.Writer, p Past, s Style) error {
	out := &printer{w: w, style: s}
	if p.Runs != nil {
		out.pastRuns(p.Runs)
	}
	if p.Trend != nil {
		out.trend(p.Trend)
	}
	if p.Pins != nil {
		out.pins(p.Pins)
	}
	if p.Alerts != nil {
		out.alerts(p.Alerts)
	}
	return out.err
}

func (p *printer) pastRuns(runs []PastRun) {
	if len(runs) == 0 {
		p.sentence("No run is in the history yet.")
		return
	}
	g := grid{Columns: []column{{Name: "run"}, {Name: "began"}, {Name: "verb"}, {Name: "state"}, {Name: "exit", Number: true}, {Name: "version"}, {Name: "command", Prose: true}}}
	for _, r := range runs {
		g.add(r.ID, wallTime(r.Began), r.Verb, r.State, strconv.Itoa(r.ExitCode), r.Version, r.Command)
	}
	p.grid(g)
	for _, r := range runs {
		if len(r.Cells) > 0 {
			p.pastRun(r)
		}
	}
}

// pastRun writes what a list has no room for.
func (p *printer) pastRun(r PastRun) {
	p.sentence("seed " + strconv.FormatUint(r.Seed, 10) + ", commit " + r.Commit + ", " + r.Host)
	p.sentence("kept in " + r.Dir)
	for _, c := range r.Cells {
		g := grid{Caption: c.Name + " (" + driver(c.Driver) + ")", Columns: []column{{Name: "figure"}, {Name: "value", Number: true}, {Name: "n", Number: true}}}
		for _, f := range c.Figures {
			g.add(f.Name, pastValue(f.Value, f.Unit), strconv.FormatInt(f.N, 10))
		}
		p.grid(g)
	}
}

// pastValue prints a value of the history with its unit.
func pastValue(value float64, unit string) string {
	switch {
	case unit == "ns":
		return duration(time.Duration(value))
	case value == math.Trunc(value) && math.Abs(value) < 1<<53:
		return strings.TrimSpace(strconv.FormatFloat(value, 'f', -1, 64) + " " + unit)
	}
	return strings.TrimSpace(significant(value) + " " + unit)
}

func (p *printer) trend(t *PastTrend) {
	if len(t.Points) == 0 {
		p.sentence("No run in the history has " + t.Figure + " of " + t.Cell + ".")
		return
	}
	g := grid{Caption: t.Figure + " of " + t.Cell, Columns: []column{{Name: "began"}, {Name: "run"}, {Name: "version"}, {Name: "state"}, {Name: "n", Number: true}, {Name: t.Figure, Number: true}, {Name: "from the least to the most"}}}
	low, high := t.Points[0].Value, t.Points[0].Value
	for _, v := range t.Points {
		low, high = min(low, v.Value), max(high, v.Value)
	}
	for _, v := range t.Points {
		g.add(wallTime(v.Began), v.Run, v.Version, v.State, strconv.FormatInt(v.N, 10), pastValue(v.Value, t.Unit), dot(v.Value, low, high))
	}
	if low < high {
		g.Notes = append(g.Notes, "The line goes from "+pastValue(low, t.Unit)+" to "+pastValue(high, t.Unit)+".")
	}
	p.grid(g)
}

// trendWidth is the length of the line on which a trend's values are marked.
const trendWidth = 30

// dot marks a value on a line from low to high.
func dot(value, low, high float64) string {
	at := trendWidth / 2
	if low < high {
		at = int(math.Round((value - low) / (high - low) * (trendWidth - 1)))
	}
	return strings.Repeat(".", at) + "o" + strings.Repeat(".", trendWidth-1-at)
}

func (p *printer) pins(pins []PastPin) {
	if len(pins) == 0 {
		p.sentence("No baseline is pinned.")
		return
	}
	g := grid{Caption: "Pinned baselines", Columns: []column{{Name: "suite"}, {Name: "side"}, {Name: "since"}, {Name: "note", Prose: true}}}
	for _, pin := range pins {
		g.add(pin.Name, pin.Side, wallTime(pin.At), pin.Note)
	}
	p.grid(g)
}

func (p *printer) alerts(alerts []PastAlert) {
	if len(alerts) == 0 {
		p.sentence("No alert is open.")
		return
	}
	g := grid{Caption: "Alerts", Columns: []column{{Name: "alert"}, {Name: "series"}, {Name: "since"}, {Name: "change", Number: true}, {Name: "p", Number: true}, {Name: "builds"}, {Name: "state", Verb: true}, {Name: "note", Prose: true}}}
	for _, a := range alerts {
		change := strconv.FormatFloat(100*(a.After/a.Before-1), 'f', 1, 64) + " %"
		if a.After >= a.Before {
			change = "+" + change
		}
		g.Lines = append(g.Lines, line{Tone: alertTone(a.State), Cells: []string{a.ID, a.Series, wallTime(a.At), change,
			strconv.FormatFloat(a.PValue, 'g', 2, 64), a.From + ".." + a.To, a.State, a.Note}})
	}
	p.grid(g)
}

func alertTone(state string) tone {
	switch state {
	case "new":
		return bad
	case "acknowledged":
		return doubt
	}
	return muted
}
