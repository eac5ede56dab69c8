package gateway

import (
	"net"
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
