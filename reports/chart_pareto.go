package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A mark is one candidate in the picture of the front.
type mark struct {
	point
	class string
	label string
	tip   string
	reach [2]point // ends of both intervals, if they are known: x low, y low; x high, y high
	known bool
	front bool
}

// labelsMost is how many marks there are at most for all to be named and have their intervals; else only the front does.
const labelsMost = 16

// frontDrawing draws all candidates by instance-seconds and response time, and the front as a line of steps: what lies
// above and to the right of it is beaten by one of it.
func frontDrawing(s *Standings, of *Setting) *drawing {
	name := statistic(s.Latency)
	d := &drawing{W: 980, H: 440, Title: "Pareto front: " + name + " response time against instance-seconds", Desc: frontSentence(s)}
	p := panel{d, costAxis(s), latencyAxis(s)}
	p.grid("instance-seconds"+logText(p.x), name+" response time"+logText(p.y), tickNumber, tickTime, 8)
	marks := p.marks(s, of)
	var front []point
	for _, m := range marks {
		if m.front {
			front = append(front, m.point)
		}
	}
	slices.SortStableFunc(front, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	d.path("curve front", steps(front))
	for _, m := range marks {
		p.whiskers(m)
	}
	for _, m := range slices.Backward(marks) { // the front above the others
		d.mark(m)
	}
	d.name(marks, lines(marks, front))
	return d
}

// lines are the places of whiskers and of the front, which names keep clear of.
func lines(marks []mark, front []point) []box {
	var all []box
	for _, m := range marks {
		if m.known {
			all = append(all, box{m.reach[0].x, m.y - 1, m.reach[1].x, m.y + 1}, box{m.x - 1, m.reach[1].y, m.x + 1, m.reach[0].y})
		}
	}
	for i := 1; i < len(front); i++ {
		a, b := front[i-1], front[i]
		all = append(all, box{a.x, a.y - 1, b.x, a.y + 1}, box{b.x - 1, a.y, b.x + 1, b.y})
	}
	return all
}

func logText(a axis) string {
	if a.log {
		return ", logarithmic"
	}
	return ""
}

// axisOf is logarithmic where the values differ by much, else it begins a little below the lowest.
func axisOf(lo, hi float64, from, to px) axis {
	const much = 5
	if lo > 0 && hi/lo >= much {
		return logarithmic(lo, hi, from, to)
	}
	pad := (hi - lo) / 8
	if pad == 0 {
		pad = max(hi/8, 1)
	}
	return linear(max(0, lo-pad), hi+pad, from, to)
}

func costAxis(s *Standings) axis {
	lo, hi := s.ends(s.Cost.Name)
	return axisOf(lo/1e9, hi/1e9, 66, 950)
}

func latencyAxis(s *Standings) axis {
	lo, hi := s.ends(s.Latency.Name)
	return axisOf(lo/1e6, hi/1e6, 392, 30)
}

// ends spans a metric with its intervals, in nanoseconds.
func (s *Standings) ends(name string) (lo, hi float64) {
	lo = math.Inf(1)
	for i := range s.All {
		if m := s.All[i].spread(name); m.N > 0 {
			lo, hi = min(lo, float64(m.Median)), max(hi, float64(m.Median))
			if m.MedianIn.OK {
				lo, hi = min(lo, m.MedianIn.Low), max(hi, m.MedianIn.High)
			}
		}
	}
	if math.IsInf(lo, 1) {
		return 0, 0
	}
	return lo, hi
}

// marks places the candidates that have both numbers, the front first.
func (p panel) marks(s *Standings, of *Setting) []mark {
	var all []mark
	for _, i := range s.frontOrder() {
		one := &s.All[i]
		l, c := one.spread(s.Latency.Name), one.spread(s.Cost.Name)
		if l.N == 0 || c.N == 0 {
			continue
		}
		at := func(cost, latency float64) point { return point{p.x.at(cost / 1e9), p.y.at(latency / 1e6)} }
		m := mark{point: at(float64(c.Median), float64(l.Median)), class: markClass(s, i), label: s.label(i), front: one.Place.Front && i != s.Oracle}
		m.known = l.MedianIn.OK && c.MedianIn.OK && (m.front || i == s.Oracle || len(s.All) <= labelsMost)
		if m.known {
			m.reach = [2]point{at(c.MedianIn.Low, l.MedianIn.Low), at(c.MedianIn.High, l.MedianIn.High)}
		}
		word, _ := placeText(s, i)
		m.tip = fmt.Sprintf("%s (%s): %s %s, %s instance-seconds%s", s.name(i), word, statistic(s.Latency), duration(time.Duration(l.Median)),
			significant(float64(c.Median)/1e9), mediansText(of))
		all = append(all, m)
	}
	return all
}

// label is what a mark is called in the picture: the values alone, where there are several.
func (s *Standings) label(i int) string {
	if len(s.Columns) > 1 && i != s.Oracle {
		return strings.Join(s.All[i].Labels, slash)
	}
	return s.name(i)
}

// slash stands between the values of a label.
const slash = " / "

// labelNote says what the values of labels are.
func (s *Standings) labelNote() string {
	if len(s.Columns) < 2 {
		return ""
	}
	return "Names in the picture: " + strings.Join(s.Columns, slash) + "."
}

func markClass(s *Standings, i int) string {
	switch p := s.All[i].Place; {
	case i == s.Oracle:
		return "mark-best"
	case !p.OK:
		return "mark-aside"
	case p.Front:
		return "mark-front"
	}
	return "mark-behind"
}

var frontKeys = []key{
	{"diamond mark-best", "the oracle: best possible"}, {"disc mark-front", "on the front"}, {"hollow mark-behind", "behind it"},
	{"cross mark-aside", "aside: did not serve its requests"},
}

// whiskers draws the intervals of both medians.
func (p panel) whiskers(m mark) {
	if m.known {
		p.line("whisker "+m.class, m.reach[0].x, m.y, m.reach[1].x, m.y)
		p.line("whisker "+m.class, m.x, m.reach[0].y, m.x, m.reach[1].y)
	}
}

// mark draws one candidate: shape and colour both say where it stands.
func (d *drawing) mark(m mark) {
	const r = 5
	switch x, y := m.x, m.y; m.class {
	case "mark-front":
		d.circle(m.class, x, y, r, "")
	case "mark-best":
		d.path(m.class, polyline([]point{{x, y - 7}, {x + 7, y}, {x, y + 7}, {x - 7, y}, {x, y - 7}}))
	case "mark-aside":
		d.path(m.class, polyline([]point{{x - r, y - r}, {x + r, y + r}})+polyline([]point{{x - r, y + r}, {x + r, y - r}}))
	default:
		d.rect(m.class, x-r+0.5, y-r+0.5, 2*r-1, 2*r-1, "")
	}
	d.circle("tip", m.x, m.y, 8, m.tip)
}

// A box is the place of a text or of a mark.
type box struct{ left, top, right, bottom px }

func (b box) meets(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// A spot is a place for a name beside its mark.
type spot struct {
	dx, dy px
	anchor string
}

var spots = []spot{{9, 4, "start"}, {-9, 4, "end"}, {0, -11, "middle"}, {0, 20, "middle"}, {9, -9, "start"}, {-9, -9, "end"}, {9, 17, "start"},
	{-9, 17, "end"}, {9, -24, "start"}, {-9, -24, "end"}, {9, 32, "start"}, {-9, 32, "end"}, {0, -26, "middle"}, {0, 35, "middle"}}

// name writes the names of the front, and of the others while they are few, each at the first spot that is free. A name
// that finds none is left out: the mark tells it, and the table.
func (d *drawing) name(marks []mark, taken []box) {
	for _, m := range marks {
		taken = append(taken, box{m.x - 6, m.y - 6, m.x + 6, m.y + 6})
	}
	area := box{66, 24, d.W - 4, 392}
	named := map[string]bool{}
	for _, m := range marks {
		here := fmt.Sprint(m.point) // several may share a place
		if named[here] || !m.front && m.class != "mark-best" && len(marks) > labelsMost {
			continue
		}
		named[here] = true
		for _, at := range spots {
			b := m.nameBox(at)
			if area.holds(b) && !slices.ContainsFunc(taken, b.meets) {
				taken = append(taken, b)
				d.text("label "+m.class, at.anchor, m.x+at.dx, m.y+at.dy, m.label)
				break
			}
		}
	}
}

func (b box) holds(o box) bool {
	return o.left >= b.left && o.right <= b.right && o.top >= b.top && o.bottom <= b.bottom
}

// nameBox is the place that the name of a mark takes at a spot.
func (m mark) nameBox(at spot) box {
	const high, character = 11, 7.4
	wide := px(character * float64(len([]rune(m.label))))
	left := m.x + at.dx
	switch at.anchor {
	case "end":
		left -= wide
	case "middle":
		left -= wide / 2
	}
	return box{left, m.y + at.dy - high + 1, left + wide, m.y + at.dy + 2}
}

// frontSection is the picture of the front with its table, and the table over all.
func frontSection(s *Standings, of *Setting, order []int, rows int) section {
	return section{ID: "front", Title: "Pareto front", Keys: slices.DeleteFunc(slices.Clone(frontKeys), func(k key) bool {
		_, class, _ := strings.Cut(k.Class, " ")
		return !s.marked(class)
	}), Intro: "To the lower left is better. The line joins those that no other one beats in both numbers; bars are the intervals of the medians, where there are several seeds.",
		Figures: []*figure{
			{Drawing: frontDrawing(s, of), Note: s.labelNote(), Wide: true},
			{Tables: []grid{frontGrid(s, of, rows)}, Open: true, Wide: true},
			{Tables: []grid{overviewGrid(s, of, order, rows)}, Open: true, Wide: true},
		}}
}

// marked says whether any candidate has such a mark.
func (s *Standings) marked(class string) bool {
	for i := range s.All {
		if markClass(s, i) == class {
			return true
		}
	}
	return false
}
