package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"coldwave/analysis"
	"coldwave/references"
)

// Style says what the terminal can show. Its zero value is right for pipes and logs: no colour, ASCII, 120 characters.
type Style struct {
	Width   int  // in characters, from 40; 0: 120
	Color   bool // ANSI colours
	Unicode bool // box drawing, and mathematical signs instead of their ASCII spelling
}

const (
	widthDefault = 120
	widthMin     = 40
)

// VerificationText writes the screen that ends a verification: host, claims with reasons, waves before and after, the
// burst ladder, starts and instance time, send lag, distance to the virtual twin, warnings, and the verdict in one sentence. Its only errors are
// those of w.
func VerificationText(w io.Writer, v Verification, s Style) error {
	p := &printer{w: w, style: s}
	ps := pairs(v.Runs)
	p.sentence(hostSentence(v.Runs))
	p.grid(claimGrid(v.Claims))
	p.reasons(v.Claims)
	if v.Suite != nil {
		p.suiteText(v)
	} else {
		p.mainText(v, ps)
	}
	p.write("\n" + p.colour(overall(v.Claims), p.text(sentence(v.Claims))) + "\n")
	return p.err
}

// mainText writes the part of the screen that compares the scheduling before and after.
func (p *printer) mainText(v Verification, ps []pair) {
	for _, pair := range ps {
		p.waves(pair)
	}
	if len(v.Ladder) > 0 {
		p.grid(ladderGrid(v.Ladder))
	}
	p.grid(startGrid(ps))
	p.grid(timeGrid(ps))
	p.grids(nodeGrids(ps))
	p.grids(billGrids(ps))
	p.grids(attributionGrids(ps))
	p.grid(lagGrid(ps))
	p.grids(twinGrids(ps))
	for i := range v.Runs {
		p.warnings(v.Runs[i].Pattern+" "+v.Runs[i].Policy+": ", v.Runs[i].Summary.Warnings)
	}
}

// SingleText writes the screen that ends a single run: warnings first, then outcomes, response times by start kind,
// waves, windows, instances and send lag. Its only errors are those of w.
func SingleText(w io.Writer, r Single, s Style) error {
	p := &printer{w: w, style: s}
	ps := pairs([]analysis.Run{r.Run})
	p.sentence(runSentence(&r))
	p.sentence(hostSentence([]analysis.Run{r.Run}))
	p.warnings("", r.Run.Summary.Warnings)
	p.sentence("Requests: " + outcomeSentence(&r.Run.Summary) + ".")
	p.grid(kindGrid(&r.Run))
	if len(r.Run.Summary.Waves) > 0 {
		p.grid(singleWaveGrid(&r.Run))
	}
	if len(r.Run.Summary.Windows) > 0 {
		p.grid(windowGrid(&r.Run))
	}
	if len(r.Run.Instances) > 0 {
		p.grid(startGrid(ps))
		p.grid(timeGrid(ps))
	}
	p.grids(nodeGrids(ps))
	p.grids(billGrids(ps))
	p.grids(attributionGrids(ps))
	p.grid(lagGrid(ps))
	p.sentence(logSentence(&r.Run))
	p.gates(r.Gates)
	return p.err
}

// gates shows what was judged, and in one sentence how.
func (p *printer) gates(all []analysis.Gate) {
	if len(all) > 0 {
		p.grids(gateGrids(all))
		p.write("\n" + p.colour(gatesTone(all), p.text(gateSentence(all))) + "\n")
	}
}

// logSentence names the decisions of the run: equal ones have equal hashes.
func logSentence(r *analysis.Run) string {
	if r.Log == "" {
		return ""
	}
	return "Event log SHA-256 " + r.Log + "."
}

func (p *printer) grids(all []grid) {
	for _, g := range all {
		p.grid(g)
	}
}

func (p *printer) grid(g grid) {
	if p.err == nil {
		p.err = p.table(g)
	}
}

// waves shows the sides beside each other where the terminal is wide enough, else under each other.
func (p *printer) waves(of pair) {
	if len(wavesOf(of)) == 0 {
		return
	}
	g := waveGrid(of)
	if len(of.Cells) > 1 && p.needs(g) > p.width() {
		g = stackedWaveGrid(of)
	}
	p.grid(g)
}

// reasons says for every claim that does not simply agree why that is so.
func (p *printer) reasons(claims []references.Result) {
	for _, v := range verdicts {
		for _, r := range claims {
			if r.Verdict == v && r.Reason != "" {
				head := p.colour(toneOf(v), p.text(string(v))) + "  "
				p.hanging(head+p.text(r.Claim.ID)+": ", p.text(withCommand(r)))
			}
		}
	}
}

// withCommand adds to the reason how to make the run that the claim needs.
func withCommand(r references.Result) string {
	if r.Claim.Command == "" || r.Verdict == references.Agrees || strings.Contains(r.Reason, r.Claim.Command) {
		return r.Reason
	}
	return r.Reason + "; run: " + r.Claim.Command
}

func (p *printer) warnings(where string, all []analysis.Warning) {
	for _, w := range all {
		p.hanging(p.colour(doubt, "warning")+"  "+p.text(where), p.text(w.Text+" ["+w.Code+"]"))
	}
}

func (p *printer) heading(s string) { p.write("\n" + p.bold(p.text(s)) + "\n") }

func (p *printer) sentence(s string) {
	if s != "" {
		p.write(strings.Join(wrap(p.text(s), p.width()), "\n") + "\n")
	}
}

func (p *printer) note(s string) {
	p.write(" " + p.colour(muted, strings.Join(wrap(p.text(s), p.width()-1), "\n ")) + "\n")
}

// hanging writes a paragraph whose further lines are indented. Head may hold colours.
func (p *printer) hanging(head, body string) {
	const indent = "    "
	lines := wrap(body, p.width()-len(indent))
	if len(plainText(head))+len(body) <= p.width() {
		lines = []string{head + body}
	} else {
		lines = append([]string{strings.TrimRight(head, " ")}, lines...)
	}
	p.write(strings.Join(lines, "\n"+indent) + "\n")
}

func (p *printer) width() int {
	if p.style.Width == 0 {
		return widthDefault
	}
	return max(p.style.Width, widthMin)
}

// text makes s safe for a terminal, and ASCII where the terminal is.
func (p *printer) text(s string) string {
	s = visible(s)
	if !p.style.Unicode {
		s = asciiSigns.Replace(s)
	}
	return s
}

// asciiSigns spells the signs of our own texts in ASCII. Other characters are left: they are somebody's data.
var asciiSigns = strings.NewReplacer("−", "-", "–", "-", "≥", ">=", "≤", "<=", "µ", "u", "×", "x", "÷", "/", "·", "*",
	"…", "...", "±", "+/-", "→", "->", "≈", "~", "“", `"`, "”", `"`, "’", "'")

const ansiReset = "\x1b[0m"

var ansi = map[tone]string{good: "\x1b[32m", bad: "\x1b[1;31m", doubt: "\x1b[33m", muted: "\x1b[2m"}

// colour paints each line of s by itself: a cell of several lines is drawn among others.
func (p *printer) colour(t tone, s string) string {
	if !p.style.Color || ansi[t] == "" {
		return s
	}
	return paint(ansi[t], s)
}

func (p *printer) bold(s string) string {
	if !p.style.Color {
		return s
	}
	return paint("\x1b[1m", s)
}

func paint(code, s string) string {
	return code + strings.ReplaceAll(s, "\n", ansiReset+"\n"+code) + ansiReset
}

// plainText removes our own colours.
func plainText(s string) string {
	s = strings.ReplaceAll(s, ansiReset, "")
	for _, code := range ansi {
		s = strings.ReplaceAll(s, code, "")
	}
	return s
}

// hostSentence says whether the host was calm. The worst of the runs speaks: one loud minute is enough to spoil times.
func hostSentence(runs []analysis.Run) string {
	if len(runs) == 0 {
		return ""
	}
	worst := &runs[0]
	for i := range runs {
		h := runs[i].Host
		if h.Busy && !worst.Host.Busy || h.Busy == worst.Host.Busy && h.Overshoot.P95 > worst.Host.Overshoot.P95 {
			worst = &runs[i]
		}
	}
	h := worst.Host
	if h.Busy {
		return "Host: BUSY, times of this run mean nothing: " + h.Reason + "."
	}
	if h.Overshoot.N == 0 {
		return "Host: not calibrated (virtual time needs no calm host)."
	}
	return fmt.Sprintf("Host: calm; sleeps of 100 ms ended late by p95 %s, max %s (n=%d); loopback round trip p95 %s (n=%d).",
		duration(h.Overshoot.P95), duration(h.Overshoot.Max), h.Overshoot.N, duration(h.Loopback.P95), h.Loopback.N)
}

func runSentence(r *Single) string {
	text := "Run " + r.Run.ID + ": " + r.Run.Pattern
	switch {
	case r.Run.Policy != "":
		text += " under " + r.Run.Policy
	case r.Run.Target != "":
		text += " against " + r.Run.Target
	}
	if r.Run.Law != "" {
		text += ", cold-start law " + r.Run.Law
	}
	text += placementText(r.Run.Placement)
	text += fmt.Sprintf(", %s, seed %d", driver(r.Run.Driver), r.Run.Seed)
	if r.Run.Driver != virtualDriver {
		text += ", " + elapsed(r.Elapsed)
	}
	return text + "." + bucketSentence(r.Run.Summary.Buckets)
}

// driver says how time passed, in words.
func driver(name string) string {
	switch name {
	case "wire":
		return "over HTTP"
	case "virtual":
		return "in virtual time"
	}
	return name
}

func elapsed(d time.Duration) string { return duration(d) + " elapsed" }
