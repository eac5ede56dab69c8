package reports

import (
	"io"
	"slices"
	"strings"

	"coldwave/analysis"
)

// VerificationMarkdown writes the tables of v for a step summary or a pull request: the verdict first, then the claims
// with reasons, and the rest folded. Its only errors are those of w.
func VerificationMarkdown(w io.Writer, v Verification) error {
	ps := pairs(v.Runs)
	m := &markdown{}
	m.paragraph("## " + inMarkdown(sentence(v.Claims)))
	m.paragraph(inMarkdown(strings.Join(verificationFacts(v, ps), " · ")))
	m.paragraph(inMarkdown(hostSentence(v.Runs)))
	m.claims(v)
	for _, p := range ps {
		if len(wavesOf(p)) > 0 {
			m.folded(waveGrid(p))
		}
	}
	if len(v.Ladder) > 0 {
		m.folded(ladderGrid(v.Ladder))
	}
	m.folded(startGrid(ps))
	m.folded(timeGrid(ps))
	for _, g := range slices.Concat(nodeGrids(ps), billGrids(ps), attributionGrids(ps)) {
		m.folded(g)
	}
	m.folded(lagGrid(ps))
	for _, g := range twinGrids(ps) {
		m.folded(g)
	}
	_, err := io.WriteString(w, m.text.String())
	return err
}

// SingleMarkdown writes the tables of r as VerificationMarkdown does. Its only errors are those of w.
func SingleMarkdown(w io.Writer, r Single) error {
	ps := pairs([]analysis.Run{r.Run})
	m := &markdown{}
	m.paragraph("## " + inMarkdown(singleVerdict(&r.Run)))
	m.paragraph(inMarkdown(runSentence(&r)))
	m.paragraph(inMarkdown(hostSentence([]analysis.Run{r.Run})))
	for _, warning := range r.Run.Summary.Warnings {
		m.paragraph("**Warning:** " + inMarkdown(warning.Text))
	}
	m.gates(r.Gates)
	m.table(kindGrid(&r.Run))
	if len(r.Run.Summary.Waves) > 0 {
		m.folded(singleWaveGrid(&r.Run))
	}
	if len(r.Run.Summary.Windows) > 0 {
		m.folded(windowGrid(&r.Run))
	}
	m.folded(startGrid(ps))
	m.folded(timeGrid(ps))
	for _, g := range slices.Concat(nodeGrids(ps), billGrids(ps), attributionGrids(ps)) {
		m.folded(g)
	}
	m.folded(lagGrid(ps))
	_, err := io.WriteString(w, m.text.String())
	return err
}

// markdown is a document of GitHub's dialect.
type markdown struct{ text strings.Builder }

func (m *markdown) write(s string) { m.text.WriteString(s) }

func (m *markdown) paragraph(text string) {
	if text != "" {
		m.write(text + "\n\n")
	}
}

func (m *markdown) claims(v Verification) {
	m.table(claimGrid(v.Claims))
	for _, kind := range verdicts {
		for _, r := range v.Claims {
			if r.Verdict == kind && r.Reason != "" {
				m.write("- **" + inMarkdown(string(kind)) + "** " + inMarkdown(r.Claim.ID+": "+withCommand(r)) + "\n")
			}
		}
	}
	m.write("\n")
}

func (m *markdown) folded(g grid) {
	m.write("<details><summary>" + inSummary.Replace(visible(g.Caption)) + "</summary>\n\n")
	m.table(g)
	m.write("</details>\n\n")
}

func (m *markdown) captioned(g grid) {
	m.paragraph("### " + inMarkdown(g.Caption))
	m.table(g)
}

func (m *markdown) table(g grid) {
	for i, c := range g.Columns {
		name := c.Name
		if c.Group != "" {
			name = c.Group + " " + name
		}
		m.cell(i, name)
	}
	m.write(" |\n")
	for _, c := range g.Columns {
		if c.Number {
			m.write("|--:")
		} else {
			m.write("|---")
		}
	}
	m.write("|\n")
	for _, l := range g.Lines {
		for i, text := range l.Cells {
			m.cell(i, text)
		}
		m.write(" |\n")
	}
	m.write("\n")
	for _, n := range g.Notes {
		m.paragraph(inMarkdown(n))
	}
}

func (m *markdown) cell(i int, text string) {
	if i > 0 {
		m.write(" ")
	}
	m.write("| " + inMarkdown(text))
}

// inMarkdown returns text that shows itself: no markup, no link, no mention of a person or an issue.
func inMarkdown(text string) string { return markdownSigns.Replace(visible(text)) }

// An empty comment keeps a mention or a number of an issue from being one; a zero-width character would be copied along.
const apart = "<!-- -->"

var markdownSigns = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@"+apart, "#", "#"+apart, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`,
	"]", `\]`, `\`, `\\`, "~", `\~`, "!", `\!`, "://", "&#58;//", "www.", "www&#46;",
)

// inSummary is for text between tags, where Markdown is not read.
var inSummary = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@"+apart, "#", "#"+apart)
