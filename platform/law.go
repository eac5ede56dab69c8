package platform

import (
	"errors"
	"time"

	"coldwave/internal/rng"
)

// ErrLaw is wrapped by every error about the text or the numbers of a law.
var ErrLaw = errors.New("no such law")

// Law is a probability law of durations. A law is a value without state: what it draws depends on d only.
type Law interface {
	// Name is the canonical text; ParseLaw reads it back, unless it is the name of a list that came from a file.
	Name() string
	// Draw returns one duration, never negative.
	Draw(d *rng.Draw) time.Duration
	// Mean is the expected duration.
	Mean() time.Duration
	// Range is the shortest and the longest duration that Draw returns.
	Range() (shortest, longest time.Duration)
	// Check says why the numbers make no law. Draw needs a law that passes.
	Check() error
}

var (
	_ Law = Uniform{}
	_ Law = Constant(0)
	_ Law = Lognormal{}
	_ Law = Empirical{}
	_ Law = Exponential(0)
)

// drawn draws from a law what belongs to id. A constant, the law of most bodies, is found in line and hashes nothing.
func drawn(l Law, k rng.Key, id int64) time.Duration {
	if c, ok := l.(Constant); ok {
		return time.Duration(c)
	}
	return varied(l, k, id)
}

// varied is drawn from any law. What is handed to an interface's method lives on the heap, so the laws that requests are
// drawn from are called by their types: then a request costs no memory.
func varied(l Law, k rng.Key, id int64) time.Duration {
	d := k.Draw(id)
	switch l := l.(type) {
	case Uniform:
		return l.Draw(&d)
	case Exponential:
		return l.Draw(&d)
	case Lognormal:
		return l.Draw(&d)
	case Empirical:
		return l.Draw(&d)
	}
	kept := d
	return l.Draw(&kept)
}
