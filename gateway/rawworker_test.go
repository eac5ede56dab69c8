package gateway

import (
	"net"
	"net/http"
	"sync"
	"testing"
)

// rawWorker is a worker that speaks for itself on each connection. It returns its address.
func rawWorker(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l := listenLocal(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			all.Go(func() {
				defer c.Close()
				serve(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return l.Addr().String()
}

func benchListener(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// benchWorker answers at once.
func benchWorker(tb testing.TB) (addr string, s *http.Server) {
	tb.Helper()
	l := benchListener(tb)
	s = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })}
	go func() { _ = s.Serve(l) }()
	return l.Addr().String(), s
}
