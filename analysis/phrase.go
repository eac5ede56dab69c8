package analysis

import (
	"fmt"
	"slices"
	"strings"

	"coldwave/internal/spell"
)

// SyntaxError says what is wrong with a threshold or a selector, and where.
type SyntaxError struct {
	Text   string
	Offset int // in bytes
	What   string
}

// Error is one line; Detail shows the place.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%q: column %d: %s", e.Text, e.column(), e.What)
}

// Detail is the text with a caret below the place, on two lines.
func (e *SyntaxError) Detail() string {
	line := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, e.Text)
	return line + "\n" + strings.Repeat(" ", e.column()-1) + "^"
}

func (e *SyntaxError) column() int { return len([]rune(e.Text[:e.Offset])) + 1 }

// maxPhrase bounds the text of a threshold, in bytes.
const maxPhrase = 500

// phrase reads one text word by word. After the first mistake its readers return nothing and keep that mistake.
type phrase struct {
	text  string
	next  int // offset of what is not read yet
	wrong *SyntaxError
}

func (p *phrase) fail(at int, format string, args ...any) {
	if p.wrong == nil {
		p.wrong = &SyntaxError{p.text, at, fmt.Sprintf(format, args...)}
	}
}

func (p *phrase) unknown(at int, what, word string, known []string) {
	p.fail(at, "unknown %s %q%s; known are %s", what, word, spell.Hint(word, known), strings.Join(known, ", "))
}

// signs end a word.
const signs = " \t<>="

// word reads up to the next space or sign; want says what it should be.
func (p *phrase) word(want string) (word string, at int) {
	p.spaces()
	at = p.next
	for p.next < len(p.text) && !strings.ContainsRune(signs, rune(p.text[p.next])) {
		p.next++
	}
	switch word = p.text[at:p.next]; {
	case len(p.text) > maxPhrase:
		p.fail(0, "longer than %d bytes", maxPhrase)
	case word == "":
		p.fail(at, "expected %s", want)
	}
	return word, at
}

func (p *phrase) spaces() {
	for p.next < len(p.text) && strings.ContainsRune(" \t", rune(p.text[p.next])) {
		p.next++
	}
}

// skip reads the word if it comes next.
func (p *phrase) skip(word string) bool {
	before := p.next
	p.spaces()
	rest := p.text[p.next:]
	if strings.HasPrefix(rest, word) && (len(rest) == len(word) || strings.ContainsRune(signs, rune(rest[len(word)]))) {
		p.next += len(word)
		return p.wrong == nil
	}
	p.next = before
	return false
}

// operator reads one of the signs, the longest that fits.
func (p *phrase) operator(known ...string) string {
	p.spaces()
	at := p.next
	for p.next < len(p.text) && strings.ContainsRune("<>=", rune(p.text[p.next])) {
		p.next++
	}
	sign := p.text[at:p.next]
	if !slices.Contains(known, sign) {
		p.fail(at, "expected one of %s", strings.Join(known, " "))
	}
	return sign
}

// end keeps a mistake if something is left.
func (p *phrase) end(want string) {
	if p.spaces(); p.next < len(p.text) {
		p.fail(p.next, "expected %s", want)
	}
}
