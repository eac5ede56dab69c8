package spell

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"constant", "ramp", "rate", "poisson", "waves"}
	for _, c := range []struct{ why, word, want string }{
		{"one letter too many", "ratee", "rate"},
		{"one letter missing", "wavs", "waves"},
		{"two letters swapped", "possion", "poisson"},
		{"the first of two equally near ones", "rampe", "ramp"},
		{"a third of a long word", "konztannt", "constant"},
		{"nothing like it", "burst", ""},
		{"the name itself", "ramp", "ramp"},
		{"an empty word is near to nothing longer than two letters", "", ""},
	} {
		if got := Nearest(c.word, names); got != c.want {
			t.Errorf("%s: Nearest(%q) = %q, want %q", c.why, c.word, got, c.want)
		}
	}
}

func TestHint(t *testing.T) {
	if got, want := Hint("ratee", []string{"rate"}), `, did you mean "rate"?`; got != want {
		t.Errorf("Hint(ratee) = %q, want %q", got, want)
	}
	if got := Hint("xxxxxx", []string{"rate"}); got != "" {
		t.Errorf("Hint(xxxxxx) = %q, want none", got)
	}
}

// FuzzEdits holds the distance to the laws of a metric.
func FuzzEdits(f *testing.F) {
	f.Add("kitten", "sitting", "mitten")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if len(a)+len(b)+len(c) > 300 {
			t.Skip("the time is the product of the lengths")
		}
		ab, ba := edits(a, b), edits(b, a)
		if ab != ba {
			t.Errorf("edits(%q, %q) = %d, backwards %d", a, b, ab, ba)
		}
		if (ab == 0) != (a == b) {
			t.Errorf("edits(%q, %q) = %d", a, b, ab)
		}
		if way := edits(a, c) + edits(c, b); ab > way {
			t.Errorf("edits(%q, %q) = %d, over %q only %d", a, b, ab, c, way)
		}
		if n := max(len(a), len(b)); ab > n {
			t.Errorf("edits(%q, %q) = %d, above %d", a, b, ab, n)
		}
		if strings.Contains(a, b) && ab != len(a)-len(b) {
			t.Errorf("edits(%q, %q) = %d, want %d deletions", a, b, ab, len(a)-len(b))
		}
	})
}

func TestEdits(t *testing.T) {
	if got := edits("kitten", "sitting"); got != 3 {
		t.Errorf("edits(kitten, sitting) = %d, want 3", got)
	}
}
