package patterns

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/workload"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		why, text string
		want      Pattern
		name      string // canonical text; empty: the text
	}{
		{"block form", "kind: waves\nsizes:\n  - 1\n  - 2\ngap: 10s\n", Waves{[]int{1, 2}, 10 * second}, "{kind: waves, sizes: [1, 2], gap: 10s}"},
		{"flow form", "{kind: waves, sizes: [1, 2], gap: 10s}", Waves{[]int{1, 2}, 10 * second}, ""},
		{"keys in any order, quotes, comments, a document marker", "---\n# c\ngap: '1500ms' # c\nsizes: [0x10]\nkind: \"waves\"\n", Waves{[]int{16}, 1500 * ms}, "{kind: waves, sizes: [16], gap: 1.5s}"},
		{"the line ends and the mark of another system", "\ufeffkind: waves\r\nsizes: [1_000]\r\ngap: 1s\r\n", Waves{[]int{1000}, second}, "{kind: waves, sizes: [1000], gap: 1s}"},
		{"a burst", "{kind: burst, steady: 2, burst: 20, before: 3, after: 3, gap: 10s}", Burst{Steady: 2, Burst: 20, Before: 3, After: 3, Gap: 10 * second}, ""},
		{"a shifted burst", "{kind: burst, steady: 2, burst: 20, before: 3, after: 3, gap: 10s, shift: 42.2ms, shift_after: 2}",
			Burst{2, 20, 3, 3, 10 * second, 42200 * time.Microsecond, 2}, ""},
		{"the steady wave stays in time by default", "{kind: burst, steady: 5, burst: 20, before: 0, after: 0, gap: 10s, shift: 5us}",
			Burst{5, 20, 0, 0, 10 * second, 5000, 5}, "{kind: burst, steady: 5, burst: 20, before: 0, after: 0, gap: 10s, shift: 5us, shift_after: 5}"},
		{"constant by duration", "{kind: constant, rate: 6/m, duration: 1m}", Constant{Rate: Rate{6, time.Minute}, Duration: time.Minute}, ""},
		{"constant by number", "{kind: constant, rate: 3/7s, requests: 50}", Constant{Rate: Rate{3, 7 * second}, Requests: 50}, ""},
		{"constant by both", "{kind: constant, requests: 50, duration: 1h}", Constant{Rate: Rate{50, time.Hour}, Duration: time.Hour}, "{kind: constant, rate: 50/h, duration: 1h}"},
		{"ramp from zero", "{kind: ramp, from: 0/s, to: 2.5/s, duration: 90s}", Ramp{Rate{0, second}, Rate{25, 10 * second}, 90 * second}, "{kind: ramp, from: 0/s, to: 25/10s, duration: 1m30s}"},
		{"poisson by duration", "{kind: poisson, rate: 100/s, duration: 2h}", Poisson{Rate: Rate{100, second}, Duration: 2 * time.Hour}, ""},
		{"poisson by number", "{kind: poisson, rate: 100/s, requests: 7}", Poisson{Rate: Rate{100, second}, Requests: 7}, ""},
	} {
		got, err := Parse("p.yaml", []byte(c.text))
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: Parse(%q) = %v (-want +got):\n%s", c.why, c.text, err, diff)
			continue
		}
		name := c.name
		if name == "" {
			name = c.text
		}
		if got.String() != name {
			t.Errorf("%s: Parse(%q).String() = %q, want %q", c.why, c.text, got, name)
		}
		if again, err := Parse("p.yaml", []byte(got.String())); err != nil || cmp.Diff(got, again) != "" {
			t.Errorf("%s: Parse(%q) = %v, %v, want the same pattern", c.why, got.String(), again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const kinds = "the kinds are waves, burst, steps, groups, constant, ramp, poisson"
	const example = "write a kind and its keys, such as {kind: waves, sizes: [1, 2, 4], gap: 10s}"
	for _, c := range []struct{ why, text, want string }{
		// The text as a whole.
		{"empty", "", "1:1: the pattern is empty; " + example},
		{"only a comment", "# nothing\n", "1:1: the pattern is empty; " + example},
		{"a list", "- kind: waves\n", "1:1: the pattern is a list; " + example},
		{"a word", "waves", "1:1: the pattern is a text; " + example},
		{"two documents", "{kind: waves, sizes: [1], gap: 1s}\n---\n{kind: waves}\n", "3:1: a second document begins here; keep one"},
		{"a key that is no word", "1: x\n", "1:1: a key cannot be a number; write a plain word"},
		{"a merge key", "<<: {kind: waves}\n", "1:1: a key cannot be a special key; write a plain word"},
		{"an unclosed list", "kind: waves\nsizes: [1, 2\ngap: 1s\n", "3:1: ',' or ']' must be specified; write it as YAML, one key to a line"},
		{"a tab", "\tkind: waves\n", "1:5: tab character cannot use as a map key directly; write it as YAML, one key to a line"},
		{"a repeated key", "kind: waves\nsizes: [1]\ngap: 1s\nsizes: [2]\n", "4:1: mapping key \"sizes\" already defined at [2:1]; give each key once"},
		{"nested without end", "kind: " + strings.Repeat("[", 40), "1:23: the text is nested too deep; " + example},
		{"lists of lists", strings.Repeat("- ", 40), "1:33: the text is nested too deep; " + example},
		{"longer than the limit", strings.Repeat("#", 65537), "text of 65537 bytes is above the limit; give at most 65536 bytes"},
		// The kind.
		{"no kind", "\nsizes: [1]\ngap: 1s\n", "2:1: key kind is missing; " + kinds},
		{"a mistyped kind", "kind: wave\nsizes: [1]\n", "1:7: unknown kind \"wave\", did you mean \"waves\"?; " + kinds},
		{"an unknown kind", "kind: sinusoid\n", "1:7: unknown kind \"sinusoid\"; " + kinds},
		{"a kind with control bytes", "kind: \"a\\e[31m\"\n", "1:7: unknown kind \"a\\x1b[31m\"; " + kinds},
		{"a kind without value", "kind:\n", "1:7: kind is empty and must be a word; write a word"},
		{"a kind that is a list", "kind: [waves]\n", "1:7: kind is a list and must be a word; write a word"},
		// Keys.
		{"an unknown key", "kind: constant\nratee: 5/s\nduration: 1s\n", "2:1: unknown key \"ratee\", did you mean \"rate\"?; the keys of constant are rate, duration, requests"},
		{"a key of another kind", "kind: waves\nsizes: [1]\ngap: 1s\nrate: 5/s\n", "4:1: unknown key \"rate\"; the keys of waves are sizes, gap"},
		{"a missing key has the place of the kind", "\nkind: waves\nsizes: [1]\n", "2:7: key gap is missing; add it"},
		{"a missing list", "kind: waves\ngap: 1s\n", "1:7: key sizes is missing; add it"},
		{"an alias", "kind: waves\nsizes: [1]\ngap: *g\n", "3:6: gap is a reference and must be a duration such as 10s; write a duration such as 10s"},
		// Types.
		{"a duration without unit", "kind: waves\nsizes: [1]\ngap: 10\n", "3:6: gap \"10\" is no duration; write 10s for seconds"},
		{"a duration that is none", "kind: waves\nsizes: [1]\ngap: soon\n", "3:6: gap \"soon\" is no duration; write it as in 10s, 250ms or 1m30s"},
		{"a duration with a comma", "kind: waves\nsizes: [1]\ngap: 1,5s\n", "3:6: gap \"1,5s\" is no duration; write it as in 10s, 250ms or 1m30s"},
		{"a duration that is a list", "kind: waves\nsizes: [1]\ngap: [1s]\n", "3:6: gap is a list and must be a duration such as 10s; write a duration such as 10s"},
		{"sizes that are a number", "kind: waves\nsizes: 4\ngap: 1s\n", "2:8: sizes is a number and must be a list of whole numbers; write a list, as in sizes: [1, 2, 4]"},
		{"a size that is a word", "kind: waves\nsizes: [1, two]\ngap: 1s\n", "2:12: sizes: \"two\" is no whole number in range; write digits only, as in 20"},
		{"a size that is a fraction", "kind: waves\nsizes: [1.5]\ngap: 1s\n", "2:9: sizes: \"1.5\" is no whole number in range; write digits only, as in 20"},
		{"a size beyond 64 bits", "kind: waves\nsizes: [18446744073709551615]\ngap: 1s\n", "2:9: sizes: \"18446744073709551615\" is no whole number in range; write digits only, as in 20"},
		{"a leading zero, which YAML takes for base 8", "kind: waves\nsizes: [010]\ngap: 1s\n", "2:9: sizes: \"010\" is no whole number in range; write digits only, as in 20"},
		{"a truth value", "kind: waves\nsizes: [true]\ngap: 1s\n", "2:9: sizes: \"true\" is no whole number in range; write digits only, as in 20"},
		{"the line ends of another system", "kind: waves\r\nsizes: [0]\r\ngap: 1s\r\n", "2:9: wave 0: size 0 must be at least 1; give a whole number from 1 on"},
		{"a list in the list", "kind: waves\nsizes: [[1]]\ngap: 1s\n", "2:9: sizes: a list is no whole number in range; write digits only, as in 20"},
		{"a number that is a duration", "kind: burst\nsteady: 2s\nburst: 3\nbefore: 0\nafter: 0\ngap: 1s\n", "2:9: steady: \"2s\" is no whole number in range; write digits only, as in 20"},
		{"a rate without unit", "kind: constant\nrate: 100\nduration: 1s\n", "2:7: rate \"100\" has no unit of time; write 100/s for that many each second"},
		{"a rate that is a mapping", "kind: constant\nrate: {a: b}\nduration: 1s\n", "2:7: rate is a mapping and must be a rate such as 100/s; write a rate such as 100/s"},
		// Values.
		{"no waves", "kind: waves\nsizes: []\ngap: 1s\n", "2:8: sizes is empty; give the size of at least one wave, as in sizes: [1, 2, 4]"},
		{"an empty wave", "kind: waves\nsizes: [1, 0, 2]\ngap: 1s\n", "2:12: wave 1: size 0 must be at least 1; give a whole number from 1 on"},
		{"a negative wave", "kind: waves\nsizes:\n  - 3\n  - -1\ngap: 1s\n", "4:5: wave 1: size -1 must be at least 1; give a whole number from 1 on"},
		{"a huge wave", "kind: waves\nsizes: [5000001]\ngap: 1s\n", "2:9: wave 0: size 5000001 is above the limit; give at most 5000000"},
		{"no gap", "kind: waves\nsizes: [1]\ngap: 0s\n", "3:6: gap 0s must be above 0; give a duration above 0, such as 10s"},
		{"a negative gap", "kind: waves\nsizes: [1]\ngap: -10s\n", "3:6: gap -10s must be above 0; give a duration above 0, such as 10s"},
		{"a gap that makes the pattern too long", "kind: waves\nsizes: [1, 1]\ngap: 361h\n", "3:6: gap 361h is above the limit; give at most 360h"},
		{"a negative number of waves", "{kind: burst, steady: 2, burst: 3, before: -1, after: 0, gap: 1s}", "1:44: before -1 must be at least 0; give a whole number from 0 on"},
		{"too many waves", "{kind: burst, steady: 2, burst: 3, before: 10000, after: 1, gap: 1s}", "1:58: after 1 is above the limit; give at most 0"},
		{"an empty burst", "{kind: burst, steady: 2, burst: 0, before: 1, after: 0, gap: 1s}", "1:33: burst 0 must be at least 1; give a whole number from 1 on"},
		{"a shift as long as the gap", "{kind: burst, steady: 2, burst: 3, before: 1, after: 0, gap: 1s, shift: 1s}", "1:73: shift 1s must lie between two waves; give a duration from 0 to below the gap of 1s"},
		{"a negative shift", "{kind: burst, steady: 2, burst: 3, before: 1, after: 0, gap: 1s, shift: -1s}", "1:73: shift -1s must be above 0; give a duration above 0, such as 10s"},
		{"more unshifted requests than there are", "{kind: burst, steady: 2, burst: 3, before: 1, after: 0, gap: 1s, shift: 1ms, shift_after: 4}", "1:91: shift_after 4 is no part of the burst; give a number from 0 to the burst of 3"},
		{"nothing to shift", "{kind: burst, steady: 2, burst: 3, before: 1, after: 0, gap: 1s, shift_after: 2}", "1:79: shift_after needs shift; add shift or leave shift_after out"},
		{"a negative rate", "{kind: constant, rate: -3/s, duration: 1s}", "1:24: rate \"-3/s\" is negative; give a rate above 0"},
		{"no rate", "{kind: constant, rate: 0/s, duration: 1s}", "1:24: rate 0/s must be above 0; give a rate above 0, such as 100/s"},
		{"a huge rate", "{kind: poisson, rate: 1000001/s, duration: 1s}", "1:23: rate 1000001/s is above the limit; give at most 1000000/s"},
		{"a huge rate in few words", "{kind: constant, rate: 9223372036854775807/ns, duration: 1s}", "1:24: rate 9223372036854775807/ns is above the limit; give at most 1000000/s"},
		{"no end", "{kind: constant, rate: 3/s}", "1:8: key duration is missing; add it"},
		{"no rate and one end", "{kind: constant, requests: 3}", "1:8: key rate is missing; add it"},
		{"all three", "{kind: constant, rate: 3/s, duration: 1s, requests: 3}", "1:53: rate, duration and requests are all given; leave one of rate, duration and requests out"},
		{"two ends", "{kind: poisson, rate: 3/s, duration: 1s, requests: 3}", "1:52: duration and requests are both given; leave one of them out"},
		{"no requests", "{kind: constant, rate: 3/s, requests: 0}", "1:39: requests 0 must be at least 1; give a whole number from 1 on"},
		{"negative requests", "{kind: poisson, rate: 3/s, requests: -2}", "1:38: requests -2 must be at least 1; give a whole number from 1 on"},
		{"negative requests in a duration", "{kind: constant, duration: 1s, requests: -2}", "1:42: requests -2 must be at least 1; give a whole number from 1 on"},
		{"too many requests", "{kind: constant, rate: 3/s, requests: 5000001}", "1:39: requests 5000001 is above the limit; give at most 5000000"},
		{"requests that take too long", "{kind: constant, rate: 1/h, requests: 721}", "1:8: duration of 721 requests at 1/h is above the limit; give at most 720h"},
		{"too long", "{kind: constant, rate: 1/h, duration: 721h}", "1:39: duration 721h is above the limit; give at most 720h"},
		{"beyond 64 bits", "{kind: constant, rate: 1/h, duration: 9999999h}", "1:39: duration \"9999999h\" is no duration; write it as in 10s, 250ms or 1m30s"},
		{"a flat ramp on the ground", "{kind: ramp, from: 0/s, to: 0/s, duration: 1s}", "1:29: from and to are both 0; give a rate above 0, such as 100/s"},
		{"a negative end of a ramp", "{kind: ramp, from: 1/s, to: -1/s, duration: 1s}", "1:29: to \"-1/s\" is negative; give a rate above 0"},
		{"a huge end of a ramp", "{kind: ramp, from: 1/s, to: 2/us, duration: 1s}", "1:29: to 2/us is above the limit; give at most 1000000/s"},
	} {
		p, err := Parse("p.yaml", []byte(c.text))
		want := "p.yaml:" + c.want
		if strings.HasPrefix(c.want, "text") {
			want = "p.yaml: " + c.want // no place
		}
		if p != nil || err == nil || err.Error() != want {
			t.Errorf("%s: Parse(%.80q) = %v, error\n  %v, want\n  %s", c.why, c.text, p, err, want)
			continue
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: the error is a %T, want an *Error", c.why, err)
		}
		if got, want := errors.Is(err, ErrLimit), strings.Contains(c.want, "above the limit"); got != want {
			t.Errorf("%s: is ErrLimit = %v, want %v", c.why, got, want)
		}
	}
}

// Each limit can be set, is inclusive, and is named by ErrLimit.
func TestLimitsAreSet(t *testing.T) {
	for _, c := range []struct {
		text     string
		at, less Limits
	}{
		{"{kind: constant, rate: 5/s, duration: 1s}", Limits{Rate: 5}, Limits{Rate: 4}},
		{"{kind: ramp, from: 1/s, to: 5/s, duration: 1s}", Limits{Rate: 5}, Limits{Rate: 4}},
		{"{kind: poisson, rate: 5/s, duration: 1s}", Limits{Duration: second}, Limits{Duration: second - 1}},
		{"{kind: constant, rate: 5/s, requests: 10}", Limits{Duration: 2 * second}, Limits{Duration: 2*second - 1}},
		{"{kind: waves, sizes: [1, 2], gap: 1s}", Limits{Duration: 2 * second}, Limits{Duration: 2*second - 1}},
		{"{kind: burst, steady: 1, burst: 2, before: 1, after: 1, gap: 1s}", Limits{Duration: 3 * second}, Limits{Duration: 3*second - 1}},
		{"{kind: poisson, rate: 5/s, requests: 9}", Limits{Requests: 9}, Limits{Requests: 8}},
		{"{kind: waves, sizes: [1, 9], gap: 1s}", Limits{Requests: 9}, Limits{Requests: 8}},
		{"{kind: burst, steady: 9, burst: 2, before: 1, after: 1, gap: 1s}", Limits{Requests: 9}, Limits{Requests: 8}},
		{"{kind: burst, steady: 1, burst: 9, before: 1, after: 1, gap: 1s}", Limits{Requests: 9}, Limits{Requests: 8}},
		{"{kind: waves, sizes: [1, 1, 1], gap: 1s}", Limits{Waves: 3}, Limits{Waves: 2}},
		{"{kind: waves, sizes: [1], gap: 1s}", Limits{Source: 34}, Limits{Source: 33}},
	} {
		if _, err := c.at.Parse("p", []byte(c.text)); err != nil {
			t.Errorf("%+v.Parse(%q) = %v, want none", c.at, c.text, err)
		}
		if _, err := c.less.Parse("p", []byte(c.text)); !errors.Is(err, ErrLimit) {
			t.Errorf("%+v.Parse(%q) = %v, want ErrLimit", c.less, c.text, err)
		}
	}
}

// Every kind is read by its own example, and lists the keys that it reads.
func TestKinds(t *testing.T) {
	for _, k := range Kinds() {
		p := must(t, k.Example)
		if p.String() != k.Example || k.Summary == "" {
			t.Errorf("kind %s: the example %q reads as %q", k.Name, k.Example, p)
		}
		for _, key := range k.Keys {
			// A key of the list is not unknown, whatever its value is worth.
			_, err := Parse("p", fmt.Appendf(nil, "{kind: %s, %s: [x]}", k.Name, key))
			if err == nil || strings.Contains(err.Error(), "unknown") {
				t.Errorf("kind %s, key %s: %v", k.Name, key, err)
			}
		}
	}
}

// FuzzParse: a text is refused in one line, or gives a pattern that passes its check, reads back from its own text to the
// same arrivals, and keeps to its length.
func FuzzParse(f *testing.F) {
	for _, k := range Kinds() {
		f.Add([]byte(k.Example))
	}
	for _, e := range All() {
		f.Add([]byte(e.Text))
	}
	for _, s := range []string{"kind: &a waves\nsizes: *a", "? kind\n: waves", "kind: |\n  waves", "{", "kind: !!int waves", "a:\n- b\n -c"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := Parse("f.yaml", src)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || strings.ContainsAny(err.Error(), "\n\r\x1b") || e.What == "" || e.Do == "" {
				t.Fatalf("Parse(%q) = %q, want an *Error in one line", src, err)
			}
			if e.Line < 1 || e.Column < 1 || e.Line > bytes.Count(src, []byte("\n"))+bytes.Count(src, []byte("\r"))+2 {
				t.Fatalf("Parse(%q) = %v, want a place in the text", src, err)
			}
			return
		}
		if err := p.Check(Limits{}); err != nil {
			t.Fatalf("Parse(%q) = %v, which fails its check: %v", src, p, err)
		}
		again, err := Parse("again.yaml", []byte(p.String()))
		if err != nil || again.String() != p.String() {
			t.Fatalf("Parse(%q) = %v, %v, want the pattern of %q", p, again, err, src)
		}
		if a, b := firstArrivals(t, p), firstArrivals(t, again); cmp.Diff(a, b) != "" {
			t.Fatalf("%q and %q differ:\n%s", src, p, cmp.Diff(a, b))
		}
	})
}

// firstArrivals draws up to 200 and checks what Build would check.
func firstArrivals(t *testing.T, p Pattern) []workload.Arrival {
	source := workload.Source{Process: few{p}, Demands: nothing{}, Seed: 1}
	s, err := workload.Build(source)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	return s.Arrivals
}
