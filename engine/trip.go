package engine

import (
	"errors"
	"net"
	"os"
	"sync/atomic"

	"coldwave/internal/clock"
)

// trip holds the stamps of one request on one connection. The connection's reader and writer set them.
type trip struct {
	sent  atomic.Int64 // just before the first byte was given to the kernel
	first atomic.Int64 // just after the first byte of the answer came from it
	last  atomic.Int64 // just after the latest byte came from it
}

func newTrip() *trip {
	t := &trip{}
	t.sent.Store(int64(clock.Never))
	t.first.Store(int64(clock.Never))
	t.last.Store(int64(clock.Never))
	return t
}

// began says whether any byte of the request may be on the wire.
func (t *trip) began() bool { return t.sent.Load() != int64(clock.Never) }

func (t *trip) write(now clock.Instant) { t.sent.CompareAndSwap(int64(clock.Never), int64(now)) }

func (t *trip) read(now clock.Instant) {
	t.first.CompareAndSwap(int64(clock.Never), int64(now))
	t.last.Store(int64(now))
}

// wire is a connection that stamps what passes for the trip that uses it.
//
// The stamps are taken at the system calls themselves: hooks further up (httptrace) see the request before it is
// flushed, and the answer only after the goroutines that read it had their turn.
type wire struct {
	net.Conn
	now   func() clock.Instant
	trip  atomic.Pointer[trip]
	fault atomic.Pointer[error] // the first error of the connection itself
}

func (w *wire) Write(p []byte) (int, error) {
	if t := w.trip.Load(); t != nil {
		t.write(w.now())
	}
	n, err := w.Conn.Write(p)
	w.note(err)
	return n, err
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if n > 0 {
		if t := w.trip.Load(); t != nil {
			t.read(w.now())
		}
	}
	w.note(err)
	return n, err
}

// note keeps err unless it is only the echo of our own closing.
func (w *wire) note(err error) {
	if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
		w.fault.CompareAndSwap(nil, &err)
	}
}
