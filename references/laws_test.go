package references

import (
	"slices"
	"strings"
	"testing"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
)

// scene is a small run: two starts at 1 s, one more at 4 s by a driver, one stop at 9 s and one failure; requests that
// begin at 2 s, 2 s and 5 s, and one that is turned away at 6 s.
func scene() side {
	s := clock.Instant(time.Second)
	answer := func(arrived, done clock.Instant, kind record.StartKind) record.Record {
		return record.Record{
			Intended: arrived, Done: done, Outcome: record.OK, Status: 200,
			Server: record.Server{Exec: time.Second, Start: kind},
		}
	}
	return side{Cell: Cell{
		Scene: "small",
		Run: &analysis.Run{
			Driver: driverVirtual,
			Records: []record.Record{
				answer(1*s, 3*s, record.Cold), answer(1*s, 3*s, record.Cold), answer(5*s, 6*s, record.Warm),
				{Intended: 5 * s, Done: 6 * s, Outcome: record.Rejected, Status: 429},
			},
			Instances: []record.Instance{{ID: 1, Started: s}, {ID: 2, Started: s}, {ID: 3, Started: 4 * s}},
		},
		Events: []Event{
			{At: s, What: Start, Instance: 1, Text: "on-demand"}, {At: s, What: Start, Instance: 2, Text: "on-demand"},
			{At: s, What: Alive, Count: 2}, {At: s, What: Present, Count: 2},
			{At: 4 * s, What: Start, Instance: 3, Text: "cpu"}, {At: 4 * s, What: Alive, Count: 3}, {At: 4 * s, What: Present, Count: 3},
			{At: 5 * s, What: Mark, Instance: 2, Text: "spare"}, {At: 5 * s, What: Mark, Instance: 3, Text: "reserve"},
			{At: 5 * s, What: Mark, Instance: 1, Text: "driver=cpu"}, {At: 6 * s, What: Mark, Instance: 1, Text: "driver=act"},
			{At: 7 * s, What: Mark, Instance: 3, Text: "recommended"},
			{At: 8 * s, What: Alive, Count: 2}, {At: 9 * s, What: Stop, Instance: 2}, {At: 9 * s, What: Present, Count: 2},
			{At: 10 * s, What: Stop, Instance: 1, Text: "failed"}, {At: 10 * s, What: Alive, Count: 1},
		},
	}}
}

// Each law agrees with what is so, and disagrees with what is not.
func TestLaws(t *testing.T) {
	for _, c := range []struct {
		want  Want
		wrong string // part of the first finding; empty: it agrees
	}{
		{Want{Law: "starts", Count: 3}, ""},
		{Want{Law: "starts", Count: 1, After: 2}, ""},
		{Want{Law: "starts", Count: 2, Text: "on-demand"}, ""},
		{Want{Law: "starts", Count: 2}, "small: starts: 3, want 2"},
		{Want{Law: "starts", Count: 2, Text: "cpu"}, "small: starts (cpu): 1, want 2"},
		{Want{Law: "starts at", At: []float64{1, 4}, Counts: []int{2, 1}}, ""},
		{Want{Law: "starts at", At: []float64{1.5}, After: 2.5}, ""},
		{Want{Law: "starts at", At: []float64{1, 1}, Until: 4}, ""},
		{Want{Law: "starts at", At: []float64{1, 4}}, "3 starts, want 2 at 1 s, 4 s"},
		{Want{Law: "starts at", At: []float64{4.001}, Text: "cpu"}, "starts (cpu) at 4 s, want 4.001 s"},
		{Want{Law: "stops at", At: []float64{9}}, ""},
		{Want{Law: "stops at", At: []float64{9, 10}}, "1 stops, want 2"},
		{Want{Law: "begins at", At: []float64{2, 5}, Counts: []int{2, 1}}, ""},
		{Want{Law: "begins at", At: []float64{0}, After: 5}, ""},
		{Want{Law: "begins at", At: []float64{2, 2, 6}}, "bodies begin at 5 s, want 6 s"},
		{Want{Law: "answers", Status: 200, Count: 3}, ""},
		{Want{Law: "answers", Status: 429, Count: 0, Until: 5}, ""},
		{Want{Law: "answers", Status: 429, Count: 2}, "answers 429: 1, want 2"},
		{Want{Law: "answers at", Status: 429, At: []float64{6}}, ""},
		{Want{Law: "answers at", Status: 503, At: []float64{6}}, "0 answers 503, want 1"},
		{Want{Law: "served by", Text: "cold", Count: 2}, ""},
		{Want{Law: "served by", Text: "warm", Count: 2}, "warm: 1, want 2"},
		{Want{Law: "alive at", At: []float64{0, 1, 4, 8, 10}, Counts: []int{0, 2, 3, 2, 1}}, ""},
		{Want{Law: "alive at", At: []float64{3.999}, Counts: []int{3}}, "2 alive at 3.999 s, want 3"},
		{Want{Law: "peak alive", Count: 3}, ""},
		{Want{Law: "peak alive", Count: 3, After: 5}, "alive at most: 2, want 3"},
		{Want{Law: "peak present", Count: 3}, ""},
		{Want{Law: "peak present", Count: 4}, "alive or draining at most: 3, want 4"},
		{Want{Law: "recommended at", At: []float64{4, 5, 7, 9}, Counts: []int{3, 1, 2, 2}}, ""},
		{Want{Law: "recommended at", At: []float64{5}, Counts: []int{3}}, "1 recommended at 5 s, want 3"},
		{Want{Law: "marks at", Text: "spare", At: []float64{4, 5}, Counts: []int{0, 1}}, ""},
		{Want{Law: "marks at", Text: "reserve", At: []float64{5}, Counts: []int{2}}, "1 reserve at 5 s, want 2"},
		{Want{Law: "last mark at", Text: "driver=cpu", At: []float64{5, 5.5}}, ""},
		{Want{Law: "last mark at", Text: "driver=act", At: []float64{6, 60}}, ""},
		{Want{Law: "last mark at", Text: "driver=act", At: []float64{5}}, "driver=cpu at 5 s, want driver=act"},
		{Want{Law: "last mark at", Text: "driver=act", At: []float64{4}}, "no mark at 4 s"},
	} {
		claim := Claim{Scene: "small", Wants: []Want{c.want}, Check: checkExample}
		if err := c.want.validate(claim); err != nil {
			t.Errorf("%+v: %v", c.want, err)
			continue
		}
		got := Check([]Claim{claim}, Evidence{Cells: []Cell{scene().Cell}})[0]
		switch {
		case c.wrong == "" && got.Verdict != Agrees, c.wrong != "" && got.Verdict != Disagrees, !strings.Contains(got.Reason, c.wrong):
			t.Errorf("%+v: %s (%s), want %q", c.want, got.Verdict, got.Reason, c.wrong)
		case got.Measured == "":
			t.Errorf("%+v: nothing was measured", c.want)
		}
	}
}

// Each law of the table has a row above, and a suite that uses it.
func TestEveryLawIsUsed(t *testing.T) {
	used := map[string]bool{}
	for _, s := range everySuite(t) {
		for _, c := range s.Claims {
			for _, w := range c.Wants {
				used[w.Law] = true
			}
		}
	}
	for name := range laws() {
		if !used[name] {
			t.Errorf("law %q is used by no suite", name)
		}
	}
}

// An instant may be as much early or late as the claim says, and no more.
func TestSlack(t *testing.T) {
	claim := Claim{Scene: "small", Check: checkExample, Limits: map[string]float64{"early_max_ms": 1, "late_max_ms": 20}}
	for _, c := range []struct {
		at   float64
		want Verdict
	}{{4, Agrees}, {4.001, Agrees}, {4.0011, Disagrees}, {3.98, Agrees}, {3.9799, Disagrees}} {
		claim.Wants = []Want{{Law: "starts at", At: []float64{c.at}, Text: "cpu"}}
		if got := Check([]Claim{claim}, Evidence{Cells: []Cell{scene().Cell}})[0]; got.Verdict != c.want {
			t.Errorf("a start at 4 s, wanted at %v s: %s (%s), want %s", c.at, got.Verdict, got.Reason, c.want)
		}
	}
}

// What only virtual time tells cannot be asked of the wire, a busy host makes instants void and spares counts, and a scene
// that was not run decides nothing.
func TestExamplesOnTheWire(t *testing.T) {
	wire := scene().Cell
	wire.Run.Driver, wire.Events = driverWire, nil
	busy := Evidence{Cells: []Cell{wire}, Host: analysis.Host{Busy: true, Reason: "loud"}}
	counts, times, events := Want{Law: "starts", Count: 3}, Want{Law: "begins at", At: []float64{2, 2, 5}}, Want{Law: "alive at", At: []float64{1}, Counts: []int{2}}
	for _, c := range []struct {
		why  string
		want Want
		e    Evidence
		say  Verdict
	}{
		{"counts", counts, Evidence{Cells: []Cell{wire}}, Agrees},
		{"instants", times, Evidence{Cells: []Cell{wire}}, Agrees},
		{"what only virtual time tells", events, Evidence{Cells: []Cell{wire}}, Inconclusive},
		{"counts on a busy host", counts, busy, Agrees},
		{"instants on a busy host", times, busy, Void},
		{"a run that was not begun", counts, Evidence{Cells: []Cell{{Scene: "small", Failed: "too busy"}}, Host: busy.Host}, Void},
		{"a run that failed", counts, Evidence{Cells: []Cell{{Scene: "small", Failed: "broken"}}}, Inconclusive},
		{"another scene", counts, Evidence{Cells: []Cell{{Scene: "large"}}}, Inconclusive},
	} {
		got := Check([]Claim{{Scene: "small", Wants: []Want{c.want}, Check: checkExample}}, c.e)[0]
		if got.Verdict != c.say || (got.Reason == "") != (c.say == Agrees) {
			t.Errorf("%s: %s (%s), want %s", c.why, got.Verdict, got.Reason, c.say)
		}
	}
}

func everySuite(t *testing.T) (all []Suite) {
	t.Helper()
	for _, name := range SuiteNames() {
		s, err := LoadSuite(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func TestUnknownSuite(t *testing.T) {
	_, err := LoadSuite("cloudrum")
	if err == nil || !strings.Contains(err.Error(), `there is no suite "cloudrum", did you mean "cloudrun"?`) {
		t.Errorf("LoadSuite(cloudrum) = %v", err)
	}
}

const goodSuite = `{"name":"x","title":"t","driver":"virtual","policy":"p","source":"s","tolerance":"exact","why":"w",
"scenes":[{"name":"a","pattern":"{kind: waves, sizes: [1], gap: 1s}","body":"1s"}],
"claims":[{"id":"X-a","statement":"s","documented":"d","scene":"a","wants":[{"law":"starts","count":1}]}],
"left":[{"id":"X-b","why":"w","test":"TestX"}]}`

func TestParseSuite(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"a good suite", "", "", ""},
		{"an unknown field", `"title"`, `"titel"`, `json: unknown field "titel"`},
		{"no driver", `"driver":"virtual"`, `"driver":""`, "give a name, a title, a policy, and a driver"},
		{"a bad pattern", "kind: waves", "kind: wave", `scene "a": pattern:1:8: unknown kind "wave"`},
		{"a bad duration", `"body":"1s"`, `"body":"soon"`, `invalid duration "soon"`},
		{"a number for a duration", `"body":"1s"`, `"body":1`, `a duration is a text`},
		{"a negative start", `"body":"1s"`, `"start":"-1s"`, "none may be negative"},
		{"changes out of order", `"body":"1s"`, `"changes":[{"at":"2s"},{"at":"1s"}]`, "change at 1s: they come in order"},
		{"a crash of nothing", `"body":"1s"`, `"crash":{"instance":0,"after":"1s"}`, "crash of instance 0"},
		{"an unknown scene", `"scene":"a"`, `"scene":"b"`, `claim "X-a": there is no scene "b"`},
		{"no scene at all", `"scene":"a",`, ``, `name a scene`},
		{"an unknown law", `"law":"starts"`, `"law":"ends"`, `there is no law "ends"`},
		{"a field that the law does not use", `"count":1`, `"count":1,"status":429`, `law "starts" does not use status`},
		{"a field that is missing", `"law":"starts","count":1`, `"law":"starts at"`, `law "starts at" needs at`},
		{"counts without instants", `"law":"starts","count":1`, `"law":"alive at","at_s":[1,2],"counts":[1]`, `1 counts for 2 instants`},
		{"a claim without wants", `"wants":[{"law":"starts","count":1}]`, `"wants":[]`, `a worked example has wants`},
		{"an example that is left without a test", `"test":"TestX"`, `"test":""`, `left "X-b"`},
		{"a scene that nobody needs", `"scenes":[`, `"scenes":[{"name":"b","pattern":"{kind: waves, sizes: [1], gap: 1s}"},`, `scene "b": no claim speaks of it`},
	} {
		s, err := ParseSuite("x.json", []byte(strings.Replace(goodSuite, c.from, c.to, 1)))
		if c.want == "" && (err != nil || len(s.Claims) != 1) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: ParseSuite = %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// What holds for the whole suite is filled in for each claim.
func TestSuiteFillsIn(t *testing.T) {
	s, err := ParseSuite("x.json", []byte(goodSuite))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Claims[0]
	if c.Driver != driverVirtual || c.Source != "s, X-a" || c.Tolerance != "exact" || c.Why != "w" || !slices.Equal(c.Scenes(), []string{"a"}) {
		t.Errorf("claim %+v: want driver, source, tolerance and reason of the suite", c)
	}
	if got := s.Play(nil); len(got) != 0 {
		t.Errorf("Play(nothing) = %v, want no scene", got)
	}
}

// FuzzParseSuite: what is read makes sense, and nothing panics.
func FuzzParseSuite(f *testing.F) {
	f.Add([]byte(goodSuite))
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := ParseSuite("x.json", src)
		if err != nil {
			return
		}
		for _, c := range s.Claims {
			if len(s.Play([]Claim{c})) == 0 {
				t.Errorf("claim %q plays no scene", c.ID)
			}
		}
	})
}

func TestInstants(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		times []time.Duration
		want  string
	}{
		{nil, "no time"},
		{[]time.Duration{0, 0, 500 * ms}, "0 s (2), 0.5 s"},
		{[]time.Duration{2000*ms + 1, 2000*ms + 2}, "2 s (2)"},
		{[]time.Duration{0, ms, 2 * ms, 3 * ms, 4 * ms, 5 * ms, 6 * ms, 7 * ms, 900 * ms}, "0 s, 0.001 s, 0.002 s, 0.003 s … 0.9 s, 9 in all"},
	} {
		if got := instants(c.times); got != c.want {
			t.Errorf("instants(%v) = %q, want %q", c.times, got, c.want)
		}
	}
}
