package gateway

import (
	"bytes"
	"fmt"
	"strconv"
)

// framing reads along with the bytes of one client and finds requests of which it is not certain where they end:
// length and coding together, two lengths, an unknown coding, a coding in HTTP/1.0, a folded line. net/http takes some
// of these and picks one reading; whoever stands before or behind may pick the other one, and then a part of one
// request is taken for a request of its own (R14, F21).
//
// It only looks at what decides the framing. Everything else is left to net/http, which ends the connection at its
// first error, so the two never go on with different opinions.
type framing struct {
	state    frameState
	line     []byte // what is seen of the current line
	headMax  int    // bytes of one head after which net/http has refused it for certain
	headSeen int
	left     uint64 // bytes of the body or chunk
	head     headFacts
	err      error // stays
}

// frameState is what the next byte belongs to.
type frameState uint8

const (
	atStart frameState = iota // before a request line; empty lines are skipped
	inHeaders
	inBody
	inChunkSize
	inChunk
	atChunkEnd
	inTrailer
)

// headFacts is what one head says of its framing.
type headFacts struct {
	old      bool // before HTTP/1.1, which brought codings
	lengths  int
	length   uint64
	codings  int
	chunked  bool
	badValue bool
	folded   bool
}

// scan looks at p and returns how many of its bytes may be handed on. They are all, unless f.err is set: then the last
// byte of the offending line is held back, so that the head never becomes complete.
func (f *framing) scan(p []byte) int {
	pos := 0
	for pos < len(p) && f.err == nil {
		if f.state == inBody || f.state == inChunk {
			pos += f.skip(p[pos:])
			continue
		}
		end := bytes.IndexByte(p[pos:], '\n')
		if end < 0 {
			f.keep(p[pos:])
			return len(p)
		}
		f.endOfLine(p[pos : pos+end])
		pos += end + 1
	}
	if f.err != nil {
		return pos - 1
	}
	return pos
}

// skip passes over bytes whose number is known.
func (f *framing) skip(p []byte) int {
	n := min(uint64(len(p)), f.left)
	if f.left -= n; f.left == 0 {
		if f.state == inBody {
			f.begin()
		} else {
			f.state = atChunkEnd
		}
	}
	return int(n)
}

// keep stores the part of a line that has come so far.
func (f *framing) keep(p []byte) {
	if f.headSeen += len(p); f.headSeen > f.headMax {
		f.err = fmt.Errorf("%w: line of more than %d bytes", ErrFraming, f.headMax)
		return
	}
	f.line = append(f.line, p...)
}

// endOfLine handles one line, without its line feed.
func (f *framing) endOfLine(rest []byte) {
	line := rest
	if len(f.line) > 0 {
		f.line = append(f.line, rest...)
		line = f.line
	}
	f.headSeen += len(rest) + 1
	f.err = f.on(line)
	f.line = f.line[:0]
	if cap(f.line) > 4<<10 {
		f.line = nil // an idle connection must stay small
	}
	if f.err == nil && f.headSeen > f.headMax {
		f.err = fmt.Errorf("%w: head of more than %d bytes", ErrFraming, f.headMax)
	}
}

func (f *framing) on(line []byte) error {
	text, crlf := bytes.CutSuffix(line, []byte{'\r'})
	switch f.state {
	case atStart:
		f.onRequestLine(text)
		return nil
	case inHeaders:
		if len(text) == 0 {
			return f.onHeadEnd()
		}
		f.head.add(text)
		return nil
	default:
		if !crlf {
			return fmt.Errorf("%w: bare line feed in a chunked body", ErrFraming)
		}
		return f.onChunkLine(text)
	}
}

// onChunkLine handles the lines between the chunks.
func (f *framing) onChunkLine(text []byte) error {
	switch {
	case f.state == inChunkSize:
		return f.onChunkSize(text)
	case f.state == atChunkEnd && len(text) != 0:
		return fmt.Errorf("%w: chunk longer than its size", ErrFraming)
	case f.state == atChunkEnd:
		f.state, f.headSeen = inChunkSize, 0
	case len(text) == 0: // end of the trailer
		f.begin()
	}
	return nil
}

func (f *framing) onRequestLine(text []byte) {
	if len(text) == 0 {
		return
	}
	f.head.old = !bytes.HasSuffix(text, []byte(" HTTP/1.1"))
	f.state = inHeaders
}

// onHeadEnd decides how long the body is.
func (f *framing) onHeadEnd() error {
	h := f.head
	switch {
	case h.folded:
		return fmt.Errorf("%w: folded header line", ErrFraming)
	case h.badValue:
		return fmt.Errorf("%w: length or coding that cannot be read", ErrFraming)
	case h.codings > 0 && h.lengths > 0:
		return fmt.Errorf("%w: Content-Length beside Transfer-Encoding", ErrFraming)
	case h.lengths > 1 || h.codings > 1:
		return fmt.Errorf("%w: more than one Content-Length or Transfer-Encoding", ErrFraming)
	case h.codings > 0 && h.old:
		return fmt.Errorf("%w: Transfer-Encoding before HTTP/1.1", ErrFraming)
	}
	f.begin()
	switch {
	case h.chunked:
		f.state = inChunkSize
	case h.length > 0:
		f.state, f.left = inBody, h.length
	}
	return nil
}

// begin waits for the next request.
func (f *framing) begin() { f.state, f.headSeen, f.head = atStart, 0, headFacts{} }

func (f *framing) onChunkSize(text []byte) error {
	size, _, _ := bytes.Cut(text, []byte{';'})
	n, err := strconv.ParseUint(string(bytes.TrimRight(size, " \t")), 16, 63)
	if err != nil {
		return fmt.Errorf("%w: chunk size %.20q", ErrFraming, size)
	}
	f.headSeen = 0
	f.state, f.left = inChunk, n
	if n == 0 {
		f.state = inTrailer
	}
	return nil
}

// add takes note of a header line that speaks of framing.
func (h *headFacts) add(line []byte) {
	if line[0] == ' ' || line[0] == '\t' {
		h.folded = true
		return
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.Trim(value, " \t")
	switch name = bytes.TrimRight(name, " \t"); {
	case bytes.EqualFold(name, []byte("Content-Length")):
		h.lengths++
		n, err := strconv.ParseUint(string(value), 10, 63)
		h.length = n
		h.badValue = h.badValue || err != nil
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		h.codings++
		h.chunked = bytes.EqualFold(value, []byte("chunked"))
		h.badValue = h.badValue || !h.chunked
	}
}
