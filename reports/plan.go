package reports

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"coldwave/workload"
)

// PlanStyle says how a plan is drawn. Its zero value is right for a terminal with Unicode and 80 characters.
type PlanStyle struct {
	Width int  // in characters, from 40; 0: 80
	ASCII bool // bars and lines of ASCII only
	Rows  int  // of the table at most, the rest is counted; 0: 60
}

const (
	planWidth = 80
	planRows  = 60
)

// style is the same for the printer of all text.
func (o PlanStyle) style() Style {
	width := o.Width
	if width == 0 {
		width = planWidth
	}
	return Style{Width: width, Unicode: !o.ASCII}
}

func (o PlanStyle) rows() int {
	if o.Rows == 0 {
		return planRows
	}
	return o.Rows
}

// Plan writes what a schedule would send: its facts, a drawing of the requests over time, and a table by wave, or by time
// where there are no waves. Its only errors are those of w.
func Plan(w io.Writer, s *workload.Schedule, o PlanStyle) error {
	p := &printer{w: w, style: o.style()}
	for _, f := range planFacts(s) {
		p.fact(f)
	}
	if len(s.Arrivals) > 0 {
		p.chart(planChart(s, p.width()))
		p.grid(planGrid(s, o.rows()))
	}
	return p.err
}

// factLabel is the width of the labels before the facts of a plan.
const factLabel = 14

// factLines bounds a fact: the sizes of thousands of waves would push the drawing off the screen.
const factLines = 4

func (p *printer) fact(f fact) {
	lines := wrap(p.text(f.Value), p.width()-factLabel)
	if len(lines) > factLines {
		lines = append(lines[:factLines-1], p.text("…"))
	}
	p.write(fmt.Sprintf("%-*s", factLabel, f.Name) + strings.Join(lines, "\n"+strings.Repeat(" ", factLabel)) + "\n")
}

func planFacts(s *workload.Schedule) []fact {
	facts := []fact{
		{"pattern", s.Pattern},
		{"function", s.Function.Name},
		{"seed", strconv.FormatUint(s.Seed, 10)},
		{"schedule", s.Hash()},
		{"requests", planSize(s)},
		{"length", exactSeconds(s.Length)},
	}
	if len(s.Arrivals) == 0 {
		return facts
	}
	return append(facts,
		fact{"mean rate", significant(float64(len(s.Arrivals))/s.Length.Seconds()) + " req/s"},
		fact{"peak rate", fmt.Sprintf("%d within 1 s", fullestSecond(s))},
		fact{"largest wave", fmt.Sprintf("%d at once", s.LargestWave())},
		fact{"execution", duration(s.TotalExec()) + " asked for in all"},
	)
}

func planSize(s *workload.Schedule) string {
	switch n, waves := len(s.Arrivals), len(s.Waves()); {
	case n == 0:
		return "0: nothing would be sent"
	case waves == 0:
		return strconv.Itoa(n)
	default:
		return fmt.Sprintf("%d in %d waves", n, waves)
	}
}

// fullestSecond is the largest number of arrivals in any [t, t + 1 s).
func fullestSecond(s *workload.Schedule) int {
	most, from := 0, 0
	for i := range s.Arrivals {
		for s.Arrivals[i].At.Sub(s.Arrivals[from].At) >= time.Second {
			from++
		}
		most = max(most, i-from+1)
	}
	return most
}

// exactSeconds prints d to the nanosecond, without zeros at the end: a plan is compared with other tools.
func exactSeconds(d time.Duration) string {
	text := fmt.Sprintf("%d.%09d", d/time.Second, d%time.Second)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".") + " s"
}

// planHeader names the columns of PlanCSV.
const planHeader = "seq,intended_ns,wave,exec_ns,pre_ns,post_ns\n"

// PlanCSV writes one line per arrival under a header: number, intended start since the run's epoch, wave (-1: none) and
// demand, times in nanoseconds. Its only errors are those of w.
func PlanCSV(w io.Writer, s *workload.Schedule) error {
	out := bufio.NewWriter(w)
	line := []byte(planHeader)
	for i := range s.Arrivals {
		if _, err := out.Write(line); err != nil {
			return err
		}
		a := &s.Arrivals[i]
		line = line[:0]
		for _, v := range [...]int64{a.Seq, int64(a.At), int64(a.Wave), int64(a.Demand.Exec), int64(a.Demand.Pre), int64(a.Demand.Post)} {
			line = append(strconv.AppendInt(line, v, 10), ',')
		}
		line[len(line)-1] = '\n'
	}
	if _, err := out.Write(line); err != nil {
		return err
	}
	return out.Flush()
}
