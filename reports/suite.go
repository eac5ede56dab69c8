package reports

import (
	"io"
	"strings"

	"coldwave/analysis"
	"coldwave/record"
	"coldwave/references"
)

// Suite says which worked examples a verification was about.
type Suite struct {
	Name  string
	Title string
	Left  []references.Left // examples that no run shows
}

// scenePairs makes each scene a group of its own: scenes are not compared with each other.
func scenePairs(runs []analysis.Run) []pair {
	all := make([]pair, len(runs))
	for i := range runs {
		r := &runs[i]
		all[i] = pair{Pattern: r.Pattern, Cells: []cell{{side{Name: subject(r), Policy: subject(r), Class: "after"}, r}}}
	}
	return all
}

// sceneGrid adds up what came of each scene.
func sceneGrid(runs []analysis.Run) grid {
	g := grid{Caption: "Scenes", Columns: []column{
		{Name: "scene"}, {Name: "policy", Prose: true}, {Name: "requests", Number: true}, {Name: "ok", Number: true}, {Name: "not ok", Number: true},
		{Name: "cold", Number: true}, {Name: "starts", Number: true}, {Name: "peak", Number: true}, {Name: "longest", Number: true},
	}, Notes: []string{"cold: requests that were the first of a new instance; starts, peak: instances; longest: response time of the requests that were ok."}}
	for i := range runs {
		s := &runs[i].Summary
		longest := empty
		if s.OK.N > 0 {
			longest = duration(s.OK.Max)
		}
		g.add(runs[i].Pattern, breakable(subject(&runs[i])), count(s.Scheduled), count(s.OK.N), count(s.Scheduled-s.OK.N),
			count(s.ByStart[record.Cold].N), count(s.Instances.Starts), count(s.Instances.Peak), longest)
	}
	return g
}

// breakable lets a table wrap the parameters of a policy.
func breakable(spec string) string { return strings.ReplaceAll(spec, ",", ", ") }

// leftGrid lists the worked examples that no run shows.
func leftGrid(left []references.Left) grid {
	g := grid{Caption: "Examples that no run shows", Columns: []column{{Name: "example"}, {Name: "why", Prose: true}, {Name: "test"}}}
	for _, l := range left {
		g.add(l.ID, l.Why, l.Test)
	}
	return g
}

// suiteText writes the part of the screen that is about a suite.
func (p *printer) suiteText(v Verification) {
	if len(v.Runs) > 0 {
		p.grid(sceneGrid(v.Runs))
	}
	if len(v.Runs) > 0 && v.Driver != virtualDriver {
		p.grid(lagGrid(scenePairs(v.Runs)))
		p.grids(twinGrids(scenePairs(v.Runs)))
	}
	if len(v.Suite.Left) > 0 {
		p.grid(leftGrid(v.Suite.Left))
	}
}

// suiteSection is the same on a page.
func suiteSection(v Verification) section {
	s := section{ID: "scenes", Title: "Scenes", Intro: "Each scene is one run: what is given in a worked example.",
		Figures: []*figure{{Tables: []grid{sceneGrid(v.Runs)}, Open: true, Wide: true}}}
	if len(v.Suite.Left) > 0 {
		s.Figures = append(s.Figures, &figure{Tables: []grid{leftGrid(v.Suite.Left)}, Open: true, Wide: true})
	}
	return s
}

type suiteDoc struct {
	Name   string     `json:"name"`
	Title  string     `json:"title"`
	Scenes []sceneDoc `json:"scenes"`
	Left   []leftDoc  `json:"left"`
}

type sceneDoc struct {
	Name     string `json:"name"`
	Policy   string `json:"policy"`
	Schedule string `json:"schedule_sha256"`
	Log      string `json:"log_sha256"`
	Requests int    `json:"requests"`
	OK       int    `json:"ok"`
	Cold     int    `json:"cold"`
	Starts   int    `json:"starts"`
	Peak     int    `json:"peak"`
}

type leftDoc struct {
	ID   string `json:"id"`
	Why  string `json:"why"`
	Test string `json:"test"`
}

func suiteOf(v Verification) *suiteDoc {
	if v.Suite == nil {
		return nil
	}
	d := &suiteDoc{Name: v.Suite.Name, Title: v.Suite.Title, Scenes: []sceneDoc{}, Left: []leftDoc{}}
	for i := range v.Runs {
		r := &v.Runs[i]
		s := &r.Summary
		d.Scenes = append(d.Scenes, sceneDoc{
			Name: r.Pattern, Policy: subject(r), Schedule: r.Hash, Log: r.Log, Requests: s.Scheduled, OK: s.OK.N,
			Cold: s.ByStart[record.Cold].N, Starts: s.Instances.Starts, Peak: s.Instances.Peak,
		})
	}
	for _, l := range v.Suite.Left {
		d.Left = append(d.Left, leftDoc{l.ID, l.Why, l.Test})
	}
	return d
}

// SuitesText writes one table of several suites, with what does not agree. Its only errors are those of w.
func SuitesText(w io.Writer, all []Verification, s Style) error {
	p := &printer{w: w, style: s}
	g := grid{Caption: "Suites", Columns: []column{
		{Name: "suite"}, {Name: "runs", Number: true}, {Name: "claims", Number: true}, {Name: "agree", Number: true},
		{Name: "disagree", Number: true}, {Name: "not comparable", Number: true}, {Name: "other", Number: true}, {Name: "no run", Number: true},
	}, Notes: []string{"no run: worked examples that no run shows and a test holds."}}
	var claims []references.Result
	for _, v := range all {
		name, left := references.Main, 0
		if v.Suite != nil {
			name, left = v.Suite.Name, len(v.Suite.Left)
		}
		t := tallyOf(v.Claims)
		g.Lines = append(g.Lines, line{Tone: overall(v.Claims), Cells: []string{name, count(len(v.Runs)), count(len(v.Claims)), count(t[references.Agrees]),
			count(t[references.Disagrees]), count(t[references.NotComparable]), count(t[references.Inconclusive] + t[references.Void]), count(left)}})
		claims = append(claims, v.Claims...)
	}
	p.grid(g)
	for _, v := range all {
		if v.Suite != nil {
			p.reasons(v.Claims)
		}
	}
	p.write("\n" + p.colour(overall(claims), p.text(sentence(claims))) + "\n")
	return p.err
}
