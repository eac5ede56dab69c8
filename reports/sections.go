package reports

import (
	"slices"

	"coldwave/references"
)

var kindKeys = []key{
	{"dot kind-warm", "warm"}, {"diamond kind-queued", "queued"}, {"square kind-cold", "cold"},
	{"hollow kind-cold-wait", "cold_wait"}, {"cross kind-failed", "failed"},
}

func latencySection(ps []pair, l Limits) (section, error) {
	s := section{ID: "latency", Title: "Latency over time", Keys: append(kindKeys, key{"bar wave", "wave, with its number of requests"}),
		Intro: "One mark a request: response time over intended start. Drag to zoom, double-click or Escape to go back; the arrow " +
			"keys walk from request to request."}
	if compared(ps) {
		s.Intro += " Both sides of a pattern have the same axes and zoom together."
	}
	for i, p := range ps {
		for _, c := range p.Cells {
			sc, err := scatterOf(p, c, i, l.points())
			if err != nil {
				return s, err
			}
			s.Figures = append(s.Figures, &figure{Scatter: &sc, Tables: []grid{requestTable(c)}})
		}
	}
	return s, nil
}

func ladderSection(rows []references.LadderRow) section {
	g := ladderGrid(rows)
	return section{ID: "ladder", Title: "The burst, row by row",
		Intro: "Every request of the burst, ascending: the documented table beside this run.",
		Keys: []key{{"ring side-before", "before, documented"}, {"disc side-before", "before, measured"},
			{"ring side-after", "after, documented"}, {"disc side-after", "after, measured"}, {"area aside", "reported, not asserted"}},
		Figures: []*figure{{Drawing: ladderDrawing(rows)}, {Tables: []grid{g}, Open: true}}}
}

func windowSection(ps []pair) section {
	s := section{ID: "windows", Title: "Mean and p99 by window", Keys: sideKeys(ps),
		Intro: "Each window of the run, by intended start."}
	if compared(ps) {
		s.Intro = "The figure of the source: each window of the run by intended start, before against after."
	}
	for _, p := range ps {
		if len(windowsOf(p)) == 0 {
			continue
		}
		for i, stat := range windowStatistics {
			f := &figure{Drawing: windowDrawing(p, stat)}
			if i == 0 {
				f.Tables = []grid{windowTable(p)}
			}
			s.Figures = append(s.Figures, f)
		}
	}
	return s
}

// waveSection is for comparisons; a single run shows its waves with more columns.
func waveSection(ps []pair) section {
	s := section{ID: "waves", Title: "Waves", Intro: "The same waves on both sides."}
	for _, p := range ps {
		if len(wavesOf(p)) > 0 && len(p.Cells) > 1 {
			s.Figures = append(s.Figures, &figure{Tables: []grid{waveGrid(p)}, Open: true})
		}
	}
	return s
}

func instanceSection(ps []pair) section {
	s := section{ID: "instances", Title: "Instances and queue", Keys: []key{
		{"area bar-starting", "starting"}, {"area bar-idle", "idle"}, {"area bar-busy kind-warm", "serving (colour: start kind)"},
		{"bar state-starting", "number starting"}, {"bar state-busy", "number busy"}, {"bar state-idle", "number idle"},
		{"bar state-waiting", "requests waiting"},
	}, Intro: "Above: the whole run. Below: the largest wave enlarged, one row an instance."}
	for _, p := range ps {
		for _, c := range p.Cells {
			if len(c.Run.Instances) > 0 {
				s.Figures = append(s.Figures, &figure{Drawing: instanceDrawing(p, c), Tables: []grid{instanceTable(c)}})
			}
		}
	}
	if len(s.Figures) == 0 {
		s.Keys = nil
		s.Intro = "The target told nothing about its instances."
		s.Figures = []*figure{}
		return s
	}
	s.Figures = append(s.Figures, &figure{Tables: slices.Concat([]grid{startGrid(ps), timeGrid(ps)}, billGrids(ps), attributionGrids(ps)), Open: true})
	return s
}

func percentileSection(ps []pair) section {
	s := section{ID: "percentiles", Title: "Percentiles by start kind", Keys: []key{
		{"bar kind-warm", "warm"}, {"bar kind-queued", "queued"}, {"bar kind-cold", "cold"}, {"bar kind-cold-wait", "cold_wait"},
	}, Intro: "The axis stretches the tail: each step to the right leaves a tenth of the requests beyond it. A line ends where its " +
		"sample has no more requests."}
	for _, p := range ps {
		for _, c := range p.Cells {
			s.Figures = append(s.Figures, &figure{Drawing: percentileDrawing(p, c), Tables: []grid{kindGrid(c.Run)}})
		}
	}
	return s
}

func healthSection(ps []pair) section {
	s := section{ID: "health", Title: "Generator and host", Keys: sideKeys(ps),
		Intro: "Whether the numbers above can be trusted: how late the generator itself was, and how calm the machine."}
	for _, p := range ps {
		for _, c := range p.Cells {
			if c.Run.Driver != "virtual" { // there nothing can be late
				s.Figures = append(s.Figures, &figure{Drawing: lagDrawing(p, c)})
			}
		}
	}
	if len(s.Figures) == 0 {
		s.Keys = nil
	}
	s.Figures = append(s.Figures, &figure{Tables: []grid{lagGrid(ps)}, Open: true})
	for _, g := range twinGrids(ps) {
		s.Figures = append(s.Figures, &figure{Tables: []grid{g}, Open: true})
	}
	s.Figures = append(s.Figures, &figure{Tables: []grid{hostGrid(ps)}, Open: true})
	return s
}

func sideKeys(ps []pair) []key {
	var keys []key
	seen := map[string]bool{}
	for _, p := range ps {
		for _, c := range p.Cells {
			if !seen[c.Policy] {
				seen[c.Policy] = true
				keys = append(keys, key{"bar side-" + c.Class, c.Label()})
			}
		}
	}
	return keys
}

// compared says whether any pattern has more than one side.
func compared(ps []pair) bool {
	return slices.ContainsFunc(ps, func(p pair) bool { return len(p.Cells) > 1 })
}
