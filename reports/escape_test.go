package reports

import (
	"strings"
	"testing"
)

func TestVisibleEscapesWhatActs(t *testing.T) {
	for _, row := range []struct{ why, in, want string }{
		{"plain text stays", "fc-ramp ≥ 200 ms", "fc-ramp ≥ 200 ms"},
		{"ESC starts a terminal command", "\x1b[2Jgone", `\x1b[2Jgone`},
		{"C1 control as one rune", "\u009b31m", `\x9b31m`},
		{"C1 control as a bare byte", "\x9b31m", `\x9b31m`},
		{"line breaks would forge a line", "ok\nFAIL\r", `ok\x0aFAIL\x0d`},
		{"right-to-left override", "a\u202eb", `a\u202eb`},
		{"zero-width space", "a\u200bb", `a\u200bb`},
		{"byte order mark", "\ufeffa", `\ufeffa`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"bytes that are not UTF-8", "a\xffb", `a\xffb`},
		{"a real replacement character is no error", "a\ufffdb", "a\ufffdb"},
	} {
		if got := visible(row.in); got != row.want {
			t.Errorf("%s: visible(%q) = %q, want %q", row.why, row.in, got, row.want)
		}
	}
}

// F26: no raw control byte of the data reaches the terminal.
func TestTextHoldsNoControlByteOfTheData(t *testing.T) {
	for _, payload := range hostile {
		text := string(verificationText(t, poisoned(payload), Style{Unicode: true}))
		if i := strings.IndexFunc(text, func(r rune) bool { return acts(r) && r != '\n' }); i >= 0 {
			t.Errorf("payload %q: text holds %q", payload, text[i:min(len(text), i+8)])
		}
		var b strings.Builder
		if err := SingleText(&b, poisonedSingle(payload), Style{}); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(b.String(), func(r rune) bool { return acts(r) && r != '\n' }); i >= 0 {
			t.Errorf("payload %q: text of a run holds %q", payload, b.String()[i:min(b.Len(), i+8)])
		}
	}
}
