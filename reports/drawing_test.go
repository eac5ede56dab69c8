package reports

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"coldwave/analysis"
	"coldwave/record"
)

// drawingsOf lists every static picture of a verification.
func drawingsOf(v Verification) []*drawing {
	all := []*drawing{ladderDrawing(v.Ladder)}
	for _, p := range pairs(v.Runs) {
		for _, stat := range windowStatistics {
			all = append(all, windowDrawing(p, stat))
		}
		for _, c := range p.Cells {
			all = append(all, instanceDrawing(p, c), percentileDrawing(p, c), lagDrawing(p, c))
		}
	}
	return all
}

// Whatever the run was, every shape lies in its picture and every coordinate is a number.
func TestShapesLieInTheirPicture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 6).Draw(t, "sizes")
		seed := rapid.Uint64Range(1, 1000).Draw(t, "seed")
		before, after := modelRun("p", "fc-bound", sizes, seed), modelRun("p", "fc-race", sizes, seed)
		spoil(t, &after)
		v := Verification{Runs: []analysis.Run{before, after}, Ladder: fixtureLadder(&before, &after)}
		for _, d := range drawingsOf(v) {
			checkShapes(t, d)
		}
	})
}

// spoil gives a run what goes wrong in real ones.
func spoil(t *rapid.T, r *analysis.Run) {
	for i := range r.Records {
		rec := &r.Records[i]
		switch rapid.IntRange(0, 9).Draw(t, "fate") {
		case 0:
			rec.Outcome, rec.Done, rec.Sent = record.Dropped, rec.Intended, 1<<63-1
		case 1:
			rec.Outcome, rec.Server.Instance = record.Timeout, ""
		case 2:
			rec.Outcome, rec.Done = record.Unknown, 1<<63-1
		}
	}
	for i := range r.Instances {
		if rapid.IntRange(0, 9).Draw(t, "start") == 0 {
			r.Instances[i].Ready, r.Instances[i].Failed = 1<<63-1, true
			r.Instances[i].Stopped = r.Instances[i].Started + 1
		}
	}
	r.Summary = analysis.Summarize(analysis.Input{Schedule: r.Schedule, Records: r.Records, Instances: r.Instances})
}

type failer interface{ Errorf(string, ...any) }

func checkShapes(t failer, d *drawing) {
	for _, s := range d.Shapes {
		corners := []point{{s.X, s.Y}}
		switch s.Kind {
		case "line":
			corners = append(corners, point{s.W, s.H})
		case "rect":
			corners = append(corners, point{s.X + s.W, s.Y + s.H})
		case "path":
			corners = pathPoints(t, s.D)
		}
		for _, c := range corners {
			if !(c.x >= -1 && c.x <= d.W+1 && c.y >= -1 && c.y <= d.H+1) {
				t.Errorf("%s: %s %q at %v, %v is outside %v × %v", d.Title, s.Kind, s.Class, c.x, c.y, d.W, d.H)
			}
		}
	}
}

// pathPoints reads the numbers of a path; a number that is none ends up outside.
func pathPoints(t failer, d string) []point {
	var points []point
	last := point{}
	for _, part := range strings.FieldsFunc(strings.NewReplacer("M", ";", "L", ";", "H", ";H", "V", ";V").Replace(d), func(r rune) bool { return r == ';' }) {
		switch part[0] {
		case 'H':
			last.x = coordinate(t, part[1:])
		case 'V':
			last.y = coordinate(t, part[1:])
		default:
			x, y, _ := strings.Cut(part, " ")
			last = point{coordinate(t, x), coordinate(t, y)}
		}
		points = append(points, last)
	}
	return points
}

func coordinate(t failer, s string) px {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) {
		t.Errorf("path has %q", s)
	}
	return px(f)
}

// The check above must be able to fail.
func TestShapesOutsideAreSeen(t *testing.T) {
	for _, d := range []*drawing{
		{W: 10, H: 10, Shapes: []shape{{Kind: "circle", X: 20, Y: 5}}},
		{W: 10, H: 10, Shapes: []shape{{Kind: "rect", X: 5, Y: 5, W: 20, H: 1}}},
		{W: 10, H: 10, Shapes: []shape{{Kind: "line", X: 5, Y: 5, W: 5, H: px(math.NaN())}}},
		{W: 10, H: 10, Shapes: []shape{{Kind: "path", D: "M1 1H20V3"}}},
		{W: 10, H: 10, Shapes: []shape{{Kind: "path", D: "M1 1LNaN 2"}}},
	} {
		var seen counter
		checkShapes(&seen, d)
		if seen == 0 {
			t.Errorf("%+v: not seen", d.Shapes)
		}
	}
}

type counter int

func (c *counter) Errorf(string, ...any) { *c++ }

// The instance timeline has one hatched bar for every start in view and one solid one for every request.
func TestTimelineHasABarForEveryStartAndRequest(t *testing.T) {
	v := fixtureVerification()
	p := pairs(v.Runs)[1]
	for i, want := range []struct {
		class string
		n     int
	}{{"bar-busy kind-cold", 18}, {"bar-busy kind-queued", 18}} {
		d := instanceDrawing(p, p.Cells[i])
		if got := classes(d, want.class); got != want.n {
			t.Errorf("%s: %d bars %q, want %d", d.Title, got, want.class, want.n)
		}
		if got := classes(d, "bar-starting"); got != 18 {
			t.Errorf("%s: %d starts, want 18", d.Title, got)
		}
		if got := classes(d, "bar-busy kind-warm"); got != 2 {
			t.Errorf("%s: %d warm requests, want 2", d.Title, got)
		}
	}
}

func TestLadderDrawsEveryValue(t *testing.T) {
	d := ladderDrawing(fixtureVerification().Ladder)
	for _, class := range []string{"hollow before", "solid before", "hollow after", "solid after"} {
		if got := classes(d, class); got != 20 {
			t.Errorf("%d marks %q, want 20", got, class)
		}
	}
	if got := classes(d, "aside"); got != 2 {
		t.Errorf("%d rows are marked as not asserted, want 2", got)
	}
}

func classes(d *drawing, class string) (n int) {
	for _, s := range d.Shapes {
		if s.Class == class {
			n++
		}
	}
	return n
}

func TestDescriptionsStateTheFinding(t *testing.T) {
	v := fixtureVerification()
	ramp, burst := pairs(v.Runs)[0], pairs(v.Runs)[1]
	for _, row := range []struct{ why, got, want string }{
		{"the ladder", ladderDrawing(v.Ladder).Desc,
			"Before, the slowest request of the burst took 2.98 s (documented 2.96 s). After, it took 1.01 s (documented 1.35 s)."},
		{"the ladder of one side", ladderDrawing(fixtureLadder(nil, &v.Runs[3])).Desc, "After, it took 1.01 s (documented 1.35 s)."},
		{"the windows", windowDrawing(ramp, windowStatistics[0]).Desc, "Largest mean after the first window: before (fc-bound) 1.29 s, after (fc-race) 162 ms."},
		{"the instances", instanceDrawing(burst, burst.Cells[1]).Desc,
			"20 starts, at most 20 instances alive, 18 starting, 2 busy and 18 requests waiting at once; enlarged: 29.75 to 33.23 s."},
		{"the percentiles", percentileDrawing(burst, burst.Cells[1]).Desc,
			"warm: median 109 ms, largest 120 ms of 12; queued: median 607 ms, largest 1.01 s of 18; cold: median 2.89 s, largest 2.91 s of 2."},
		{"the send lag", lagDrawing(burst, burst.Cells[1]).Desc, "Requests left late by 185 us at the median, 382 us at p99 and 382 us at most (n=32)."},
		{"a run in which nothing succeeded", percentileDrawing(pair{Cells: []cell{{Run: &analysis.Run{}}}}, cell{Run: &analysis.Run{}}).Desc, "No request succeeded."},
	} {
		if row.got != row.want {
			t.Errorf("%s says %q, want %q", row.why, row.got, row.want)
		}
	}
}

// outline is what a page shows, without where and in which colour: headings, captions, keys, tables and notes.
func outline(doc *html.Node) string {
	var b strings.Builder
	for _, n := range elements(doc, named("h1", "h2", "p", "figcaption", "caption", "li", "summary", "tr", "dt", "dd")) {
		text := strings.Join(strings.Fields(textOf(n)), " ")
		if n.Data == "tr" {
			var cells []string
			for _, c := range elements(n, named("th", "td")) {
				cells = append(cells, strings.Join(strings.Fields(textOf(c)), " "))
			}
			text = strings.Join(cells, " | ")
		}
		b.WriteString(n.Data + "\t" + text + "\n")
	}
	return b.String()
}

func TestPageOutlineGolden(t *testing.T) {
	golden(t, "verify.outline.txt", []byte(outline(parseHTML(t, verificationHTML(t, fixtureVerification())))))
	golden(t, "run.outline.txt", []byte(outline(parseHTML(t, singleHTML(t, fixtureSingle())))))
}
