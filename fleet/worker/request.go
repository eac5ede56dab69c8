package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"coldwave/workload"
)

// The limits of a request that have no setting.
const (
	URLMax       = 8 << 10          // bytes of the target; a longer one is answered with 414
	BodyProgress = 10 * time.Second // how long a body may stand still before the request is given up
	requestIDMax = 64               // bytes of X-Request-Id
)

// RequestID returns s if it is a request id, 1 to 64 characters of A–Z a–z 0–9 . _ -, else nothing: other text must
// neither be echoed nor logged (R24).
func RequestID(s string) string {
	if len(s) > requestIDMax {
		return ""
	}
	for i := range len(s) {
		if !idByte(s[i]) {
			return ""
		}
	}
	return s
}

func idByte(b byte) bool {
	return 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b == '.' || b == '_' || b == '-'
}

// ParseSleep reads the path /sleep/<ms>: decimal digits, at most limit. found tells whether the path is a sleep path at
// all; only then the error, which wraps ErrSleep, can be set.
func ParseSleep(path string, limit time.Duration) (d time.Duration, found bool, err error) {
	text, found := strings.CutPrefix(path, "/sleep/")
	if !found {
		return 0, false, nil
	}
	ms, err := strconv.ParseUint(text, 10, 32)
	if err != nil || time.Duration(ms)*time.Millisecond > limit {
		return 0, true, fmt.Errorf("%w: /sleep/%.20q: want a whole number of milliseconds, at most %d", ErrSleep, text, limit.Milliseconds())
	}
	return time.Duration(ms) * time.Millisecond, true, nil
}

// demand returns what the request asks for: the body of arrival seq.
func (h *Handler) demand(r *http.Request, seq int64) (workload.Demand, *refusal) {
	var none workload.Demand
	switch {
	case r.Method == http.MethodConnect || r.Method == http.MethodTrace:
		return none, &refusal{http.StatusMethodNotAllowed, ErrMethod, r.Method + " is not served"}
	case len(r.RequestURI) > URLMax:
		return none, &refusal{http.StatusRequestURITooLong, ErrURLLimit, fmt.Sprintf("%d bytes, limit is %d", len(r.RequestURI), URLMax)}
	}
	if exec, found, err := ParseSleep(r.URL.Path, h.cfg.SleepMax); err != nil {
		return none, &refusal{http.StatusBadRequest, ErrSleep, err.Error()}
	} else if found {
		return workload.Demand{Exec: exec}, nil
	}
	text := r.Header.Get(workload.DemandHeader)
	if text == "" {
		cpu, exec := h.draws.Computes(seq, h.cfg.Body)
		return workload.Demand{Exec: exec, CPU: cpu}, nil
	}
	d, err := workload.ParseDemand(text)
	if err != nil {
		return none, &refusal{http.StatusBadRequest, ErrDemand, err.Error()}
	}
	return d, nil
}

// readBody reads the whole body without keeping it, and prepares the answer of /echo.
func (c *call) readBody() *refusal {
	limit := c.h.cfg.BodyMax
	tooLong := &refusal{http.StatusRequestEntityTooLarge, ErrBodyLimit, fmt.Sprintf("limit is %d bytes", limit)}
	if c.r.ContentLength > limit {
		return tooLong // before a client that waits for 100 Continue sends it
	}
	sum := sha256.New()
	n, err := c.drain(sum)
	switch maxErr := (*http.MaxBytesError)(nil); {
	case errors.As(err, &maxErr):
		return tooLong
	case err != nil && c.r.Context().Err() != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		return clientGone
	case err != nil:
		return &refusal{http.StatusBadRequest, ErrBodyRead, fmt.Sprintf("it ended after %d bytes", n)}
	}
	if c.r.URL.Path == "/echo" {
		c.echo = fmt.Sprintf(`{"length":%d,"sha256":"%s"}`+"\n", n, hex.EncodeToString(sum.Sum(nil)))
	}
	return nil
}

func (c *call) drain(sum hash.Hash) (int64, error) {
	if c.bodiless() {
		return 0, nil
	}
	return io.Copy(sum, progress{c, http.MaxBytesReader(c.w, c.r.Body, c.h.cfg.BodyMax)})
}

func (c *call) bodiless() bool { return c.r.Body == nil || c.r.Body == http.NoBody }

// progress gives each read of a body its own deadline, because a deadline for the whole request would also end the
// watch for a client that goes away while a long function runs. With the body's end net/http takes the deadline away.
type progress struct {
	call *call
	body io.Reader
}

func (p progress) Read(b []byte) (int, error) {
	p.call.limitRead()
	return p.body.Read(b)
}

// limitRead gives the next read of the body BodyProgress. net/http itself reads on after a refusal.
func (c *call) limitRead() {
	if c.bodiless() {
		return
	}
	deadline := time.Now().Add(BodyProgress)                      //nolint:forbidigo // a socket's deadline is wall time
	_ = http.NewResponseController(c.w).SetReadDeadline(deadline) // fails only where there is no connection
}
