package reports

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns s with everything that acts on a terminal or a page instead of being read replaced by its escaped
// form: control bytes of both sets, line breaks, bidirectional overrides, zero-width characters and bytes that are not
// UTF-8 (R11).
func visible(s string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !acts(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

func clean(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, acts) }

// acts says whether r does something else than stand for itself. Format characters hold the bidirectional controls and
// the zero-width ones; the separators break a line.
func acts(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}
