package sim

import (
	"crypto/sha256"
	"hash"

	"coldwave/scheduler"
)

// log keeps decisions as far as it is asked to.
type log struct {
	trace   Trace
	actions []scheduler.Action
	hash    hash.Hash
	buffer  []byte // encoded, not yet hashed
}

func newLog(t Trace) log {
	l := log{trace: t}
	if t != NoTrace {
		l.hash, l.buffer = sha256.New(), make([]byte, 0, 256*scheduler.ActionSize)
	}
	return l
}

func (l *log) add(a scheduler.Action) {
	if l.trace == NoTrace {
		return
	}
	if l.trace == Actions {
		l.actions = append(l.actions, a)
	}
	l.buffer = scheduler.AppendAction(l.buffer, a)
	if len(l.buffer) == cap(l.buffer) {
		l.hash.Write(l.buffer)
		l.buffer = l.buffer[:0]
	}
}

// digest returns the SHA-256 of all actions; zero if none was asked for.
func (l *log) digest() (sum [32]byte) {
	if l.hash == nil {
		return sum
	}
	l.hash.Write(l.buffer)
	l.buffer = l.buffer[:0]
	l.hash.Sum(sum[:0])
	return sum
}
