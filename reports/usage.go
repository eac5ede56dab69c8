package reports

import (
	"strconv"

	"coldwave/analysis"
)

// usageGrids say why instances were started, where there was more than one reason, and what they used, where they told.
func usageGrids(ps []pair) []grid {
	var all []grid
	for _, g := range []grid{reasonGrid(ps), loadGrid(ps)} {
		if len(g.Lines) > 0 {
			all = append(all, g)
		}
	}
	return all
}

func reasonGrid(ps []pair) grid {
	g := grid{Caption: "Why instances were started", Columns: []column{
		{Name: "pattern"}, {Name: "policy"}, {Name: "reason"}, {Name: "starts", Number: true},
	}, Notes: []string{"reason: the policy's own; cpu, concurrency and act are the drivers of its metrics."}}
	for _, p := range ps {
		for _, c := range p.Cells {
			if u := &c.Run.Summary.Usage; len(u.Reasons) > 1 {
				for _, r := range u.Reasons {
					g.add(p.Pattern, c.Policy, r.Name, count(r.Starts))
				}
			}
		}
	}
	return g
}

func loadGrid(ps []pair) grid {
	g := grid{Caption: "What the instances used", Columns: []column{
		{Name: "pattern"}, {Name: "policy"}, {Name: "CPU s", Number: true}, {Name: "CPUs of one", Number: true},
		{Name: "most MiB of one", Number: true}, {Name: "out of memory", Number: true},
	}, Notes: []string{"CPU s: CPU time of all instances, background included; CPUs of one: in the mean over their ready time; " +
		"out of memory: instances that failed for it."}}
	for _, p := range ps {
		for _, c := range p.Cells {
			u, ready := &c.Run.Summary.Usage, c.Run.Summary.Instances.Ready
			if u.CPU == 0 && u.Memory == 0 {
				continue
			}
			mean := "n/a"
			if ready > 0 {
				mean = strconv.FormatFloat(u.CPU.Seconds()/ready.Seconds(), 'f', 2, 64)
			}
			g.add(p.Pattern, c.Policy, inUnit(u.CPU, seconds, 1), mean, mebibytes(u.Memory), count(u.OutOfMemory))
		}
	}
	return g
}

// mebibytes prints an amount of memory; 0 is none that is known.
func mebibytes(n int64) string {
	if n == 0 {
		return "n/a"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64)
}

// A usageDoc is why instances were started and what they used; what nobody told is empty or 0.
type usageDoc struct {
	Reasons     []reasonDoc `json:"reasons"`
	CPU         int64       `json:"cpu_ns"`
	Memory      int64       `json:"memory_peak_bytes"`
	OutOfMemory int         `json:"out_of_memory"`
}

type reasonDoc struct {
	Reason string `json:"reason"`
	Starts int    `json:"starts"`
}

func usageOf(u *analysis.Usage) usageDoc {
	d := usageDoc{Reasons: []reasonDoc{}, CPU: int64(u.CPU), Memory: u.Memory, OutOfMemory: u.OutOfMemory}
	for _, r := range u.Reasons {
		d.Reasons = append(d.Reasons, reasonDoc{r.Name, r.Starts})
	}
	return d
}
