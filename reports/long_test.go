package reports

import (
	"bytes"
	"testing"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// longRun is a steady run of n requests, a thousand a second, on 80 instances.
func longRun(n int) Single {
	r := analysis.Run{Pattern: "steady", Policy: "fc-race", Driver: "wire", Schedule: &workload.Schedule{Length: time.Duration(n) * time.Millisecond}}
	const instances = 80
	for i := range int32(instances) {
		r.Instances = append(r.Instances, record.Instance{ID: i + 1, Ready: clock.Instant(time.Second), Stopped: clock.Never})
	}
	for i := range n {
		at := clock.Instant(i) * clock.Instant(time.Millisecond)
		took := time.Duration(20+i*7919%37) * time.Millisecond
		r.Records = append(r.Records, record.Record{
			Seq: int64(i), Wave: int32(i / 10), Intended: at, Sent: at.Add(50 * time.Microsecond), Done: at.Add(took), Outcome: record.OK,
			Server: record.Server{Exec: took, Instance: count(i%instances + 1), Start: record.Warm},
		})
		r.Schedule.Arrivals = append(r.Schedule.Arrivals, workload.Arrival{Seq: int64(i), At: at, Wave: int32(i / 10)})
	}
	r.Summary = analysis.Summarize(analysis.Input{Schedule: r.Schedule, Records: r.Records, Instances: r.Instances})
	return Single{Run: r}
}

// A page must stay one that a browser opens: 13 bytes a request before compression, and everything else bounded.
func TestPageOfALongRunStaysSmall(t *testing.T) {
	for _, row := range []struct {
		n, most int
	}{{2_000, 600_000}, {60_000, 2_000_000}} {
		var page, text bytes.Buffer
		s := longRun(row.n)
		if err := SingleHTML(&page, s, Limits{}); err != nil {
			t.Fatal(err)
		}
		if page.Len() > row.most {
			t.Errorf("page of %d requests has %d bytes, want at most %d", row.n, page.Len(), row.most)
		}
		if err := SingleText(&text, s, Style{}); err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(text.Bytes(), []byte("\n")); lines > 2*tableRows+100 {
			t.Errorf("text of %d requests has %d lines", row.n, lines)
		}
	}
}

func TestLongTablesSayThatTheyAreCut(t *testing.T) {
	s := longRun(3_000) // 300 waves
	for name, g := range map[string]grid{
		"waves": singleWaveGrid(&s.Run), "waves of a pair": waveGrid(pairs([]analysis.Run{s.Run})[0]), "requests": requestTable(pairs([]analysis.Run{s.Run})[0].Cells[0]),
	} {
		if len(g.Lines) != tableRows || len(g.Notes) == 0 {
			t.Errorf("%s: %d lines and notes %q, want %d lines and a note that there are more", name, len(g.Lines), g.Notes, tableRows)
		}
	}
}

// No peak is lost when many changes share a pixel.
func TestStepLineKeepsItsPeaks(t *testing.T) {
	d := &drawing{}
	p := panel{d, linear(0, 1, 0, 100), linear(0, 10, 100, 0)}
	var sums []level
	for i := range 10_000 {
		n := i % 3
		if i == 5_000 {
			n = 10
		}
		sums = append(sums, level{clock.Instant(i) * clock.Instant(100*time.Microsecond), n})
	}
	path := p.levelSteps(sums, span{0, clock.Instant(time.Second)})
	if len(path) > 5_000 {
		t.Errorf("the path has %d bytes for 100 pixels", len(path))
	}
	top := px(100)
	for _, at := range pathPoints(t, path) {
		top = min(top, at.y)
	}
	if top != 0 {
		t.Errorf("the highest point is at %v, want the peak at 0", top)
	}
}
