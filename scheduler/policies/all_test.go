package policies_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"coldwave/scheduler/policies"
)

// TestAll: the table is in order and complete, and its own defaults are legal.
func TestAll(t *testing.T) {
	if names := policies.Names(); !slices.IsSorted(names) || len(names) < 2 {
		t.Errorf("Names() = %q, want them in order", names)
	}
	for _, e := range policies.All() {
		t.Run(e.Name, func(t *testing.T) {
			if e.Summary == "" || e.Source == "" {
				t.Errorf("%+v has no summary or no source", e)
			}
			for _, p := range e.Params {
				if p.Doc == "" || p.Max <= 0 {
					t.Errorf("parameter %+v has no doc or no limit", p)
				}
				if _, err := policies.New(e.Name + ":" + p.Name + "=" + p.Default); err != nil {
					t.Errorf("the default of %s is refused: %v", p.Name, err)
				}
			}
			one, _ := policies.New(e.Name)
			two, _ := policies.New(e.Name)
			if one == nil || one == two {
				t.Errorf("New gives %v and %v, want a fresh policy each time", one, two)
			}
		})
	}
}

// TestSpecs: what New takes, and its canonical form.
func TestSpecs(t *testing.T) {
	tests := []struct{ name, spec, want string }{
		{"defaults are written out", "fc-bound", "fc-bound:idle_timeout=5m0s,wait_timeout=1m0s,start_retries=1,spread=false"},
		{"any order, canonical order", "fc-bound:start_retries=0,idle_timeout=90s",
			"fc-bound:idle_timeout=1m30s,wait_timeout=1m0s,start_retries=0,spread=false"},
		{"a switch", "fc-race:start_per_request=true",
			"fc-race:idle_timeout=5m0s,wait_timeout=1m0s,start_retries=10,start_per_request=true,spread=false"},
		{"the last of two wins", "fc-bound:start_retries=3,start_retries=4",
			"fc-bound:idle_timeout=5m0s,wait_timeout=1m0s,start_retries=4,spread=false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := policies.Canonical(tt.spec)
			if err != nil || got != tt.want {
				t.Fatalf("Canonical(%q) = %q, %v, want %q", tt.spec, got, err, tt.want)
			}
			if again, err := policies.Canonical(got); err != nil || again != got {
				t.Errorf("Canonical(%q) = %q, %v, want itself", got, again, err)
			}
		})
	}
}

// TestBadSpecs: an error says what was wrong, the nearest name, and all names.
func TestBadSpecs(t *testing.T) {
	tests := []struct {
		name, spec string
		err        error
		want       []string
	}{
		{"a slip in the name", "fc-rase", policies.ErrUnknown, []string{`"fc-rase"`, `did you mean "fc-race"?`, "fc-bound, fc-race"}},
		{"nothing near", "cloudy", policies.ErrUnknown, []string{`"cloudy"`, "fc-bound, fc-race"}},
		{"no name", "", policies.ErrUnknown, []string{`""`, "fc-bound, fc-race"}},
		{"a slip in a key", "fc-race:idle_timout=60s", policies.ErrParam,
			[]string{`"idle_timout"`, `did you mean "idle_timeout"?`, "start_per_request"}},
		{"the other policy's key", "fc-bound:start_per_request=true", policies.ErrParam, []string{`"start_per_request"`, "known: idle_timeout"}},
		{"a number without a unit", "fc-race:idle_timeout=60", policies.ErrParam, []string{`idle_timeout="60"`, `such as "300s"`}},
		{"no switch", "fc-race:start_per_request=yes", policies.ErrParam, []string{`"yes"`, "true or false"}},
		{"no number", "fc-bound:start_retries=one", policies.ErrParam, []string{`"one"`, "a whole number"}},
		{"negative", "fc-bound:wait_timeout=-1s", policies.ErrParam, []string{`"-1s"`, "0 … 720h0m0s"}},
		{"above its limit", "fc-bound:start_retries=256", policies.ErrParam, []string{`"256"`, "0 … 255"}},
		{"no value", "fc-race:idle_timeout", policies.ErrParam, []string{`"idle_timeout"`, "write key=value"}},
		{"no parameters", "fc-race:", policies.ErrParam, []string{`""`, "write key=value"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := policies.New(tt.spec)
			if p != nil || !errors.Is(err, tt.err) {
				t.Fatalf("New(%q) = %v, %v, want %v", tt.spec, p, err, tt.err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("New(%q) = %v, want %q in it", tt.spec, err, part)
				}
			}
			if _, err := policies.Canonical(tt.spec); err == nil {
				t.Errorf("Canonical(%q) takes it", tt.spec)
			}
		})
	}
}

// TestRatios: a ratio is read exactly, in thousandths, and printed as short as it goes.
func TestRatios(t *testing.T) {
	for _, row := range []struct {
		name, text, want string
		ok               bool
	}{
		{"one place", "0.6", "0.6", true},
		{"three places", "0.125", "0.125", true},
		{"zeros behind", "0.600", "0.6", true},
		{"nothing before the point", ".5", "0.5", true},
		{"a whole one", "1", "1", true},
		{"four places are not exact", "0.1234", "", false},
		{"the end of the range is in it", "2", "2", true},
		{"above the range", "2.001", "", false},
		{"below the range", "0.099", "", false},
		{"a sign", "-0.5", "", false},
		{"a word", "half", "", false},
		{"nothing", "", "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got, ok := policies.Reprint(policies.Param{Name: "x", Type: policies.Ratio, Min: 100, Max: 2000}, row.text); got != row.want || ok != row.ok {
				t.Errorf("ratio(%q) = %q, %v, want %q, %v", row.text, got, ok, row.want, row.ok)
			}
		})
	}
}

// FuzzSpec: whatever New takes has a canonical form that gives itself.
func FuzzSpec(f *testing.F) {
	for _, s := range []string{"fc-race", "fc-bound:start_retries=2", "fc-race:idle_timeout=1h,start_per_request=true", "x:y=z", ":", "fc-race:,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		p, err := policies.New(spec)
		if (p == nil) != (err != nil) {
			t.Fatalf("New(%q) = %v, %v", spec, p, err)
		}
		if err != nil {
			return
		}
		one, err := policies.Canonical(spec)
		if err != nil {
			t.Fatal(err)
		}
		if two, err := policies.Canonical(one); err != nil || one != two {
			t.Errorf("Canonical(%q) = %q, %v, want itself", one, two, err)
		}
	})
}

// TestWhy: each reason of a start has a name.
func TestWhy(t *testing.T) {
	seen := map[string]bool{}
	for w := policies.ForRequest; w <= policies.ForPrewarm; w++ {
		seen[w.String()] = true
	}
	if len(seen) != int(policies.ForPrewarm) || seen["unknown"] || policies.Why(99).String() != "unknown" {
		t.Errorf("names %v, want one each and unknown for the rest", seen)
	}
}
