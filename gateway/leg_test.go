package gateway

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

// TestLegDecidesAboutSendingAgain: a request may only go to another connection while nothing of it has left (R20).
func TestLegDecidesAboutSendingAgain(t *testing.T) {
	for _, c := range []struct {
		why    string
		act    func(*workerConn, net.Conn)
		cancel bool // the request is ended for good
		write  error
	}{
		{"dead before anything was written: another connection may be taken", func(w *workerConn, peer net.Conn) {
			_ = peer.Close()
			_, _ = w.Read(make([]byte, 1))
		}, false, errEnded},
		{"dead after a part was written: never again", func(w *workerConn, peer net.Conn) {
			go func() { _, _ = peer.Read(make([]byte, 8)); _ = peer.Close() }()
			_, _ = w.Write([]byte("GET"))
			_, _ = w.Read(make([]byte, 1))
		}, true, errEnded},
		{"dead after a part of the answer came: the proxy deals with it", func(w *workerConn, peer net.Conn) {
			go func() {
				_, _ = peer.Read(make([]byte, 8))
				_, _ = peer.Write([]byte("H"))
				_ = peer.Close()
			}()
			_, _ = w.Write([]byte("GET"))
			_, _ = w.Read(make([]byte, 1))
			_, _ = w.Read(make([]byte, 1))
		}, false, errEnded},
		{"closed by ourselves", func(w *workerConn, _ net.Conn) { _ = w.Close() }, false, errEnded},
		{"alive", func(_ *workerConn, peer net.Conn) { go func() { _, _ = peer.Read(make([]byte, 8)) }() }, false, nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			here, peer := net.Pipe()
			defer here.Close()
			defer peer.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			l := &leg{cancel: cancel}
			w := newWorkerConn(here, time.Minute)
			l.bind(w)
			c.act(w, peer)
			if got := errors.Is(context.Cause(ctx), errNoAnswer); got != c.cancel {
				t.Errorf("ended for good = %v, want %v", got, c.cancel)
			}
			if n, err := w.Write([]byte("x")); !errors.Is(err, c.write) || err != nil && n != 0 {
				t.Errorf("Write = %d, %v, want error %v and nothing written", n, err, c.write)
			}
		})
	}
}

func TestLegLetsGoOfItsOwnConnectionOnly(t *testing.T) {
	here, peer := net.Pipe()
	defer here.Close()
	defer peer.Close()
	first, second := &leg{cancel: func(error) {}}, &leg{cancel: func(error) {}}
	w := newWorkerConn(here, time.Minute)
	first.bind(w)
	second.bind(w) // the transport has used the connection for the next request already
	first.release()
	if w.leg != second {
		t.Error("the first request took the connection away from the second")
	}
	if first.resent() != 0 || (&leg{tries: 3}).resent() != 2 {
		t.Error("resent() must count the writes beyond the first")
	}
	if (&leg{}).over() != nil {
		t.Error("over() of a request that got no connection must be nil")
	}
}
