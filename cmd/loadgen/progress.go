package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"coldwave/experiment"
)

// display shows a run that is on: repainted lines on a terminal, one plain line every ten seconds elsewhere, so that
// logs neither fill up nor fall silent.
type display struct {
	out     io.Writer
	tty     bool
	quiet   bool
	painted int           // lines on the screen that the next repaint replaces
	last    time.Duration // elapsed time of the last plain line
	stage   string
}

const plainEvery = 10 * time.Second

// show prints one snapshot.
func (d *display) show(p experiment.Progress) {
	switch {
	case d.quiet:
	case d.tty:
		d.repaint(p)
	case p.Stage != d.stage || p.Elapsed-d.last >= plainEvery:
		d.stage, d.last = p.Stage, p.Elapsed
		fmt.Fprintln(d.out, plainLine(p))
	}
}

// clear removes the painted lines, so that results start on a clean line.
func (d *display) clear() {
	if d.painted > 0 {
		fmt.Fprintf(d.out, "\x1b[%dA\x1b[J", d.painted)
		d.painted = 0
	}
}

func (d *display) repaint(p experiment.Progress) {
	lines := screen(p)
	var b strings.Builder
	if d.painted > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", d.painted)
	}
	for _, line := range lines {
		fmt.Fprintf(&b, "\x1b[2K%s\n", line)
	}
	b.WriteString("\x1b[J")
	d.painted = len(lines)
	_, _ = io.WriteString(d.out, b.String()) // a terminal that is gone must not end the run
}

// screen is the live view of 80 columns.
func screen(p experiment.Progress) []string {
	if p.Runs > 0 {
		return []string{fmt.Sprintf("%s %s", bar(time.Duration(p.RunsDone), time.Duration(p.Runs), 30), runsText(p))}
	}
	lines := []string{fmt.Sprintf("%s %s / %s  %s", bar(p.Elapsed, p.Total, 30), seconds(p.Elapsed), seconds(p.Total), stageText(p))}
	if len(p.Cells) == 0 {
		return lines
	}
	lines = append(lines, fmt.Sprintf("%-20s %9s %11s %9s %6s %9s %6s", "cell", "waves", "sent", "in flight", "queue", "instances", "failed"))
	for _, c := range p.Cells {
		lines = append(lines, fmt.Sprintf("%-20s %9s %11s %9d %6d %9s %6d", c.Name, waves(c), fmt.Sprintf("%d/%d", c.Sent, c.Scheduled),
			c.InFlight, c.Queued, instances(c), c.Failed))
	}
	return lines
}

// plainLine is the sum over all cells, because a line for each would be too long for a log.
func plainLine(p experiment.Progress) string {
	if p.Runs > 0 {
		return runsText(p)
	}
	if len(p.Cells) == 0 {
		return stageText(p)
	}
	var sum experiment.CellProgress
	for _, c := range p.Cells {
		sum.Waves, sum.WavesSent = sum.Waves+c.Waves, sum.WavesSent+c.WavesSent
		sum.Sent, sum.Scheduled, sum.InFlight, sum.Failed = sum.Sent+c.Sent, sum.Scheduled+c.Scheduled, sum.InFlight+c.InFlight, sum.Failed+c.Failed
		sum.Alive, sum.Starting, sum.Queued = sum.Alive+c.Alive, sum.Starting+c.Starting, sum.Queued+c.Queued
	}
	return fmt.Sprintf("%s/%s %s  cells=%d waves=%s sent=%d/%d inflight=%d queue=%d instances=%s failed=%d", seconds(p.Elapsed),
		seconds(p.Total), stageText(p), len(p.Cells), waves(sum), sum.Sent, sum.Scheduled, sum.InFlight, sum.Queued, instances(sum), sum.Failed)
}

// runsText says how many runs are done, and about how long the others will take.
func runsText(p experiment.Progress) string {
	text := fmt.Sprintf("%s: %d of %d runs", p.Stage, p.RunsDone, p.Runs)
	if p.RunsDone > 0 && p.RunsDone < p.Runs {
		text += fmt.Sprintf(", about %s left", seconds(time.Duration(float64(p.Elapsed)*float64(p.Runs-p.RunsDone)/float64(p.RunsDone))))
	}
	return text
}

func stageText(p experiment.Progress) string {
	if p.Try > 1 {
		return fmt.Sprintf("%s (try %d)", p.Stage, p.Try)
	}
	return p.Stage
}

func waves(c experiment.CellProgress) string {
	if c.Waves == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", c.WavesSent, c.Waves)
}

// instances shows those that can serve and, after a plus, those that are starting: "12+4".
func instances(c experiment.CellProgress) string {
	if c.Starting == 0 {
		return fmt.Sprint(c.Alive)
	}
	return fmt.Sprintf("%d+%d", c.Alive-c.Starting, c.Starting)
}

func bar(done, total time.Duration, width int) string {
	filled := 0
	if total > 0 {
		filled = int(int64(width) * int64(min(max(done, 0), total)) / int64(total))
	}
	return "[" + strings.Repeat("#", filled) + strings.Repeat("-", width-filled) + "]"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", max(d, 0).Seconds()) }
