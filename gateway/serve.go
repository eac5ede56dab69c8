package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// shutdown is how a gateway ends.
type shutdown struct {
	mu        sync.Mutex
	listeners []net.Listener
	servers   []*http.Server
	begun     bool
	finished  chan struct{}
}

// netHTTPSlop is what net/http allows a head beyond its limit.
const netHTTPSlop = 4 << 10

// Serve serves the data port on data and, if admin is not nil, the admin port on admin, until Drain or Close has
// finished; then it returns nil. If a listener breaks or a loop ends by an illegal decision, it drains and returns the
// error. The listeners belong to the gateway from here on. An admin listener outside loopback without a token is
// refused with ErrAdminOpen.
func (g *Gateway) Serve(data, admin net.Listener) error {
	if admin != nil {
		if err := g.cfg.Admin.MayListen(admin.Addr()); err != nil {
			return errors.Join(err, data.Close(), admin.Close())
		}
	}
	broke := make(chan error, 2)
	g.listen(&frontDoor{Listener: data, limit: int64(g.cfg.Limits.Connections), headMax: g.cfg.Limits.HeaderBytes + 2*netHTTPSlop,
		open: &g.open, refused: &g.stats.refused}, g.dataServer(), broke)
	if admin != nil {
		g.listen(admin, g.adminServer(), broke)
	}
	var err error
	select {
	case <-g.end.finished:
		return nil
	case err = <-broke:
	case <-g.broken:
		err = g.Err()
	}
	if errClose := g.Close(); err == nil {
		err = errClose
	}
	return err
}

// listen runs a server in the background.
func (g *Gateway) listen(l net.Listener, s *http.Server, broke chan<- error) {
	g.end.mu.Lock()
	g.end.listeners = append(g.end.listeners, l)
	g.end.servers = append(g.end.servers, s)
	late := g.end.begun
	g.end.mu.Unlock()
	if late {
		_ = l.Close() // the gateway has ended already
		return
	}
	g.work.Go(func() {
		err := s.Serve(l)
		if !g.draining.Load() && !errors.Is(err, http.ErrServerClosed) {
			broke <- err
		}
	})
}

func (g *Gateway) dataServer() *http.Server {
	l := g.cfg.Limits
	return &http.Server{
		Handler:           g.Handler(),
		ReadHeaderTimeout: l.HeaderTime,
		IdleTimeout:       l.IdleTime,
		MaxHeaderBytes:    l.HeaderBytes - netHTTPSlop,
		ErrorLog:          slog.NewLogLogger(g.cfg.Log.Handler(), slog.LevelDebug),
		ConnState: func(c net.Conn, s http.ConnState) {
			if conn, ok := c.(*clientConn); ok && s == http.StateHijacked {
				conn.raw.Store(true)
			}
		},
	}
}

// Drain ends the gateway gracefully: no new connections; what waits or runs is finished, new requests on open
// connections are answered with Connection: close, all until nothing is left or ctx is done. Then what still waits gets
// 503, what still runs is cut, and the instances are stopped. It returns ctx's error if something was cut.
func (g *Gateway) Drain(ctx context.Context) error {
	if !g.beginShutdown() {
		<-g.end.finished
		return nil
	}
	defer close(g.end.finished)
	g.quiet(ctx)
	var err error
	select {
	case <-g.gate.emptied():
	case <-ctx.Done():
		err = ctx.Err()
	case <-g.hard.Done():
		err = ErrClosing
	}
	g.stopHard()
	g.stopServers()
	<-g.gate.emptied()
	g.stopSoft()
	drain := g.cfg.Limits.StopTime
	if err != nil {
		drain = 0
	}
	g.stopInstances(drain)
	g.transport.CloseIdleConnections()
	g.work.Wait()
	return err
}

// Close ends the gateway at once. It returns when everything has ended.
func (g *Gateway) Close() error {
	g.stopHard()
	err := g.Drain(g.hard)
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrClosing) {
		return nil // that something was cut is what was asked for
	}
	return err
}

// beginShutdown closes the listeners. It returns false if the shutdown has begun before.
func (g *Gateway) beginShutdown() bool {
	g.end.mu.Lock()
	defer g.end.mu.Unlock()
	if g.end.begun {
		return false
	}
	g.end.begun = true
	g.draining.Store(true)
	for _, l := range g.end.listeners {
		_ = l.Close() // a listener that is gone already is no problem
	}
	return true
}

// quiet keeps answering on open connections for a moment. Closing an idle connection at the very instant at which its
// client sends a request would lose that request (F14).
func (g *Gateway) quiet(ctx context.Context) {
	if g.open.Load() == 0 {
		return
	}
	wait, cancel := context.WithTimeout(ctx, g.cfg.Limits.QuietTime)
	defer cancel()
	select {
	case <-wait.Done():
	case <-g.hard.Done():
	}
}

// lastBytes is how long answers that are complete may take to reach their clients.
const lastBytes = 250 * time.Millisecond

// stopServers ends the connections: those that have nothing in flight at once, the others when their last bytes are
// out.
func (g *Gateway) stopServers() {
	g.end.mu.Lock()
	servers := g.end.servers
	g.end.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), lastBytes)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() {
			if s.Shutdown(ctx) != nil {
				_ = s.Close() // what is left has had its time
			}
		})
	}
	all.Wait()
}

// stopInstances stops the instances of all functions side by side.
func (g *Gateway) stopInstances(drain time.Duration) {
	var all sync.WaitGroup
	for _, s := range g.services {
		all.Go(func() {
			<-s.loop.Ended()
			s.clear(drain)
		})
	}
	all.Wait()
}
