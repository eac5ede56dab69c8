package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// requests that are ambiguous or malformed: each must be answered with 400 or 501 and must not reach a worker (R14,
// F21, RP-19).
var badFraming = []struct{ why, text string }{
	{"length beside coding", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{"coding beside length, the other way round", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"},
	{"two different lengths", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"},
	{"the same length twice", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"},
	{"a list of lengths", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 5\r\n\r\nhello"},
	{"a negative length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\nhello"},
	{"a length with a sign", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello"},
	{"a length in hex", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nhello"},
	{"an empty length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\nhello"},
	{"a length beyond all numbers", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\nhello"},
	{"space before the colon", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 5\r\n\r\nhello"},
	{"RP-19: carriage return before the coding", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \rchunked\r\n\r\n0\r\n\r\n"},
	{"RP-19: two codings in one line", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"},
	{"RP-19: a coding that only looks like chunked", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"},
	{"RP-19: coding in HTTP/1.0", "POST / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{"the coding twice", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
	{"a folded coding", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"},
	{"any folded line", "GET / HTTP/1.1\r\nHost: h\r\nX-A: b\r\n c\r\n\r\n"},
	{"chunk size that is no number", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n"},
	{"chunk longer than its size", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n"},
	{"bare line feed after a chunk size", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n"},
	{"no host", "GET / HTTP/1.1\r\n\r\n"},
	{"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
	{"space in the target", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n"},
	{"control byte in a header", "GET / HTTP/1.1\r\nHost: h\r\nX-A: \x01\r\n\r\n"},
	{"no request at all", "hello, who is there?\r\n\r\n"},
}

func TestBadFramingReachesNoWorker(t *testing.T) {
	var reached atomic.Int64
	s := before(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	for _, c := range badFraming {
		answer := s.raw(c.text)
		if !strings.HasPrefix(answer, "HTTP/1.1 400 ") && !strings.HasPrefix(answer, "HTTP/1.1 501 ") {
			t.Errorf("%s: answered %.80q, want 400 or 501", c.why, answer)
		}
		if strings.Count(answer, "HTTP/1.1 ") > 1 {
			t.Errorf("%s: %q, want one answer and the end of the connection", c.why, answer)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d of them reached the worker, want 0", n)
	}
}

// TestSmuggledRequest: what follows an ambiguous request on the connection is never taken for a request.
func TestSmuggledRequest(t *testing.T) {
	var paths atomic.Value
	paths.Store("")
	s := before(t, func(_ http.ResponseWriter, r *http.Request) { paths.Store(paths.Load().(string) + " " + r.URL.Path) })
	s.raw("GET /good HTTP/1.1\r\nHost: h\r\n\r\nPOST /bad HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
		"GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
	if got := paths.Load(); got != " /good" {
		t.Errorf("the worker saw%v, want only /good", got)
	}
}

func TestGoodFramingPasses(t *testing.T) {
	s := before(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(append([]byte(r.Method+" "), body...)) //nolint:gosec // an echo is what is tested
	})
	const hello = "POST / HTTP/1.1\r\nHost: h\r\n"
	for _, c := range []struct{ why, text, want string }{
		{"no body", "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "GET "},
		{"length", hello + "Connection: close\r\nContent-Length: 5\r\n\r\nhello", "POST hello"},
		{"chunks, extension, trailer", hello + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nX-T: 1\r\n\r\n", "POST hello"},
		{"HTTP/1.0", "POST / HTTP/1.0\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "POST hello"},
		{"line feeds alone in the head", "POST / HTTP/1.1\nHost: h\nConnection: close\nContent-Length: 5\n\nhello", "POST hello"},
	} {
		res := s.ask(http.MethodGet, c.text)
		if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK || string(body) != c.want {
			t.Errorf("%s: %d %q %v, want 200 %q", c.why, res.StatusCode, body, err, c.want)
		}
	}
	two := s.raw(hello + "Content-Length: 5\r\n\r\nhelloGET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	if got := strings.Count(two, "HTTP/1.1 200 OK"); got != 2 {
		t.Errorf("two requests in one write: %d answers, want 2", got)
	}
}

// scanAll feeds text to a framing in pieces and returns what it lets through.
func scanAll(text []byte, piece int) ([]byte, error) {
	f := framing{headMax: 1 << 20}
	var out []byte
	for len(text) > 0 {
		n := min(piece, len(text))
		out = append(out, text[:f.scan(text[:n])]...)
		if f.err != nil {
			return out, f.err
		}
		text = text[n:]
	}
	return out, nil
}

// TestFramingIsTheSameInAnyPieces: how the bytes come does not matter.
func TestFramingIsTheSameInAnyPieces(t *testing.T) {
	for _, c := range badFraming {
		whole, errWhole := scanAll([]byte(c.text), 1<<20)
		for piece := 1; piece < 7; piece++ {
			got, err := scanAll([]byte(c.text), piece)
			if (err == nil) != (errWhole == nil) || err == nil && !bytes.Equal(got, whole) {
				t.Errorf("%s in pieces of %d: %q %v, want %q %v", c.why, piece, got, err, whole, errWhole)
			}
		}
	}
}

// FuzzFraming: where framing sees no ambiguity, net/http cuts the same bytes into the same requests, and no request that
// net/http reads out of them states its end in two ways.
func FuzzFraming(f *testing.F) {
	for _, c := range badFraming {
		f.Add([]byte(c.text), 3)
	}
	f.Add([]byte("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"), 7)
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		piece = max(1, min(piece&0xff, 64))
		passed, err := scanAll(text, piece)
		if err != nil && !errors.Is(err, ErrFraming) {
			t.Fatalf("scan(%q) = %v, want ErrFraming", text, err)
		}
		if !bytes.HasPrefix(text, passed) {
			t.Fatalf("scan(%q) let %q through, which is no beginning of it", text, passed)
		}
		source := bytes.NewReader(passed)
		rest := bufio.NewReader(source)
		consumed := func() int { return len(passed) - source.Len() - rest.Buffered() }
		state := framing{headMax: 1 << 20}
		for {
			before := consumed()
			req, err := http.ReadRequest(rest)
			if err != nil || !goodNames(req.Header) {
				return // net/http's server answers 400 and closes
			}
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return
			}
			after := consumed()
			state.scan(passed[before:after])
			if state.err == nil && state.state != atStart {
				t.Fatalf("net/http ends a request after %q, framing does not", passed[before:after])
			}
		}
	})
}

// goodNames says whether all names are tokens, which net/http's server checks after ReadRequest.
func goodNames(h http.Header) bool {
	for name := range h {
		if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }) {
			return false
		}
	}
	return true
}
