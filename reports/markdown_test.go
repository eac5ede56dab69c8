package reports

import (
	"bytes"
	"strings"
	"testing"
)

func verificationMarkdown(t *testing.T, v Verification) string {
	t.Helper()
	var b bytes.Buffer
	if err := VerificationMarkdown(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdownGolden(t *testing.T) {
	golden(t, "verify.md", []byte(verificationMarkdown(t, fixtureVerification())))
	var b bytes.Buffer
	if err := SingleMarkdown(&b, fixtureSingle()); err != nil {
		t.Fatal(err)
	}
	golden(t, "run.md", b.Bytes())
}

func TestMarkdownShowsTextLiterally(t *testing.T) {
	for _, row := range []struct{ why, in, want string }{
		{"a pipe would begin a cell", "a|b", `a\|b`},
		{"a backtick would begin code", "`a", "\\`a"},
		{"a mention would call a person", "@admin", "@<!-- -->admin"},
		{"a number sign would link an issue", "#1", "#<!-- -->1"},
		{"markup of HTML", "<b>&amp;", "&lt;b&gt;&amp;amp;"},
		{"a link", "[x](http://y)", `\[x\](http&#58;//y)`},
		{"an address alone", "www.example.invalid", "www&#46;example.invalid"},
		{"a line break would end the table", "a\nb", `a\\x0ab`},
		{"a backslash of the data does not escape ours", `\|`, `\\\|`},
	} {
		if got := inMarkdown(row.in); got != row.want {
			t.Errorf("%s: inMarkdown(%q) = %q, want %q", row.why, row.in, got, row.want)
		}
	}
}

// F26: a payload changes neither the number of lines nor that of cells.
func TestPayloadDoesNotChangeTheTables(t *testing.T) {
	shape := func(text string) string {
		var b strings.Builder
		for l := range strings.Lines(text) {
			if !strings.HasPrefix(l, "|") { // outside tables a pipe is a pipe
				l = strings.ReplaceAll(l, "|", "")
			}
			l = strings.NewReplacer(`\\`, "", `\|`, "", apart, "").Replace(l)
			b.WriteString(strings.Map(func(r rune) rune {
				if r == '|' || r == '\n' || r == '<' {
					return r
				}
				return -1
			}, l))
		}
		return b.String()
	}
	want := shape(verificationMarkdown(t, poisoned("plain")))
	for _, payload := range append(hostile, "a|b|c", "`|`", `\|`, "@all #1") {
		if got := shape(verificationMarkdown(t, poisoned(payload))); got != want {
			t.Errorf("payload %q changes the shape of the document", payload)
		}
	}
}

func TestMarkdownReportsTheWritersError(t *testing.T) {
	if VerificationMarkdown(&full{10}, fixtureVerification()) == nil || SingleMarkdown(&full{10}, fixtureSingle()) == nil {
		t.Error("Markdown to a full disk: no error")
	}
}
