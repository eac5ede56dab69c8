package gateway

import (
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// wrongPolicy lets two requests wait and does something wrong with the third.
type wrongPolicy struct {
	wrong func(*scheduler.Control, scheduler.RequestID)
}

func (p wrongPolicy) Handle(c *scheduler.Control, ev scheduler.Event) {
	switch {
	case ev.Kind != scheduler.Arrival:
	case ev.Req < 3:
		c.Queue(ev.Req, clock.Never)
	default:
		p.wrong(c, ev.Req)
	}
}

// TestIllegalDecisionEndsTheLoop: the owner gets the error, everybody who waits gets 500, and nothing hangs.
func TestIllegalDecisionEndsTheLoop(t *testing.T) {
	for _, c := range []struct {
		why     string
		wrong   func(*scheduler.Control, scheduler.RequestID)
		illegal bool
	}{
		{"assigns to an instance that was never started", func(c *scheduler.Control, r scheduler.RequestID) { c.Assign(r, 9) }, true},
		{"forgets the request", func(*scheduler.Control, scheduler.RequestID) {}, true},
		{"panics for a reason of its own", func(*scheduler.Control, scheduler.RequestID) { panic("no idea") }, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, bubbleConfig{policy: wrongPolicy{c.wrong}, cold: time.Second})
				var all sync.WaitGroup
				check := func(id string) {
					if r := b.get(t.Context(), id, second); r.status != http.StatusInternalServerError || r.header.Get(ReasonHeader) != "core_stopped" {
						t.Errorf("request %s got %d %v, want 500 core_stopped", id, r.status, r.err)
					}
				}
				for _, id := range []string{"a", "b"} {
					all.Go(func() { check(id) })
				}
				settle()
				check("wrong")
				all.Wait()
				err := <-b.served
				var illegal scheduler.Illegal
				if !errors.Is(err, ErrLoop) || errors.As(err, &illegal) != c.illegal {
					t.Errorf("Serve() = %v, want ErrLoop, with scheduler.Illegal: %v", err, c.illegal)
				}
				b.client.CloseIdleConnections()
				b.fleet.all.Wait()
				if err := b.g.Close(); err != nil {
					t.Errorf("second Close() = %v, want nil", err)
				}
			})
		})
	}
}
