package platform

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseLaw(t *testing.T) {
	for _, c := range []struct {
		text string
		want Law
		name string // canonical; empty: the text
	}{
		{"uniform", Uniform{1700 * ms, 3 * time.Second}, ""},
		{"uniform:1.7s-3s", Uniform{1700 * ms, 3 * time.Second}, "uniform"},
		{"uniform:5ms-20ms", Uniform{5 * ms, 20 * ms}, ""},
		{"uniform:5ms - 20ms", Uniform{5 * ms, 20 * ms}, "uniform:5ms-20ms"},
		{"documented", Documented(), ""},
		{"constant:2350ms", Constant(2350 * ms), "constant:2.35s"},
		{"constant:0s", Constant(0), ""},
		{"lognormal:median=2s,sigma=0.3", Lognormal{Median: 2 * time.Second, Sigma: 0.3}, ""},
		{"lognormal:sigma=1e-1,cap=10s,median=2s", Lognormal{2 * time.Second, 0.1, 10 * time.Second}, "lognormal:median=2s,sigma=0.1,cap=10s"},
		{"empirical:1s,2s", Empirical{Values: []time.Duration{time.Second, 2 * time.Second}}, ""},
		{"empirical:1s, 1s", Empirical{Values: []time.Duration{time.Second, time.Second}}, "empirical:1s,1s"},
	} {
		got, err := ParseLaw(c.text)
		if err != nil {
			t.Errorf("ParseLaw(%q) = %v", c.text, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("ParseLaw(%q) (-want +got):\n%s", c.text, diff)
		}
		name := c.name
		if name == "" {
			name = c.text
		}
		if got.Name() != name {
			t.Errorf("ParseLaw(%q).Name() = %q, want %q", c.text, got.Name(), name)
		}
	}
}

func TestParseLawRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `law "": no such law: the laws are uniform, documented, constant, lognormal, exponential, empirical`},
		{"unifrom", `law "unifrom": no such law, did you mean "uniform"?: the laws are uniform, documented, constant, lognormal, exponential, empirical`},
		{"weibull:2s", `law "weibull:2s": no such law: the laws are uniform, documented, constant, lognormal, exponential, empirical`},
		{"uniform:2s", `law "uniform:2s": no such law: "2s" is no range: write it as in uniform:1.7s-3s`},
		{"uniform:x-3s", `law "uniform:x-3s": no such law: "x" is no duration: write it as in 2350ms or 1.7s`},
		{"uniform:1s-", `law "uniform:1s-": no such law: "" is no duration: write it as in 2350ms or 1.7s`},
		{"uniform:3s-1s", `law "uniform:3s-1s": uniform from 3s to 1s: no such law: give 0 ≤ shortest ≤ longest`},
		{"documented:2", `law "documented:2": no such law: documented takes no numbers: leave out "2"`},
		{"constant", `law "constant": no such law: "" is no duration: write it as in 2350ms or 1.7s`},
		{"constant:2350", `law "constant:2350": no such law: "2350" is no duration: write it as in 2350ms or 1.7s`},
		{"constant:-1s", `law "constant:-1s": constant -1s: no such law: give 0 or more`},
		{"lognormal", `law "lognormal": no such law: unknown part "": the parts are median, sigma and cap`},
		{"lognormal:median=2s", `law "lognormal:median=2s": no such law: it needs median and sigma: write it as in lognormal:median=2s,sigma=0.3`},
		{"lognormal:median=2s,median=3s", `law "lognormal:median=2s,median=3s": no such law: "median" comes twice: give it once`},
		{"lognormal:median=2s,sigma=wide", `law "lognormal:median=2s,sigma=wide": no such law: sigma "wide" is no number: write it as in sigma=0.3`},
		{"lognormal:median=2s,sigma=NaN", `law "lognormal:median=2s,sigma=NaN": lognormal sigma NaN: no such law: give 0 to 5`},
		{"lognormal:mean=2s", `law "lognormal:mean=2s": no such law: unknown part "mean": the parts are median, sigma and cap`},
		{"empirical:", `law "empirical:": no such law: "" is no duration: write it as in 2350ms or 1.7s`},
		{"empirical:1s,-2s", `law "empirical:1s,-2s": empirical value 2, -2s: no such law: give 0 or more`},
		{"empirical:@x", `law "empirical:@x": no such law: the file "x" must be read first: this place takes a list as in empirical:1s,2s`},
	} {
		got, err := ParseLaw(c.text)
		if got != nil || err == nil || err.Error() != c.want || !errors.Is(err, ErrLaw) {
			t.Errorf("ParseLaw(%q) = %v, %v, want %s", c.text, got, err, c.want)
		}
	}
}

// Every law of the table is read by its own example.
func TestLawForms(t *testing.T) {
	for _, f := range LawForms() {
		l, err := ParseLaw(f.Form)
		if err != nil || !strings.HasPrefix(l.Name(), f.Name) || f.Summary == "" {
			t.Errorf("form %+v: ParseLaw = %v, %v, want a law of that name with a summary", f, l, err)
		}
	}
}

func TestParseValues(t *testing.T) {
	got, err := ParseValues("cold.txt", []byte("# measured\n\n 1933.43ms\t# first\n1.7s\r\n1.7s"), 3)
	want := Empirical{Label: "empirical:@cold.txt", Values: []time.Duration{1933430 * time.Microsecond, 1700 * ms, 1700 * ms}}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ParseValues (-want +got):\n%s", diff)
	}
	for _, c := range []struct{ why, src, want string }{
		{"no values", "# none\n", `cold.txt:1:1: no such law: the file has no values; write one duration per line, as in 1933.43ms`},
		{"a number without unit", "1s\n  1933\n", `cold.txt:2:3: no such law: "1933" is no duration from 0 on; write one per line, as in 1933.43ms`},
		{"two in a line", "1s 2s\n", `cold.txt:1:1: no such law: "1s 2s" is no duration from 0 on; write one per line, as in 1933.43ms`},
		{"negative", "-1s", `cold.txt:1:1: no such law: "-1s" is no duration from 0 on; write one per line, as in 1933.43ms`},
		{"more than the limit", "1s\n1s\n1s\n1s\n", `cold.txt:4:1: no such law: more than 3 values; shorten the file`},
	} {
		if _, err := ParseValues("cold.txt", []byte(c.src), 3); err == nil || err.Error() != c.want || !errors.Is(err, ErrLaw) {
			t.Errorf("%s: ParseValues(%q) = %v, want %s", c.why, c.src, err, c.want)
		}
	}
}

func TestLoadLaw(t *testing.T) {
	read := func(path string) ([]byte, error) {
		if path != "cold.txt" {
			return nil, fs.ErrNotExist
		}
		return []byte("1s\n"), nil
	}
	l, err := LoadLaw("empirical:@cold.txt", read)
	if err != nil || l.Name() != "empirical:@cold.txt" || l.Mean() != time.Second {
		t.Errorf("LoadLaw = %v, %v, want the list of the file", l, err)
	}
	if l, err := LoadLaw("constant:1s", read); err != nil || l != Law(Constant(time.Second)) {
		t.Errorf("LoadLaw(constant:1s) = %v, %v, want that of ParseLaw", l, err)
	}
	if _, err := LoadLaw("empirical:@gone", read); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, ErrLaw) {
		t.Errorf("LoadLaw of a missing file = %v, want ErrNotExist and ErrLaw", err)
	}
}

// FuzzParseLaw: a law that is read passes its check, has a name that reads back to the same law, and draws in its range.
func FuzzParseLaw(f *testing.F) {
	for _, l := range LawForms() {
		f.Add(l.Form)
	}
	f.Add("lognormal:median=1ns,sigma=5,cap=1ns")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLaw(text)
		if err != nil {
			if !errors.Is(err, ErrLaw) || strings.Contains(err.Error(), "\n") {
				t.Errorf("ParseLaw(%q) = %q, want one line that wraps ErrLaw", text, err)
			}
			return
		}
		again, err := ParseLaw(l.Name())
		if diff := cmp.Diff(l, again); err != nil || diff != "" {
			t.Errorf("ParseLaw(%q) = %v, want the law of %q:\n%s", l.Name(), err, text, diff)
		}
		shortest, longest := l.Range()
		for _, v := range sample(l, 20) {
			if v < shortest || v > longest || v < 0 {
				t.Errorf("%q draws %v, out of %v–%v", text, v, shortest, longest)
			}
		}
		if m := l.Mean(); m < shortest-1 || m > longest+1 {
			t.Errorf("%q has the mean %v, out of %v–%v", text, m, shortest, longest)
		}
	})
}
