package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrapBreaksAtBlanks(t *testing.T) {
	for _, row := range []struct {
		why   string
		text  string
		width int
		want  []string
	}{
		{"it fits", "one two", 7, []string{"one two"}},
		{"one character less", "one two", 6, []string{"one", "two"}},
		{"a longer word stays whole", "a loooooong b", 4, []string{"a", "loooooong", "b"}},
		{"blanks are one", "a   b", 10, []string{"a b"}},
		{"width is in characters, not bytes", "≥≥≥ ≤≤≤", 7, []string{"≥≥≥ ≤≤≤"}},
		{"wide characters count twice", "日本 日本", 8, []string{"日本", "日本"}},
		{"nothing is one empty line", "", 5, []string{""}},
	} {
		if diff := cmp.Diff(row.want, wrap(row.text, row.width)); diff != "" {
			t.Errorf("%s: wrap(%q, %d) (-want +got):\n%s", row.why, row.text, row.width, diff)
		}
	}
}

// table returns g as the given style writes it.
func table(t *testing.T, g grid, s Style) string {
	t.Helper()
	var b bytes.Buffer
	p := &printer{w: &b, style: s}
	p.grid(g)
	if p.err != nil {
		t.Fatal(p.err)
	}
	return strings.TrimLeft(b.String(), "\n")
}

func TestTable(t *testing.T) {
	numbers := []column{{Name: "name"}, {Name: "n", Number: true}}
	for _, row := range []struct {
		why  string
		grid grid
		s    Style
		want string
	}{
		{"numbers stand to the right", grid{Columns: numbers, Lines: []line{{Cells: []string{"a", "1"}}, {Cells: []string{"b", "100"}}}}, Style{},
			" name |   n\n------+-----\n a    |   1\n b    | 100\n"},
		{"headers stay as they are written", grid{Columns: []column{{Name: "p99 of w/q/c"}}, Lines: []line{{Cells: []string{"x"}}}}, Style{},
			" p99 of w/q/c\n--------------\n x\n"},
		{"a group's name stands over its first column", grid{Columns: []column{{Name: "n"}, {Name: "a", Group: "before"}, {Name: "b", Group: "before"}},
			Lines: []line{{Cells: []string{"1", "2", "3"}}}}, Style{},
			"   | before |\n n | a      | b\n---+--------+---\n 1 | 2      | 3\n"},
		{"prose is wrapped, its neighbours are not", grid{Columns: []column{{Name: "id"}, {Name: "text", Prose: true}},
			Lines: []line{{Cells: []string{"a-very-long-identifier-of-30-ch", "one two three four"}}}}, Style{Width: 46},
			" id                              | text\n---------------------------------+------------\n" +
				" a-very-long-identifier-of-30-ch | one two\n                                 | three four\n"},
		{"no line at all", grid{Columns: numbers}, Style{}, " name | n\n"},
		{"a missing cell is empty", grid{Columns: numbers, Lines: []line{{Cells: []string{"a"}}}}, Style{}, " name | n\n------+---\n a    |\n"},
		{"signs are ASCII in a pipe", grid{Columns: []column{{Name: "≥ 1"}}, Lines: []line{{Cells: []string{"2 × 3 − 1"}}}}, Style{},
			" >= 1\n-----------\n 2 x 3 - 1\n"},
		{"a name that comes from data is escaped", grid{Columns: []column{{Name: "a\x1b[2J", Group: "b\x07"}}, Lines: []line{{Cells: []string{"1"}}}}, Style{},
			" b\\x07\n a\\x1b[2J\n----------\n 1\n"},
		{"signs are themselves on a terminal", grid{Columns: []column{{Name: "≥ 1"}}, Lines: []line{{Cells: []string{"2 × 3 − 1"}}}}, Style{Unicode: true},
			" ≥ 1\n───────────\n 2 × 3 − 1\n"},
		{"the verdict alone is coloured", grid{Columns: []column{{Name: "id"}, {Name: "verdict", Verb: true}},
			Lines: []line{{Cells: []string{"x", "agrees"}, Tone: good}}}, Style{Color: true},
			" id | verdict\n----+---------\n x  | \x1b[32magrees\x1b[0m\n"},
		{"notes stand beneath", grid{Caption: "Title", Columns: []column{{Name: "n"}}, Notes: []string{"a note"}}, Style{}, "Title\n n\n a note\n"},
	} {
		if diff := cmp.Diff(row.want, table(t, row.grid, row.s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.why, diff)
		}
	}
}

func TestColourPaintsEachLineByItself(t *testing.T) {
	p := &printer{style: Style{Color: true}}
	if got, want := p.colour(bad, "a\nb"), "\x1b[1;31ma\x1b[0m\n\x1b[1;31mb\x1b[0m"; got != want {
		t.Errorf("colour = %q, want %q", got, want)
	}
	if got := p.colour(plain, "a"); got != "a" {
		t.Errorf("colour without a tone = %q", got)
	}
	p.style.Color = false
	if got := p.colour(bad, "a"); got != "a" {
		t.Errorf("colour where there are none = %q", got)
	}
}

func TestHangingParagraphs(t *testing.T) {
	for _, row := range []struct{ why, head, body, want string }{
		{"it fits on one line", "void  FR-1: ", "busy", "void  FR-1: busy\n"},
		{"further lines are indented", "void  FR-1: ", "the host was so busy that nothing can be said",
			"void  FR-1:\n    the host was so busy that nothing\n    can be said\n"},
	} {
		var b bytes.Buffer
		p := &printer{w: &b, style: Style{Width: 40}}
		p.hanging(row.head, row.body)
		if b.String() != row.want {
			t.Errorf("%s: hanging = %q, want %q", row.why, b.String(), row.want)
		}
	}
}

func TestWidthHasALeastAndADefault(t *testing.T) {
	for in, want := range map[int]int{0: widthDefault, 5: widthMin, -1: widthMin, 200: 200} {
		if got := (&printer{style: Style{Width: in}}).width(); got != want {
			t.Errorf("width of Style{Width: %d} = %d, want %d", in, got, want)
		}
	}
}
