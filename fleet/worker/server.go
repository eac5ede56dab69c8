package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// The limits of a worker's port.
const (
	ReadHeaderTimeout     = 5 * time.Second  // a header that drips longer is cut
	IdleTimeout           = 60 * time.Second // of a kept connection; a gateway must keep one shorter, so that it closes first
	MaxHeaderBytes        = 64 << 10         // a longer header block is answered with 431
	DefaultMaxConnections = 1024
)

// ErrDrain is the error of a drain that reached its limit: what was still in flight has been cut.
var ErrDrain = errors.New("drain limit passed")

// Server is the port of one worker: an http.Server with limits, and a drain that ends as soon as the last answer is
// written.
//
// Note: http.Server.Shutdown polls up to every 500 ms and waits 5 s for a connection that has sent nothing yet.
type Server struct {
	http *http.Server
	max  int

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool // true while a request is on it
	active   int               // conns that are true
	refused  int64
	closing  bool
	drained  chan struct{} // closed once closing and active == 0
	closed   chan struct{} // closed once every connection is
}

// NewServer returns a server that serves nothing yet. maxConnections ≤ 0 means DefaultMaxConnections; a connection
// beyond it is closed at once. What net/http has to complain of goes to errs, as text lines; nil: nowhere.
func NewServer(h http.Handler, maxConnections int, errs io.Writer) *Server {
	if maxConnections <= 0 {
		maxConnections = DefaultMaxConnections
	}
	if errs == nil {
		errs = io.Discard
	}
	s := &Server{max: maxConnections, conns: map[net.Conn]bool{}, drained: make(chan struct{}), closed: make(chan struct{})}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	s.http = &http.Server{
		Handler: h, ReadHeaderTimeout: ReadHeaderTimeout, IdleTimeout: IdleTimeout, MaxHeaderBytes: MaxHeaderBytes,
		Protocols: protocols, ConnState: s.track,
		ErrorLog: slog.NewLogLogger(slog.NewTextHandler(errs, nil), slog.LevelWarn),
	}
	return s
}

// Serve serves on l until Drain or Close has ended, and then returns nil; any other end is an error. It may be called
// once.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return l.Close()
	}
	once := onceListener{l, sync.OnceValue(l.Close)}
	s.listener = once
	s.mu.Unlock()
	err := s.http.Serve(once)
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if closing {
		<-s.closed
		return nil
	}
	return fmt.Errorf("worker: serving on %s: %w", l.Addr(), err)
}

// Drain takes no new connection, lets the requests in flight finish, and closes everything as soon as the last one has
// its answer (R18). When ctx is done first it cuts what is left and returns an error that wraps ErrDrain.
func (s *Server) Drain(ctx context.Context) error {
	s.shut()
	s.http.SetKeepAlivesEnabled(false) // closes idle connections; answers from now on end theirs
	var err error
	select {
	case <-s.drained:
	case <-ctx.Done():
		s.mu.Lock()
		if s.active > 0 {
			err = fmt.Errorf("%w with %d requests in flight, which were cut", ErrDrain, s.active)
		}
		s.mu.Unlock()
	}
	return errors.Join(err, s.Close())
}

// Close cuts every connection. It may be called more than once.
func (s *Server) Close() error {
	s.shut()
	err := s.http.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	closeOnce(s.closed)
	return err
}

// Refused returns how many connections were closed because of the limit.
func (s *Server) Refused() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// shut closes the listener.
func (s *Server) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return
	}
	s.closing = true
	if s.listener != nil {
		_ = s.listener.Close() // it fails only if it is closed already
	}
	s.announce()
}

// announce tells Drain when nothing is in flight any more. s.mu is held.
func (s *Server) announce() {
	if !s.closing || s.active > 0 {
		return
	}
	closeOnce(s.drained)
}

// closeOnce closes c unless it is closed. The lock of its owner is held.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

func (s *Server) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	refuse := false
	switch state {
	case http.StateNew:
		if refuse = len(s.conns) >= s.max; refuse {
			s.refused++
		}
		s.conns[c] = false
	case http.StateActive:
		s.set(c, true)
	case http.StateIdle:
		s.set(c, false)
	case http.StateClosed, http.StateHijacked:
		s.set(c, false)
		delete(s.conns, c)
	}
	s.announce()
	s.mu.Unlock()
	if refuse {
		_ = c.Close() // net/http finds it closed and forgets it
	}
}

// set notes whether a request is on c. s.mu is held.
func (s *Server) set(c net.Conn, active bool) {
	if s.conns[c] == active {
		return
	}
	s.conns[c] = active
	if active {
		s.active++
	} else {
		s.active--
	}
}

// onceListener is closed once, by the drain or by net/http: the second one to come must not see an error.
type onceListener struct {
	net.Listener
	close func() error
}

func (l onceListener) Close() error { return l.close() }
