// Package patterns turns an arrival process into a schedule's arrivals: waves, a burst, constant, rising and random
// rates, and the documented patterns as embedded files.
//
// To add a kind of pattern, write one file with its type and add one line to the table in kind.go.
package patterns

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

// Pattern is a parameterised arrival process. Implementations are values; changing one makes a new one. A value that was
// put together by hand must pass Check before Open.
type Pattern interface {
	// Open returns a generator of arrivals, non-decreasing in At. It sets At and Wave (-1: the pattern has no waves),
	// draws only from r, and gives the same arrivals for the same state of r.
	Open(r *rand.Rand) func() (workload.Intent, bool)
	// Length is the time the pattern covers: arrivals lie in [0, Length), so the first of the next period would come at
	// Length. 0 means that the pattern ends just after its last arrival, which only a draw tells.
	Length() time.Duration
	// String is the canonical text, one line; Parse reads it back and gives the same arrivals.
	String() string
	// Override returns the pattern with the settings that are set. A setting that it does not have and a value out of
	// range are an *Error.
	Override(s Settings) (Pattern, error)
	// Check returns an *Error for the first value that is out of range or above a limit, else nil.
	Check(l Limits) error
}

var (
	_ Pattern          = Waves{}
	_ Pattern          = Burst{}
	_ Pattern          = Steps{}
	_ Pattern          = Groups{}
	_ Pattern          = Constant{}
	_ Pattern          = Ramp{}
	_ Pattern          = Poisson{}
	_ workload.Process = Pattern(nil)
)

// ErrLimit is wrapped by every error about a value above a limit.
var ErrLimit = errors.New("above the limit")

// Limits is what a pattern may ask for at most; all are inclusive and 0 means the default. They keep a typing error from
// filling the memory; what the sender can do on a target is checked there.
type Limits struct {
	Rate     int64         // requests per second; default 1,000,000
	Duration time.Duration // from start to end; default 720 h
	Requests int64         // asked for by number, in all or in one wave; default 5,000,000
	Waves    int           // default 10,000
	Source   int           // bytes of a pattern's text; default 64 KiB
}

// or returns l with the defaults filled in.
func (l Limits) or() Limits {
	return Limits{
		Rate: preset(l.Rate, 1_000_000), Duration: preset(l.Duration, 720*time.Hour),
		Requests: preset(l.Requests, 5_000_000), Waves: preset(l.Waves, 10_000), Source: preset(l.Source, 64<<10),
	}
}

func preset[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Error is what is wrong with a pattern, in one line: "file:line:column: what; what to do".
type Error struct {
	File         string // empty: the pattern did not come from a text
	Line, Column int    // from 1; 0: no place in the text
	Key          string // key or setting that is wrong; empty: none or the whole text
	Item         int    // index in the list of that key; -1: the key itself
	What         string // what is wrong, with the value
	Do           string // what to do about it
	Err          error  // ErrLimit, the error of a file, or nil
}

func (e *Error) Error() string {
	place := ""
	if e.File != "" {
		place = e.File + ": "
		if e.Line > 0 {
			place = fmt.Sprintf("%s:%d:%d: ", e.File, e.Line, e.Column)
		}
	}
	return place + e.What + "; " + e.Do
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// wrong makes an Error about a key.
func wrong(key, do, what string, args ...any) *Error {
	return &Error{Key: key, Item: -1, What: fmt.Sprintf(what, args...), Do: do}
}

// above makes an Error about a value above its limit.
func above(key string, value, limit any) *Error {
	e := wrong(key, fmt.Sprintf("give at most %v", limit), "%s %v is %v", key, value, ErrLimit)
	e.Err = ErrLimit
	return e
}

// first returns the first problem. A nil *Error must not become an error that is not nil.
func first(problems ...*Error) error {
	for _, p := range problems {
		if p != nil {
			return p
		}
	}
	return nil
}

// within checks 0 < d ≤ limit.
func within(key string, d, limit time.Duration) *Error {
	switch {
	case d <= 0:
		return wrong(key, "give a duration above 0, such as 10s", "%s %s must be above 0", key, span(d))
	case d > limit:
		return above(key, span(d), span(limit))
	}
	return nil
}

// between checks low ≤ n ≤ high.
func between(key string, n, low, high int64) *Error {
	switch {
	case n < low:
		return wrong(key, fmt.Sprintf("give a whole number from %d on", low), "%s %d must be at least %d", key, n, low)
	case n > high:
		return above(key, n, high)
	}
	return nil
}

// alone is an arrival that belongs to no wave.
func alone(at clock.Instant) workload.Intent { return workload.Intent{At: at, Wave: -1} }
