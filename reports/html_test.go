package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"coldwave/analysis"
)

func verificationHTML(t *testing.T, v Verification) string {
	t.Helper()
	var b bytes.Buffer
	if err := VerificationHTML(&b, v, Limits{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func singleHTML(t *testing.T, s Single) string {
	t.Helper()
	var b bytes.Buffer
	if err := SingleHTML(&b, s, Limits{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func parseHTML(t *testing.T, page string) *html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// elements lists the elements of doc that match, in document order.
func elements(doc *html.Node, match func(*html.Node) bool) []*html.Node {
	var found []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && match(n) {
			found = append(found, n)
		}
	}
	return found
}

func named(names ...string) func(*html.Node) bool {
	return func(n *html.Node) bool { return slices.Contains(names, n.Data) }
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// textOf returns the text in n. Text of scripts is not read by anybody.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.DataAtom != atom.Script && d.Parent.DataAtom != atom.Style {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

func TestPageBeginsWithTheVerdict(t *testing.T) {
	v := fixtureVerification()
	for _, row := range []struct{ why, page, want string }{
		{"a verification", verificationHTML(t, v), sentence(v.Claims)},
		{"a run", singleHTML(t, fixtureSingle()), "32 scheduled, 32 sent: 32 ok; response time p50 307 ms, p99 2.91 s."},
	} {
		body := elements(parseHTML(t, row.page), named("body"))[0]
		first, _, _ := strings.Cut(textOf(body), "\n")
		if first != row.want {
			t.Errorf("%s: first line of the body = %q, want %q", row.why, first, row.want)
		}
	}
}

func TestPageStructure(t *testing.T) {
	for name, page := range map[string]string{
		"verification": verificationHTML(t, fixtureVerification()), "run": singleHTML(t, fixtureSingle()),
		"empty verification": verificationHTML(t, Verification{}), "empty run": singleHTML(t, Single{}),
	} {
		t.Run(name, func(t *testing.T) {
			doc := parseHTML(t, page)
			for _, one := range []string{"h1", "main", "nav", "header", "footer", "title"} {
				n := elements(doc, func(n *html.Node) bool { return n.Data == one && n.Namespace == "" })
				if len(n) != 1 {
					t.Errorf("%d elements %s, want 1", len(n), one)
				}
			}
			if lang := attr(elements(doc, named("html"))[0], "lang"); lang != "en" {
				t.Errorf("lang = %q", lang)
			}
			checkIDs(t, doc)
			checkPictures(t, doc)
		})
	}
}

func checkIDs(t *testing.T, doc *html.Node) {
	t.Helper()
	seen := map[string]bool{}
	for _, n := range elements(doc, func(n *html.Node) bool { return attr(n, "id") != "" }) {
		if id := attr(n, "id"); seen[id] {
			t.Errorf("id %q is there twice", id)
		} else {
			seen[id] = true
		}
	}
	for _, n := range elements(doc, func(*html.Node) bool { return true }) {
		for _, id := range strings.Fields(attr(n, "aria-labelledby")) {
			if !seen[id] {
				t.Errorf("%s is labelled by %q, which does not exist", n.Data, id)
			}
		}
		if href := attr(n, "href"); href != "" && !seen[strings.TrimPrefix(href, "#")] {
			t.Errorf("link to %q, which does not exist", href)
		}
	}
}

// checkPictures: every picture tells what it shows to those who do not see it.
func checkPictures(t *testing.T, doc *html.Node) {
	t.Helper()
	for _, n := range elements(doc, func(n *html.Node) bool { return n.Data == "svg" || attr(n, "class") == "chart" }) {
		switch {
		case attr(n, "aria-hidden") == "true":
		case attr(n, "role") != "img":
			t.Errorf("%s %q has no role", n.Data, attr(n, "id"))
		case n.Data == "svg" && len(elements(n, named("desc"))) != 1:
			t.Errorf("drawing %q has no description", attr(n, "aria-labelledby"))
		case n.Data == "div" && attr(n, "aria-label") == "":
			t.Errorf("chart %q has no label", attr(n, "id"))
		}
	}
}

func TestVerificationHasEveryChart(t *testing.T) {
	doc := parseHTML(t, verificationHTML(t, fixtureVerification()))
	var titles []string
	for _, n := range elements(doc, named("figcaption")) {
		titles = append(titles, textOf(n))
	}
	for _, want := range []string{
		"fc-ramp, before (fc-bound): response time of every request", "fc-burst, after (fc-race): response time of every request",
		"The burst, row by row", "fc-ramp: mean response time per 10 s", "fc-burst: p99 response time per 10 s",
		"fc-burst, after (fc-race): instances and queue", "fc-ramp, before (fc-bound): percentiles by start kind",
		"fc-ramp, after (fc-race): send lag",
	} {
		if !slices.Contains(titles, want) {
			t.Errorf("no figure %q among %q", want, titles)
		}
	}
}

func TestPageAllowsOnlyItsOwnScripts(t *testing.T) {
	doc := parseHTML(t, verificationHTML(t, fixtureVerification()))
	metas := elements(doc, func(n *html.Node) bool { return attr(n, "http-equiv") == "Content-Security-Policy" })
	if len(metas) != 1 {
		t.Fatalf("%d content security policies, want 1", len(metas))
	}
	policy := attr(metas[0], "content")
	for _, want := range []string{"default-src 'none'", "style-src 'unsafe-inline'", "img-src data:"} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy %q lacks %q", policy, want)
		}
	}
	scripts := elements(doc, func(n *html.Node) bool { return n.Data == "script" && attr(n, "type") == "" })
	if len(scripts) != 2 {
		t.Fatalf("%d scripts, want 2", len(scripts))
	}
	for i, s := range scripts {
		sum := sha256.Sum256([]byte(s.FirstChild.Data))
		hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !strings.Contains(policy, hash) {
			t.Errorf("script %d has %s, which the policy does not allow", i+1, hash)
		}
	}
	if n := strings.Count(policy, "sha256-"); n != 2 {
		t.Errorf("policy allows %d scripts, want 2", n)
	}
}

// allowed are the elements that a page is made of.
var allowed = strings.Fields(`html head meta title style body header h1 h2 ul li p span nav a main section div table caption
	thead tbody tr th td code details summary figure figcaption noscript dl dt dd footer pre script
	svg g defs pattern desc line rect circle path text`)

// F26: no payload in any text field becomes markup that acts.
func TestNoPayloadBecomesMarkup(t *testing.T) {
	for _, payload := range hostile {
		for name, page := range map[string]string{
			"verification": verificationHTML(t, poisoned(payload)), "run": singleHTML(t, poisonedSingle(payload)),
		} {
			for _, p := range dangers(parseHTML(t, page)) {
				t.Errorf("%s, payload %q: %s", name, payload, p)
			}
		}
	}
}

// The check above must be able to fail.
func TestDangersAreSeen(t *testing.T) {
	for _, page := range []string{
		`<script>1</script>`, `<img src=x>`, `<p onclick=x>`, `<a href="javascript:1">x</a>`, `<form></form>`,
		`<meta http-equiv=refresh content=0>`, `<p style="background:url(http://x)">`, `<svg><use href="http://x"/></svg>`,
	} {
		if len(dangers(parseHTML(t, page))) == 0 {
			t.Errorf("%s: no danger seen", page)
		}
	}
}

func dangers(doc *html.Node) []string {
	var all []string
	scripts := 0
	for _, n := range elements(doc, func(*html.Node) bool { return true }) {
		if !slices.Contains(allowed, n.Data) {
			all = append(all, "element "+n.Data)
		}
		if n.Data == "script" {
			scripts++
		}
		for _, a := range n.Attr {
			if p := attributeDanger(n, a); p != "" {
				all = append(all, p)
			}
		}
	}
	if scripts != 3 { // the data, the library and our own
		all = append(all, fmt.Sprintf("%d scripts", scripts))
	}
	return all
}

func attributeDanger(n *html.Node, a html.Attribute) string {
	switch {
	case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "src", a.Key == "srcset", a.Key == "action":
		return n.Data + " has " + a.Key
	case a.Key == "href" && !strings.HasPrefix(a.Val, "#"):
		return n.Data + " links to " + a.Val
	case a.Key == "http-equiv" && a.Val != "Content-Security-Policy":
		return "meta " + a.Val
	}
	return ""
}

func TestPayloadIsShownLiterally(t *testing.T) {
	payload := `</script><script>window.pwned=1</script>`
	text := textOf(parseHTML(t, verificationHTML(t, poisoned(payload))))
	if n := strings.Count(text, payload); n < 20 {
		t.Errorf("the payload is shown %d times, want it in every field", n)
	}
}

func TestPageNamesNoOtherHost(t *testing.T) {
	doc := parseHTML(t, verificationHTML(t, fixtureVerification()))
	for _, n := range elements(doc, func(*html.Node) bool { return true }) {
		for _, a := range n.Attr {
			if strings.Contains(a.Val, "//") {
				t.Errorf("%s %s=%q", n.Data, a.Key, a.Val)
			}
		}
	}
	for _, n := range elements(doc, named("style")) {
		css := n.FirstChild.Data
		if strings.Contains(css, "//") || strings.Contains(css, "@import") || strings.Count(css, "url(") != strings.Count(css, "url(#hatch)") {
			t.Error("the style sheet loads something")
		}
	}
}

func TestExternalTargetHasNoInstances(t *testing.T) {
	s := fixtureSingle()
	s.Run.Policy, s.Run.Instances = "", nil
	if text := textOf(parseHTML(t, singleHTML(t, s))); !strings.Contains(text, "The target told nothing about its instances.") {
		t.Error("the page does not say that instances are not told")
	}
}

func TestWarningsAreOnThePage(t *testing.T) {
	v := fixtureVerification()
	v.Runs[2].Summary.Warnings = []analysis.Warning{{Code: "send-lag", Text: "two requests left late"}}
	if text := textOf(parseHTML(t, verificationHTML(t, v))); !strings.Contains(text, "fc-burst fc-bound: two requests left late") {
		t.Error("the warning is not on the page")
	}
}

func TestHTMLReportsTheWritersError(t *testing.T) {
	if err := VerificationHTML(&full{1000}, fixtureVerification(), Limits{}); err == nil {
		t.Error("VerificationHTML to a full disk: no error")
	}
	if err := SingleHTML(&full{1000}, fixtureSingle(), Limits{}); err == nil {
		t.Error("SingleHTML to a full disk: no error")
	}
}

// The chart library is pinned: another version may draw differently, and its licence must stay the one in the footer.
func TestChartLibraryIsTheOneThatWeKnow(t *testing.T) {
	for name, want := range map[string]string{"uPlot.min.js": "(v1.6.32)", "VERSIONS": "uPlot v1.6.32", "uPlot.min.css": ".uplot"} {
		text, err := asset(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q", name, want)
		}
		if strings.Contains(text, "</script") || strings.Contains(text, "\r") {
			t.Errorf("%s cannot stand in a page as it is", name)
		}
	}
	if _, err := asset("uPlot.js"); err == nil || !strings.Contains(err.Error(), "uPlot.js") {
		t.Errorf("asset of an unknown name: %v, want an error that names it", err)
	}
	text := textOf(elements(parseHTML(t, singleHTML(t, fixtureSingle())), named("footer"))[0])
	for _, want := range []string{"Leon Sorokin", "Tomás Senart", "WITHOUT WARRANTY OF ANY KIND"} {
		if !strings.Contains(text, want) {
			t.Errorf("the footer lacks %q", want)
		}
	}
}

func TestVirtualTimeHasNoSendLagToDraw(t *testing.T) {
	s := fixtureSingle()
	caption := "send lag</figcaption>"
	if !strings.Contains(singleHTML(t, s), caption) {
		t.Error("a run on the wire does not show its send lag")
	}
	s.Run.Driver = "virtual"
	if strings.Contains(singleHTML(t, s), caption) {
		t.Error("a run in virtual time shows a send lag")
	}
}
