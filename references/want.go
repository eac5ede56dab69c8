package references

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"coldwave/internal/clock"
)

// Want is one thing that a worked example expects of a run. Which of its fields count is said by its law.
type Want struct {
	Law    string    `json:"law"`
	Scene  string    `json:"scene"`   // empty: the claim's
	After  float64   `json:"after_s"` // only what happens from here on counts, and instants count from here
	Until  float64   `json:"until_s"` // only what happens before it counts, from the same zero as instants; 0: to the end
	At     []float64 `json:"at_s"`    // instants, in seconds
	Counts []int     `json:"counts"`  // one for each instant; of what is listed: so many at once, 1 where there are none
	Count  int       `json:"count"`
	Status int       `json:"status"` // HTTP
	Text   string    `json:"text"`   // reason of a start, name of a mark, start kind
}

// law says how one sort of want is judged. There is one file for each.
type law struct {
	summary string
	needs   []string // fields of the want that it uses; the window is open to all
	times   bool     // it judges instants, which mean nothing on a busy host
	events  bool     // it judges what only a run in virtual time tells
	judge   func(v view) (measured string, wrong findings)
}

// laws is the table of all laws. To add one, write its file and add its line.
func laws() map[string]law {
	return map[string]law{
		"starts":         {"number of starts", []string{"count", "text?"}, false, false, startCount},
		"starts at":      {"instants of starts", []string{"at", "counts?", "text?"}, true, false, startInstants},
		"stops at":       {"instants at which instances are stopped", []string{"at", "counts?"}, true, true, stopInstants},
		"begins at":      {"instants at which bodies begin", []string{"at", "counts?"}, true, false, beginInstants},
		"answers":        {"number of answers with a status", []string{"status", "count"}, false, false, answerCount},
		"answers at":     {"instants of answers with a status", []string{"status", "at", "counts?"}, true, false, answerInstants},
		"served by":      {"number of requests of a start kind", []string{"text", "count"}, false, false, kindCount},
		"alive at":       {"instances that start or serve, at instants", []string{"at", "counts"}, true, true, aliveAt},
		"peak alive":     {"most instances that start or serve", []string{"count"}, false, true, peakAlive},
		"peak present":   {"most instances, draining ones included", []string{"count"}, false, true, peakPresent},
		"recommended at": {"recommended instances, at instants", []string{"at", "counts"}, true, true, recommendedAt},
		"marks at":       {"marks of a name up to instants", []string{"text", "at", "counts"}, true, true, marksAt},
		"last mark at":   {"the last mark whose name begins like the text up to its =, at an instant", []string{"text", "at"}, true, true, lastMarkAt},
	}
}

// view is a run as one want looks at it.
type view struct {
	side
	Want
	early, late time.Duration // how much earlier and later an instant may be
}

// zero is where the want's instants count from.
func (v view) zero() clock.Instant { return clock.Instant(seconds(v.After)) }

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// sees says whether the want counts what happens at an instant.
func (v view) sees(at clock.Instant) bool {
	return at >= v.zero() && (v.Until == 0 || at.Sub(v.zero()) < seconds(v.Until))
}

// wanted spreads the instants of the want: one for each that is to be found.
func (v view) wanted() []time.Duration {
	var out []time.Duration
	for i, s := range v.At {
		n := 1
		if v.Counts != nil {
			n = v.Counts[i]
		}
		out = append(out, slices.Repeat([]time.Duration{seconds(s)}, n)...)
	}
	return out
}

// compare sets the instants found beside those wanted, both in order.
func (v view) compare(what string, found []clock.Instant) (string, findings) {
	var got []time.Duration
	for _, at := range found {
		if v.sees(at) {
			got = append(got, at.Sub(v.zero()))
		}
	}
	slices.Sort(got)
	want := v.wanted()
	slices.Sort(want)
	var wrong findings
	if len(got) != len(want) {
		wrong.add(true, "%s: %d %s, want %d at %s", v.name(), len(got), what, len(want), instants(want))
		return what + " at " + instants(got), wrong
	}
	for i := range got {
		wrong.add(got[i] < want[i]-v.early || got[i] > want[i]+v.late, "%s: %s at %s, want %s", v.name(), what, second(got[i]), second(want[i]))
	}
	return what + " at " + instants(got), wrong
}

// level compares counts at the instants of the want. value tells what holds after everything at an instant.
func (v view) level(what string, value func(at clock.Instant) int) (string, findings) {
	var wrong findings
	var got []string
	for i, s := range v.At {
		n := value(v.zero().Add(seconds(s)))
		got = append(got, fmt.Sprint(n))
		wrong.add(n != v.Counts[i], "%s: %d %s at %s, want %d", v.name(), n, what, second(seconds(s)), v.Counts[i])
	}
	return what + " " + strings.Join(got, ", "), wrong
}

// total compares one number.
func (v view) total(what string, n int) (string, findings) {
	var wrong findings
	wrong.add(n != v.Count, "%s: %s: %d, want %d", v.name(), what, n, v.Count)
	return fmt.Sprintf("%s: %d", what, n), wrong
}

// instants writes times in order, those that are written alike together: "0 s (2), 0.5 s". Of many it writes the first few
// and the last.
func instants(times []time.Duration) string {
	if len(times) == 0 {
		return "no time"
	}
	const most = 8
	var parts []string
	for i := 0; i < len(times); {
		text, n := second(times[i]), i
		for n < len(times) && second(times[n]) == text {
			n++
		}
		if n-i > 1 {
			text += fmt.Sprintf(" (%d)", n-i)
		}
		parts, i = append(parts, text), n
	}
	if len(parts) > most {
		return strings.Join(parts[:most/2], ", ") + " … " + parts[len(parts)-1] + fmt.Sprintf(", %d in all", len(times))
	}
	return strings.Join(parts, ", ")
}

// second writes a time such as "10.01 s", with three decimals at most.
func second(d time.Duration) string {
	text := fmt.Sprintf("%.3f", d.Seconds())
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + " s"
}

// validate says what is wrong with a want.
func (w Want) validate(claim Claim) error {
	l, ok := laws()[w.Law]
	if !ok {
		return fmt.Errorf("there is no law %q", w.Law)
	}
	if cmp.Or(w.Scene, claim.Scene) == "" {
		return fmt.Errorf("law %q: name a scene, here or for the claim", w.Law)
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"at", w.At != nil}, {"counts", w.Counts != nil}, {"status", w.Status != 0}, {"text", w.Text != ""}, {"count", w.Count != 0}} {
		needed, may := slices.Contains(l.needs, f.name), slices.Contains(l.needs, f.name+"?")
		switch {
		case f.set && !needed && !may:
			return fmt.Errorf("law %q does not use %s", w.Law, f.name)
		case !f.set && needed && f.name != "count": // a count of 0 is one
			return fmt.Errorf("law %q needs %s", w.Law, f.name)
		}
	}
	if w.Counts != nil && len(w.Counts) != len(w.At) {
		return fmt.Errorf("law %q: %d counts for %d instants", w.Law, len(w.Counts), len(w.At))
	}
	return nil
}
