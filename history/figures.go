package history

import "coldwave/analysis"

// CellOf is what the history keeps of one run of one schedule: every metric that the run has.
func CellOf(name string, run *analysis.Run) Cell {
	c := Cell{Name: name, Pattern: run.Pattern, Policy: run.Policy, Target: run.Target, Driver: run.Driver, Hash: run.Hash}
	if c.Policy != "" {
		c.Target = "" // of the bundled stack: another port each time
	}
	for _, m := range analysis.Metrics() {
		value, ok := m.Of(&run.Summary)
		if !ok {
			continue
		}
		n := int64(run.Summary.Scheduled)
		if m.Unit == analysis.Latency {
			n = int64(run.Summary.OK.N)
		}
		c.Figures = append(c.Figures, Figure{Name: m.Name, Unit: unitOf(m.Unit), Value: float64(value), N: n})
	}
	return c
}

func unitOf(u analysis.Unit) string {
	switch {
	case u.IsTime():
		return "ns"
	case u == analysis.Requests:
		return "requests"
	}
	return "instances"
}
