package reports

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
)

func TestOutcomeSentenceAccountsForEveryArrival(t *testing.T) {
	type outcomes = [record.Outcomes]int
	for _, row := range []struct {
		why  string
		in   analysis.Summary
		want string
	}{
		{"nothing", analysis.Summary{}, "0 scheduled, 0 sent: 0 ok"},
		{"all well", analysis.Summary{Scheduled: 3, Sent: 3, Outcomes: outcomes{record.OK: 3}}, "3 scheduled, 3 sent: 3 ok"},
		{"what did not occur is not named", analysis.Summary{Scheduled: 20, Sent: 20, Outcomes: outcomes{record.OK: 10, record.Rejected: 10}},
			"20 scheduled, 20 sent: 10 ok, 10 rejected"},
		{"what was dropped was not sent", analysis.Summary{Scheduled: 9, Sent: 7, Outcomes: outcomes{record.OK: 5, record.Timeout: 1, record.TransportError: 1, record.Dropped: 2}},
			"9 scheduled, 7 sent: 5 ok, 1 timeout, 1 transport_error; 2 dropped"},
	} {
		if got := outcomeSentence(&row.in); got != row.want {
			t.Errorf("%s: outcomeSentence = %q, want %q", row.why, got, row.want)
		}
	}
}

func TestStartsNameWhatIsRareOnlyWhereItOccurs(t *testing.T) {
	type kinds = [record.StartKinds]int
	for _, row := range []struct {
		why  string
		in   analysis.Wave
		want string
		note string // must be explained
	}{
		{"the usual three", analysis.Wave{ByStart: kinds{record.Warm: 2, record.Queued: 18}}, "2/18/0", "warm / queued"},
		{"waited for another's start", analysis.Wave{ByStart: kinds{record.Cold: 1, record.ColdWait: 1}}, "0/0/1 +1 wait", "wait: waited"},
		{"a target that does not tell", analysis.Wave{ByStart: kinds{record.StartUnknown: 4}}, "0/0/0 +4 ?", "?: start kind not told"},
		{"over quota", analysis.Wave{ByStart: kinds{record.Warm: 2, record.Cold: 8}, Rejected: 10}, "2/0/8 −10", "−: rejected"},
	} {
		if got := starts(&row.in); got != row.want {
			t.Errorf("%s: starts = %q, want %q", row.why, got, row.want)
		}
		run := analysis.Run{Summary: analysis.Summary{Waves: []analysis.Wave{row.in}}}
		if note := startNote(pairs([]analysis.Run{run})[0]); !strings.Contains(note, row.note) {
			t.Errorf("%s: note %q does not explain %q", row.why, note, row.note)
		}
	}
}

// A side whose run broke off has fewer waves: its cells are empty, and the others stay in their lines.
func TestWaveGridWithAMissingWave(t *testing.T) {
	runs := []analysis.Run{modelRun("p", "fc-bound", []int{1, 2}, 1), modelRun("p", "fc-race", []int{1, 2}, 1)}
	runs[1].Summary.Waves = runs[1].Summary.Waves[1:]
	runs[0].Summary.Waves[1].Response = analysis.Stats{}
	g := waveGrid(pairs(runs)[0])
	if diff := cmp.Diff([]string{"-", "-", "-", "-", "-"}, g.Lines[0].Cells[8:]); diff != "" {
		t.Errorf("cells of the wave that is not there (-want +got):\n%s", diff)
	}
	if got := g.Lines[1].Cells[3]; got != empty {
		t.Errorf("mean of a wave without a success = %q, want %q", got, empty)
	}
	if got := g.Lines[1].Cells[8]; got == "-" || got == "" {
		t.Errorf("mean of the wave that is there = %q", got)
	}
}

func TestKindRowsShowOnlyWhatOccurred(t *testing.T) {
	s := fixtureSingle().Run.Summary
	var names []string
	for _, row := range kindRows(&s) {
		names = append(names, row.name)
	}
	if diff := cmp.Diff([]string{"all answered", "ok", "warm", "queued", "cold"}, names); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestHostSentenceTellsOfTheWorst(t *testing.T) {
	calm, loud, busy := analysis.Run{Host: calmHost()}, analysis.Run{Host: calmHost()}, analysis.Run{Host: calmHost()}
	loud.Host.Overshoot.P95 = 3 * time.Millisecond
	busy.Host.Busy, busy.Host.Reason = true, "sleeps end 9.1 ms late"
	for _, row := range []struct {
		why  string
		runs []analysis.Run
		want string
	}{
		{"no run", nil, ""},
		{"virtual time", []analysis.Run{{}}, "Host: not calibrated (virtual time needs no calm host)."},
		{"calm", []analysis.Run{calm}, "Host: calm; sleeps of 100 ms ended late by p95 412 us, max 1.00 ms (n=50); loopback round trip p95 221 us (n=50)."},
		{"one was louder", []analysis.Run{calm, loud, calm},
			"Host: calm; sleeps of 100 ms ended late by p95 3.00 ms, max 1.00 ms (n=50); loopback round trip p95 221 us (n=50)."},
		{"one was too loud", []analysis.Run{loud, busy, calm}, "Host: BUSY, times of this run mean nothing: sleeps end 9.1 ms late."},
	} {
		if got := hostSentence(row.runs); got != row.want {
			t.Errorf("%s: hostSentence = %q, want %q", row.why, got, row.want)
		}
	}
}

func TestHostIsShownOnceWhereRunsShareIt(t *testing.T) {
	v := fixtureVerification()
	if n := len(hostGrid(pairs(v.Runs)).Lines); n != 2 {
		t.Errorf("%d lines for one calibration, want 2", n)
	}
	v.Runs[2].Host.Loopback.N = 49
	if n := len(hostGrid(pairs(v.Runs)).Lines); n != 4 {
		t.Errorf("%d lines for two calibrations, want 4", n)
	}
	if g := hostGrid(nil); len(g.Notes) != 1 {
		t.Error("without a calibration nothing is said")
	}
}

// FA-9: the two rows that a correct policy cannot show are marked, and only they.
func TestLadderMarksWhatIsNotAsserted(t *testing.T) {
	g := ladderGrid(fixtureVerification().Ladder)
	if len(g.Lines) != 20 {
		t.Fatalf("%d rows, want 20", len(g.Lines))
	}
	for i, l := range g.Lines {
		want := ""
		if i >= 18 {
			want = "*"
		}
		if got := l.Cells[len(l.Cells)-1]; got != want {
			t.Errorf("row %d is marked %q, want %q", i+1, got, want)
		}
	}
	if got := g.Lines[19].Cells[5]; got != "1348.59" {
		t.Errorf("documented value of row 20 after = %q, want it as published", got)
	}
	for _, r := range ladderGrid(fixtureLadder(nil, nil)).Lines {
		if r.Cells[4] != "-" || r.Cells[6] != "-" {
			t.Errorf("row %s of a burst that was not run = %q", r.Cells[0], r.Cells)
		}
	}
}

func TestInstantsInSeconds(t *testing.T) {
	for at, want := range map[clock.Instant]string{0: "0", clock.Instant(10 * time.Second): "10", clock.Instant(500 * time.Millisecond): "0.5", clock.Never: "never"} {
		if got := atSeconds(at); got != want {
			t.Errorf("atSeconds(%d) = %q, want %q", int64(at), got, want)
		}
	}
}

func TestWallTimeIsALabelInUTC(t *testing.T) {
	at := time.Date(2026, 11, 29, 22, 30, 0, 123, time.FixedZone("CET", 3600))
	if got := wallTime(at); got != "2026-11-29T21:30:00Z" {
		t.Errorf("wallTime = %q", got)
	}
	if got := wallTime(time.Time{}); got != "" {
		t.Errorf("wallTime of no time = %q", got)
	}
}

func TestRunSentence(t *testing.T) {
	for _, row := range []struct {
		why  string
		in   Single
		want string
	}{
		{"the bundled stack", fixtureSingle(),
			"Run 01JX-fc-burst-fc-race: fc-burst under fc-race, cold-start law uniform, over HTTP, seed 1, 70.3 s elapsed."},
		{"an external target", Single{Run: analysis.Run{ID: "x", Pattern: "p", Target: "http://127.0.0.1:1", Driver: "wire"}, Elapsed: time.Second},
			"Run x: p against http://127.0.0.1:1, over HTTP, seed 0, 1.00 s elapsed."},
		{"virtual time", Single{Run: analysis.Run{ID: "x", Pattern: "p", Policy: "q", Driver: "virtual"}},
			"Run x: p under q, in virtual time, seed 0."},
	} {
		if got := runSentence(&row.in); got != row.want {
			t.Errorf("%s: runSentence = %q, want %q", row.why, got, row.want)
		}
	}
}

func TestSinglePageJudgesNothingButSaysWhatHappened(t *testing.T) {
	run := func(change func(*analysis.Run)) *analysis.Run {
		r := modelRun("p", "fc-race", []int{4}, 1)
		change(&r)
		return &r
	}
	for _, row := range []struct {
		why  string
		in   *analysis.Run
		want string // beginning of the verdict
		tone tone
	}{
		{"all well", run(func(*analysis.Run) {}), "4 scheduled, 4 sent: 4 ok; response time p50 ", good},
		{"a warning", run(func(r *analysis.Run) { r.Summary.Warnings = []analysis.Warning{{Code: "x"}} }), "4 scheduled", doubt},
		{"a busy host", run(func(r *analysis.Run) { r.Host.Busy = true }), "The host was too busy", doubt},
		{"nothing succeeded", run(func(r *analysis.Run) { r.Summary.OK = analysis.Stats{} }), "4 scheduled, 4 sent: 4 ok: no request succeeded.", bad},
		{"some failed", run(func(r *analysis.Run) { r.Summary.OK.N = 3 }), "4 scheduled", bad},
	} {
		if got := singleVerdict(row.in); !strings.HasPrefix(got, row.want) {
			t.Errorf("%s: singleVerdict = %q, want %q…", row.why, got, row.want)
		}
		if got := singleTone(row.in); got != row.tone {
			t.Errorf("%s: singleTone = %q, want %q", row.why, got, row.tone)
		}
	}
}
