package engine

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// fakeConn is a connection that fails before or after it wrote.
type fakeConn struct {
	wire   *wire
	writes bool
	broken error
	closed int
	sent   int
}

func (f *fakeConn) RoundTrip(*http.Request) (*http.Response, error) {
	f.sent++
	if f.writes {
		f.wire.trip.Load().write(1)
	}
	return nil, errors.New("dead")
}
func (f *fakeConn) Err() error     { return f.broken }
func (f *fakeConn) Available() int { return 1 }
func (f *fakeConn) Close() error {
	f.closed++
	return nil
}

func fakeLink(c *fakeConn, since clock.Instant, used bool) *link {
	c.wire = &wire{}
	return &link{conn: c, wire: c.wire, since: since, used: used}
}

// A request goes to another connection only while no byte of it can be on the wire (R4).
func TestReplacedOnlyIfNothingWasWritten(t *testing.T) {
	t.Parallel()
	server, requests := recordingServer(t)
	c := courierTo(t, time.Minute)
	q := Request{Target: target(t, server)}
	dead := []*fakeConn{{}, {}, {broken: errors.New("closed by the server")}}
	for _, f := range dead {
		c.pool.push(key(q.Target), fakeLink(f, c.now(), true))
	}
	if x := carry(t, c, q); x.Outcome != record.OK || x.Attempts != 1 || len(requests) != 1 {
		t.Errorf("exchange over dead connections = %+v with %d requests at the target, want ok with 1", x, len(requests))
	}
	for i, f := range dead {
		if want := 1 - i/2; f.sent != want || f.closed != 1 {
			t.Errorf("dead connection %d: tried %d times, closed %d times, want %d and 1", i, f.sent, f.closed, want)
		}
	}
	wrote := &fakeConn{writes: true}
	c.pool.push(key(q.Target), fakeLink(wrote, c.now(), true))
	if x := carry(t, c, q); x.Outcome != record.TransportError || x.Cause != ClassOther || x.Attempts != 1 || len(requests) != 1 || wrote.closed != 1 {
		t.Errorf("exchange after a write = %+v with %d requests at the target, want a transport error and no second request", x, len(requests))
	}
}

func TestStaleConnections(t *testing.T) {
	t.Parallel()
	const second = clock.Instant(time.Second)
	for _, row := range []struct {
		sentence string
		conn     fakeConn
		used     bool
		age      clock.Instant
		want     bool
	}{
		{"fresh", fakeConn{}, false, 0, false},
		{"fresh, just before a server's header limit of 5 s", fakeConn{}, false, 45 * second / 10, false},
		{"fresh, too near to it", fakeConn{}, false, 46 * second / 10, true},
		{"idle after a request", fakeConn{}, true, 30 * second, false},
		{"idle, just before a server's idle limit of 60 s", fakeConn{}, true, 55 * second, false},
		{"idle, too near to it", fakeConn{}, true, 56 * second, true},
		{"closed by the server", fakeConn{broken: errors.New("closed")}, true, 0, true},
	} {
		if got := fakeLink(&row.conn, second, row.used).stale(second + row.age); got != row.want {
			t.Errorf("%s: stale = %v, want %v", row.sentence, got, row.want)
		}
	}
}

func TestPoolKeepsTheLatest(t *testing.T) {
	t.Parallel()
	p := newPool(func() clock.Instant { return 0 }, nil)
	here, there := target(t, "http://127.0.0.1:1"), target(t, "https://127.0.0.1:1")
	conns := make([]*fakeConn, maxIdle+2)
	for i := range conns {
		conns[i] = &fakeConn{}
		p.put(here, fakeLink(conns[i], 0, false))
	}
	if kept := p.count; kept != maxIdle || conns[maxIdle].closed != 1 || conns[0].closed != 0 {
		t.Errorf("%d idle connections, want %d and those beyond closed", kept, maxIdle)
	}
	if p.pop(key(there)) != nil {
		t.Error("a connection of http was given to https")
	}
	if l := p.pop(key(here)); l.conn != conns[maxIdle-1] || !l.used {
		t.Error("pop returned another connection than the one used last")
	}
	p.close()
	p.put(here, fakeLink(conns[maxIdle+1], 0, false))
	if conns[0].closed != 1 || conns[maxIdle+1].closed != 2 || p.count != 0 {
		t.Error("a connection stays open in a closed pool, want all closed, also those that come back later")
	}
}

// The guard's word ends the run before anything is sent.
func TestRefusedAtTheDial(t *testing.T) {
	t.Parallel()
	rebound := target(t, "http://localhost:80/")
	rebound.address = "203.0.113.1:80"
	c := courierTo(t, time.Minute)
	var refused *RefusedError
	x, err := c.carry(t.Context(), &Request{Target: rebound}, &workload.Arrival{})
	if !errors.As(err, &refused) || x.Outcome != record.TransportError || x.Cause != ClassRefused || x.Sent != clock.Never {
		t.Errorf("carry = %+v, %v, want a refusal with nothing sent", x, err)
	}
	inBubble(t, takes(0), func(cfg *VegetaConfig) { cfg.Request.Target, cfg.Dial = rebound, nil }, func(b *bubble) {
		records, err := b.run(b.t.Context(), schedule(5, func(i int) clock.Instant { return at(float64(i)) }))
		if !errors.As(err, &refused) {
			t.Errorf("Run = %v, want a refusal", err)
		}
		if got := record.Count(records); got != [record.Outcomes]int{record.Dropped: 5} {
			t.Errorf("outcomes = %v, want all 5 dropped", got)
		}
	})
}
