package reports

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
)

// onNodes is the fixture's run with its instances on nodes: four on each, the first of which was given back and taken again.
func onNodes() Single {
	s := fixtureSingle()
	r := &s.Run
	r.Placement = &analysis.Placement{Count: 6, Slots: 4, Keep: time.Minute, Cache: true}
	for i := range r.Instances {
		in := &r.Instances[i]
		in.Node, in.Cached = int32(i/4+1), i%4 > 1
		if i%4 == 0 {
			r.Nodes = append(r.Nodes, record.Node{ID: in.Node, Taken: in.Started, Reclaimed: clock.Never})
		}
	}
	r.Nodes[0].Reclaimed = clock.Instant(65 * time.Second)
	t := analysis.TotalNodes(r.Nodes, r.Instances, clock.Instant(r.Schedule.Length))
	r.Summary.Nodes = &t
	return s
}

// TestNodesText: the sentence, the table and the notes say what the run was placed on; a run without nodes says nothing.
func TestNodesText(t *testing.T) {
	var with, without bytes.Buffer
	if err := SingleText(&with, onNodes(), Style{}); err != nil {
		t.Fatal(err)
	}
	if err := SingleText(&without, fixtureSingle(), Style{}); err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(with.String()), " ")
	for _, want := range []string{
		"on at most 6 nodes with room for 4 each, which keep the code, ",
		"pattern | policy | nodes | room | taken | peak | in use s | empty s | starts | no download",
		"fc-burst | fc-race | 6 | 4 | 5 | 5 |",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("the text has no %q:\n%s", want, with.String())
		}
	}
	if strings.Contains(without.String(), "Nodes") || strings.Contains(without.String(), "room") {
		t.Errorf("a run without nodes tells of them:\n%s", without.String())
	}
	if got := placementText(&analysis.Placement{Count: 1, Slots: 3}); got != ", on one node with room for 3" {
		t.Errorf("one node is told as %q", got)
	}
	if got := placementText(&analysis.Placement{}); got != "" {
		t.Errorf("nodes that were not told are told as %q", got)
	}
}

// TestNodesJSON: what a document says of nodes is read back, and fits the schema.
func TestNodesJSON(t *testing.T) {
	for _, change := range []func(*analysis.Run){
		func(*analysis.Run) {}, func(r *analysis.Run) { r.Placement = &analysis.Placement{} },
		func(r *analysis.Run) { r.Placement, r.Summary.Nodes = nil, nil },
	} {
		s := onNodes()
		change(&s.Run)
		doc := singleJSON(t, s)
		if bad := problems(parseSchema(t, RunSchema), decode(t, doc)); len(bad) > 0 {
			t.Errorf("%s\nbreaks the schema: %q", doc, bad)
		}
		got, err := ReadSingle(bytes.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s.Run.Placement, got.Run.Placement); d != "" {
			t.Errorf("placement (-written +read):\n%s", d)
		}
		if d := cmp.Diff(s.Run.Summary.Nodes, got.Run.Summary.Nodes); d != "" {
			t.Errorf("totals (-written +read):\n%s", d)
		}
	}
}

// TestNodesPage: the page has a section of nodes with a drawing and the uses, and the instances tell their node.
func TestNodesPage(t *testing.T) {
	s := onNodes()
	ps := pairs([]analysis.Run{s.Run})
	section := nodeSection(ps)
	if len(section.Figures) != 2 || section.Figures[0].Drawing == nil {
		t.Fatalf("%d figures, want a drawing with its table, and the totals", len(section.Figures))
	}
	uses := section.Figures[0].Tables[0]
	if got := len(uses.Lines); got != 5 || uses.Lines[0].Cells[2] != "65.000" || uses.Lines[1].Cells[2] != empty || uses.Lines[1].Cells[3] != "4" || uses.Lines[1].Cells[5] != "2" {
		t.Errorf("uses: %+v, want five, the first reclaimed at 65 s, the second with four starts, two without download", uses.Lines)
	}
	table := instanceTable(ps[0].Cells[0])
	last := table.Columns[len(table.Columns)-2:]
	if last[0].Name != "node" || last[1].Name != "download" || table.Lines[2].Cells[8] != "1" || table.Lines[2].Cells[9] != "skipped" {
		t.Errorf("instances: columns %+v, third line %+v, want node 1 and a skipped download", last, table.Lines[2].Cells)
	}
	if got := nodeSection(pairs([]analysis.Run{fixtureSingle().Run})); len(got.Figures) != 0 {
		t.Error("a run without nodes has a section of them")
	}
	var page bytes.Buffer
	if err := SingleHTML(&page, s, Limits{}); err != nil || !strings.Contains(page.String(), "nodes in use") {
		t.Errorf("the page: %v, want nodes in use on it", err)
	}
}
