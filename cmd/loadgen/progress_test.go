package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"coldwave/experiment"
)

func snapshot(elapsed time.Duration) experiment.Progress {
	return experiment.Progress{Try: 1, Stage: "replaying", Elapsed: elapsed, Total: 70 * time.Second, Cells: []experiment.CellProgress{
		{Name: "fc-ramp/fc-bound", Waves: 6, WavesSent: 3, Scheduled: 63, Sent: 7, InFlight: 2, Done: 5, Alive: 4, Starting: 1, Queued: 1},
		{Name: "rate/fc-race", Scheduled: 100, Sent: 50, Failed: 3, Alive: 2},
	}}
}

func TestScreenShowsEveryCell(t *testing.T) {
	got := strings.Join(screen(snapshot(35*time.Second)), "\n")
	want := "[###############---------------] 35.0 s / 70.0 s  replaying\n" +
		"cell                     waves        sent in flight  queue instances failed\n" +
		"fc-ramp/fc-bound           3/6        7/63         2      1       3+1      0\n" +
		"rate/fc-race                 -      50/100         0      0         2      3"
	if got != want {
		t.Errorf("screen:\n%s\nwant:\n%s", got, want)
	}
}

// A log gets a line when the stage changes and every ten seconds, so it neither fills up nor falls silent.
func TestPlainProgressIsSparse(t *testing.T) {
	var out bytes.Buffer
	d := &display{out: &out}
	for at := -2 * time.Second; at <= 25*time.Second; at += 200 * time.Millisecond {
		d.show(snapshot(at))
	}
	if lines := strings.Count(out.String(), "\n"); lines != 3 {
		t.Errorf("27 s of progress gave %d lines, want 3:\n%s", lines, out.String())
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("plain progress holds control sequences")
	}
}

func TestRepaintReplacesItsOwnLines(t *testing.T) {
	var out bytes.Buffer
	d := &display{out: &out, tty: true}
	d.show(snapshot(0))
	d.show(snapshot(time.Second))
	d.clear()
	if up := strings.Count(out.String(), "\x1b[4A"); up != 2 {
		t.Errorf("two repaints and a clear moved up %d times by 4 lines, want 2", up)
	}
	out.Reset()
	d.clear()
	if out.Len() != 0 {
		t.Errorf("a second clear wrote %q", out.String())
	}
}

func TestQuietShowsNothing(t *testing.T) {
	var out bytes.Buffer
	(&display{out: &out, quiet: true}).show(snapshot(0))
	if out.Len() != 0 {
		t.Errorf("quiet wrote %q", out.String())
	}
}
