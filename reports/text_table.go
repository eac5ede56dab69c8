package reports

import (
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// proseMin is the least width to which a column of prose is narrowed, in characters.
const proseMin = 10

// gutter is what a column costs beside its text: one blank on each side and the separator.
const gutter = 3

// table writes g with its caption and its notes.
//
// The cells are wrapped here and not by tablewriter, which would break numbers as well. Its automatic formatting is off
// because it changes headers to upper case, and every column has its own alignment because tablewriter aligns all left.
func (p *printer) table(g grid) error {
	if g.Caption != "" {
		p.heading(g.Caption)
	}
	head, lines := p.layout(g)
	var buf strings.Builder
	t := tablewriter.NewTable(&buf,
		tablewriter.WithRenderer(renderer.NewBlueprint(p.rendition())),
		tablewriter.WithConfig(plainConfig(alignments(g.Columns))),
		tablewriter.WithEastAsian(tw.Off), // widths must not depend on the reader's locale
	)
	t.Header(head)
	if err := t.Bulk(lines); err != nil {
		return err
	}
	if err := t.Render(); err != nil {
		return err
	}
	p.write(trimRight(buf.String()))
	for _, n := range g.Notes {
		p.note(n)
	}
	return p.err
}

func plainConfig(align []tw.Align) tablewriter.Config {
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{PerColumn: align},
	}
	return tablewriter.Config{
		Header:   cell,
		Row:      cell,
		Behavior: tw.Behavior{TrimSpace: tw.Off, TrimLine: tw.Off},
	}
}

func alignments(columns []column) []tw.Align {
	align := make([]tw.Align, len(columns))
	for i, c := range columns {
		align[i] = tw.AlignLeft
		if c.Number {
			align[i] = tw.AlignRight
		}
	}
	return align
}

// rendition draws a line under the header and blanks between columns: the fewest lines that still read as a table.
func (p *printer) rendition() tw.Rendition {
	style := tw.StyleASCII
	if p.style.Unicode {
		style = tw.StyleLight
	}
	return tw.Rendition{
		Borders: tw.Border{Left: tw.Off, Right: tw.Off, Top: tw.Off, Bottom: tw.Off},
		Symbols: tw.NewSymbols(style),
		Settings: tw.Settings{
			Separators: tw.Separators{ShowHeader: tw.On, BetweenRows: tw.Off, BetweenColumns: tw.On},
			Lines:      tw.Lines{ShowHeaderLine: tw.On},
		},
	}
}

// layout escapes, wraps and colours the cells.
func (p *printer) layout(g grid) (head []string, lines [][]string) {
	widths := p.fit(g)
	head = p.headers(g)
	for _, l := range g.Lines {
		cells := make([]string, len(g.Columns))
		for i := range cells {
			if i >= len(l.Cells) {
				continue
			}
			text := p.text(l.Cells[i])
			if g.Columns[i].Prose {
				text = strings.Join(wrap(text, widths[i]), "\n")
			}
			if g.Columns[i].Verb {
				text = p.colour(l.Tone, text)
			}
			cells[i] = text
		}
		lines = append(lines, cells)
	}
	return head, lines
}

// headers returns the column names, under the name of their group at the group's first column.
func (p *printer) headers(g grid) []string {
	head := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		name := p.text(c.Name)
		head[i] = name
		if !g.grouped() {
			continue
		}
		group := ""
		if i == 0 || g.Columns[i-1].Group != c.Group {
			group = p.text(c.Group)
		}
		head[i] = group + "\n" + name
	}
	return head
}

// fit returns the width of each column: its natural width, with prose narrowed, the widest first, until the line fits.
func (p *printer) fit(g grid) []int {
	widths := make([]int, len(g.Columns))
	total := -1
	for i := range g.Columns {
		widths[i] = p.natural(g, i)
		total += widths[i] + gutter
	}
	for total > p.width() {
		at := widestProse(g.Columns, widths)
		if at < 0 {
			break
		}
		widths[at]--
		total--
	}
	return widths
}

func (p *printer) natural(g grid, column int) int {
	width := twwidth.Width(p.text(g.Columns[column].Name))
	for _, l := range g.Lines {
		if column < len(l.Cells) {
			width = max(width, twwidth.Width(p.text(l.Cells[column])))
		}
	}
	return width
}

func widestProse(columns []column, widths []int) int {
	at := -1
	for i, c := range columns {
		if c.Prose && widths[i] > proseMin && (at < 0 || widths[i] > widths[at]) {
			at = i
		}
	}
	return at
}

// needs returns the width of g when nothing is wrapped.
func (p *printer) needs(g grid) int {
	total := -1
	for i := range g.Columns {
		total += p.natural(g, i) + gutter
	}
	return total
}

// wrap breaks text at blanks into lines of at most width characters. A word that is longer stays whole.
func wrap(text string, width int) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case current == "":
			current = word
		case twwidth.Width(current)+1+twwidth.Width(word) <= width:
			current += " " + word
		default:
			lines = append(lines, current)
			current = word
		}
	}
	return append(lines, current)
}

// trimRight removes the blanks that fill the last column.
func trimRight(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// A printer writes text until the first error.
type printer struct {
	w     io.Writer
	style Style
	err   error
}

func (p *printer) write(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}
