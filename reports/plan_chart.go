package reports

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"coldwave/workload"
)

// chartRows is the height of the drawing without its axis, in lines.
const chartRows = 8

// A barChart is a drawing of counts as columns of text, one per step.
type barChart struct {
	title  string
	counts []int
	step   time.Duration
	length time.Duration
}

// planChart counts the arrivals in as many steps as the width has columns beside the labels.
func planChart(s *workload.Schedule, width int) barChart {
	label := len(strconv.Itoa(len(s.Arrivals)))
	step := niceStep(s.Length, width-label-2)
	return barChart{
		title: "Requests in each " + exactSeconds(step), counts: countSteps(s, step),
		step: step, length: s.Length,
	}
}

// chart draws the columns with the largest count at the top left and the time beneath.
func (p *printer) chart(c barChart) {
	p.heading(c.title)
	most := 0
	for _, n := range c.counts {
		most = max(most, n)
	}
	label := len(strconv.Itoa(most))
	for row := chartRows - 1; row >= 0; row-- {
		text := ""
		if row == chartRows-1 {
			text = strconv.Itoa(most)
		}
		cells := strings.TrimRight(p.barRow(c.counts, most, row), " ")
		p.write(strings.TrimRight(fmt.Sprintf("%*s %s%s", label, text, p.sign("│", "|"), cells), " ") + "\n")
	}
	p.write(fmt.Sprintf("%*s %s%s\n", label, "0", p.sign("└", "+"), strings.Repeat(p.sign("─", "-"), len(c.counts))))
	p.write(strings.Repeat(" ", label+2) + timeAxis(c) + "\n")
}

func (p *printer) sign(unicode, ascii string) string {
	if p.style.Unicode {
		return unicode
	}
	return ascii
}

// barRow is one line of the columns; row 0 is the lowest. A count above 0 is never drawn as nothing.
func (p *printer) barRow(counts []int, most, row int) string {
	levels := []rune(" ▁▂▃▄▅▆▇█")
	if !p.style.Unicode {
		levels = []rune(" #")
	}
	parts := len(levels) - 1 // steps within one cell
	var b strings.Builder
	for _, n := range counts {
		height := (n*chartRows*parts + most/2) / most // rounded
		if n > 0 {
			height = max(height, 1)
		}
		b.WriteRune(levels[min(max(height-row*parts, 0), parts)])
	}
	return b.String()
}

// timeAxis writes 0 at the left, the end at the right edge of the last column, and the middle where it fits.
func timeAxis(c barChart) string {
	width := len(c.counts)
	left, right := "0 s", exactSeconds(c.length)
	middle := time.Duration(width/2) * c.step
	out := left
	if text := exactSeconds(middle); width >= len(left)+len(text)+len(right)+8 {
		out = padTo(out, width/2) + text
	}
	return padTo(out, max(len(out)+1, width-len(right))) + right
}

func padTo(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}
