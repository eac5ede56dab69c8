package reports

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/tsenart/vegeta/v12/lib/plot"

	"coldwave/analysis"
)

// Limits bound what one report holds. The zero value means the defaults.
type Limits struct {
	Points int // of one scatter chart, from 1; 0: 500,000. Beyond it the fast warm requests are thinned out, and the chart says so
}

const pointsDefault = 500_000

func (l Limits) points() int {
	if l.Points <= 0 {
		return pointsDefault
	}
	return l.Points
}

//go:embed html
var pageFiles embed.FS

// VerificationHTML writes v as one self-contained page: the verdict sentence first, then the claims, the charts, and
// environment and method. Nothing in it makes a request. Its errors are those of w.
func VerificationHTML(w io.Writer, v Verification, l Limits) error {
	p, err := verificationPage(v, l)
	if err != nil {
		return err
	}
	return p.write(w)
}

// SingleHTML writes r as a page like that of VerificationHTML. Its errors are those of w.
func SingleHTML(w io.Writer, r Single, l Limits) error {
	p, err := singlePage(r, l)
	if err != nil {
		return err
	}
	return p.write(w)
}

// A page is what the template shows. All its strings are raw.
type page struct {
	Title       string
	Verdict     string
	Tone        tone
	Facts       []string // one line under the verdict
	Warnings    []analysis.Warning
	Claims      []claimView
	Tally       []tallyView
	Sections    []section
	Environment []fact
	Method      []string

	Policy  string // content security policy
	Style   template.CSS
	Scripts []template.JS
	Points  []scatter
	Notices []notice
}

type fact struct{ Name, Value string }

// A section is one heading with its figures.
type section struct {
	ID, Title, Intro string
	Keys             []key
	Figures          []*figure
}

// A figure is a drawing, a scatter chart or just tables, with the tables that hold its numbers.
type figure struct {
	ID      string
	Title   string
	Desc    string
	Note    string
	Drawing *drawing
	Scatter *scatter
	Wide    bool // takes the whole width of the page
	Tables  []grid
	Open    bool // the tables are the figure: they are not folded
}

// A key explains one mark of the charts.
type key struct{ Class, Text string }

// A notice is a licence that has to travel with the page.
type notice struct{ Name, Text string }

// write fills in what follows from the whole page, and renders it.
func (p *page) write(w io.Writer) error {
	if err := p.load(); err != nil {
		return err
	}
	p.number()
	t, err := template.New("page.html").Funcs(template.FuncMap{"v": visible}).ParseFS(pageFiles, "html/*.html")
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, "page.html", p); err != nil {
		return err
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// load reads the scripts, styles and licences, and allows exactly these scripts.
func (p *page) load() error {
	library, err := asset("uPlot.min.js")
	if err != nil {
		return err
	}
	libraryStyle, err := asset("uPlot.min.css")
	if err != nil {
		return err
	}
	var own [4]string
	for i, name := range []string{"report.css", "report.js", "uplot-license.txt", "vegeta-license.txt"} {
		b, err := pageFiles.ReadFile("html/" + name)
		if err != nil {
			return err
		}
		own[i] = string(b)
	}
	// Both are files of this program or of a pinned module, never data.
	p.Style = template.CSS(libraryStyle + own[0])                        //nolint:gosec // an embedded file
	p.Scripts = []template.JS{template.JS(library), template.JS(own[1])} //nolint:gosec // embedded files
	p.Notices = []notice{{"uPlot", own[2]}, {"vegeta, which carries uPlot", own[3]}}
	p.Policy = contentPolicy(p.Scripts)
	return nil
}

// asset reads one file of the chart library that vegeta carries.
func asset(name string) (string, error) {
	f, err := plot.Assets.Open(name)
	if err != nil {
		return "", fmt.Errorf("chart library: %w", err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return "", fmt.Errorf("chart library: read %s: %w", name, err)
	}
	return string(b), f.Close()
}

// contentPolicy allows no request at all, and no script but the given ones.
func contentPolicy(scripts []template.JS) string {
	hashes := make([]string, len(scripts))
	for i, s := range scripts {
		sum := sha256.Sum256([]byte(s))
		hashes[i] = "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src 'unsafe-inline'; script-src " + strings.Join(hashes, " ") +
		"; img-src data:; base-uri 'none'; form-action 'none'"
}

// number gives every figure an id of its own: names of patterns and policies need not make good ones.
func (p *page) number() {
	n := 0
	for _, s := range p.Sections {
		for _, f := range s.Figures {
			n++
			f.ID = fmt.Sprintf("figure-%d", n)
			if f.Drawing != nil {
				f.Drawing.ID, f.Title, f.Desc = f.ID+"-drawing", f.Drawing.Title, f.Drawing.Desc
			}
			if f.Scatter != nil {
				f.Scatter.ID, f.Title, f.Desc, f.Note = f.ID+"-chart", f.Scatter.Title, f.Scatter.Desc, f.Scatter.Note
				p.Points = append(p.Points, *f.Scatter)
			}
		}
	}
}

// A span of header cells under one group's name.
type groupHead struct {
	Name string
	Span int
}

// Groups returns the upper header line: the name of each group over its columns. It is nil without groups.
func (g grid) Groups() []groupHead {
	if !g.grouped() {
		return nil
	}
	var heads []groupHead
	for i, c := range g.Columns {
		if i > 0 && g.Columns[i-1].Group == c.Group {
			heads[len(heads)-1].Span++
			continue
		}
		heads = append(heads, groupHead{Name: c.Group, Span: 1})
	}
	return heads
}

// Opens says whether column i is the first of a later group: a rule separates it from the group before.
func (g grid) Opens(i int) bool {
	return i > 0 && g.Columns[i].Group != "" && g.Columns[i].Group != g.Columns[i-1].Group
}
