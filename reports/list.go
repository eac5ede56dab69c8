package reports

import "io"

// List writes a plain table, as the listing verbs print it. The last column is prose and is wrapped to the width; a row
// may have fewer cells than there are columns.
func List(w io.Writer, s Style, columns []string, rows [][]string) error {
	g := grid{}
	for i, name := range columns {
		g.Columns = append(g.Columns, column{Name: name, Prose: i == len(columns)-1})
	}
	for _, row := range rows {
		cells := make([]string, len(columns))
		copy(cells, row)
		g.add(cells...)
	}
	p := &printer{w: w, style: s}
	p.grid(g)
	return p.err
}
