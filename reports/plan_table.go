package reports

import (
	"fmt"
	"strconv"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

// planGrid is the table of a plan: by wave; where no arrival has a wave, by request if there are few, else by time.
func planGrid(s *workload.Schedule, rows int) grid {
	if waves := s.Waves(); len(waves) > 0 {
		return planWaves(waves, rows)
	}
	if len(s.Arrivals) <= rows {
		return planRequests(s)
	}
	return planSteps(s, rows)
}

// planRequests has a line per request, with the time since the one before.
func planRequests(s *workload.Schedule) grid {
	g := grid{Caption: "Requests", Columns: []column{number("request"), number("at"), number("after")}}
	for i := range s.Arrivals {
		a, after := &s.Arrivals[i], ""
		if i > 0 {
			after = exactSeconds(a.At.Sub(s.Arrivals[i-1].At))
		}
		g.add(strconv.FormatInt(a.Seq, 10), exactSeconds(time.Duration(a.At)), after)
	}
	return g
}

// planWaves has a line per wave. The column of the last request is there only if a wave is spread.
func planWaves(waves []workload.Wave, rows int) grid {
	spread := false
	for _, w := range waves {
		spread = spread || w.Last != w.First
	}
	g := grid{Caption: "Waves", Columns: []column{number("wave"), number("at")}}
	if spread {
		g.Columns = append(g.Columns, number("last at"))
	}
	g.Columns = append(g.Columns, number("requests"), number("total"))
	total := 0
	for _, w := range waves {
		total += w.Size
		cells := []string{strconv.Itoa(int(w.Number)), exactSeconds(time.Duration(w.First))}
		if spread {
			cells = append(cells, exactSeconds(time.Duration(w.Last)))
		}
		g.add(append(cells, strconv.Itoa(w.Size), strconv.Itoa(total))...)
	}
	g.shorten(rows, "waves")
	return g
}

// planSteps has a line per second, or per longer or shorter step where that gives too many or too few lines.
func planSteps(s *workload.Schedule, rows int) grid {
	step := niceStep(s.Length, rows/2)
	if s.Length >= 2*time.Second {
		step = max(step, time.Second)
	}
	g := grid{
		Caption: "Requests by time, in steps of " + exactSeconds(step),
		Columns: []column{number("from"), number("requests"), number("req/s"), number("total")},
	}
	total, from := 0, clock.Instant(0)
	for _, n := range countSteps(s, step) {
		total += n
		// The last step may be cut by the end.
		covered := min(step, time.Duration(clock.Instant(s.Length)-from))
		g.add(exactSeconds(time.Duration(from)), strconv.Itoa(n), significant(float64(n)/covered.Seconds()), strconv.Itoa(total))
		from = from.Add(step)
	}
	g.shorten(rows, "steps")
	return g
}

func number(name string) column { return column{Name: name, Number: true} }

// shorten keeps the first lines and says how many there are beside them.
func (g *grid) shorten(rows int, what string) {
	if more := len(g.Lines) - rows; more > 0 {
		g.Lines = g.Lines[:rows]
		g.Notes = append(g.Notes, fmt.Sprintf("%d more %s are not shown; the CSV form has every request.", more, what))
	}
}

// countSteps counts the arrivals of each [k·step, (k+1)·step) up to the length.
func countSteps(s *workload.Schedule, step time.Duration) []int {
	counts := make([]int, (s.Length-1)/step+1)
	for i := range s.Arrivals {
		counts[time.Duration(s.Arrivals[i].At)/step]++
	}
	return counts
}

// niceStep is the shortest step of 1, 2 or 5 times a power of ten of a second, or above a second of the usual parts of a
// minute, an hour and a day, that covers the length in at most that many steps. Beyond, it is a number of days.
func niceStep(length time.Duration, most int) time.Duration {
	fits := func(step time.Duration) bool { return (length-1)/step < time.Duration(most) }
	for ten := time.Nanosecond; ten < time.Second; ten *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if fits(n * ten) {
				return n * ten
			}
		}
	}
	for _, unit := range []time.Duration{time.Second, time.Minute} {
		for _, n := range []time.Duration{1, 2, 5, 10, 15, 30} {
			if fits(n * unit) {
				return n * unit
			}
		}
	}
	const day = 24 * time.Hour
	for _, n := range []time.Duration{1, 2, 3, 6, 12} {
		if fits(n * time.Hour) {
			return n * time.Hour
		}
	}
	return max(1, (length-1)/(day*time.Duration(most))+1) * day
}
