package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/record"
	"coldwave/workload"
)

// fakeSender reports what the test wants.
type fakeSender func(ctx context.Context, s *workload.Schedule, done func(Exchange)) error

func (f fakeSender) Send(ctx context.Context, s *workload.Schedule, done func(Exchange)) error {
	return f(ctx, s, done)
}

func exchange(seq int64, at clock.Instant) Exchange {
	return Exchange{Seq: seq, Sent: at, FirstByte: at + 1, Done: at + 2, Outcome: record.OK, Status: 200, Attempts: 1}
}

// Whatever a sender does, there is one record per arrival, and books that are wrong are said to be (R3).
func TestAccounting(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, row := range []struct {
		sentence string
		send     func(done func(Exchange)) error
		want     error
		text     string
		count    [record.Outcomes]int
	}{
		{"every arrival once", func(done func(Exchange)) error {
			done(exchange(2, 20))
			done(exchange(0, 0))
			done(exchange(1, 15))
			return nil
		}, nil, "", [record.Outcomes]int{record.OK: 3}},
		{"one is missing", func(done func(Exchange)) error {
			done(exchange(0, 0))
			done(exchange(2, 20))
			return nil
		}, ErrAccounting, "nothing of 1 arrivals", [record.Outcomes]int{record.OK: 2, record.Dropped: 1}},
		{"one comes twice", func(done func(Exchange)) error {
			for _, seq := range []int64{0, 1, 1, 2} {
				done(exchange(seq, 20))
			}
			return nil
		}, ErrAccounting, "seq 1 was reported twice", [record.Outcomes]int{record.OK: 3}},
		{"one does not exist", func(done func(Exchange)) error {
			for seq := range int64(4) {
				done(exchange(seq, 20))
			}
			return nil
		}, ErrAccounting, "seq 3 was reported, but only 3", [record.Outcomes]int{record.OK: 3}},
		{"a negative one does not exist", func(done func(Exchange)) error {
			for seq := range int64(4) {
				done(exchange(seq-1, 20))
			}
			return nil
		}, ErrAccounting, "seq -1 was reported", [record.Outcomes]int{record.OK: 3}},
		{"one is sent too early", func(done func(Exchange)) error {
			for seq := range int64(3) {
				done(exchange(seq, clock.Instant(seq*10-seq/2)))
			}
			return nil
		}, ErrAccounting, "before its intended start", [record.Outcomes]int{record.OK: 3}},
		{"one was dropped and sent", func(done func(Exchange)) error {
			for seq := range int64(3) {
				x := exchange(seq, 20)
				x.Outcome = record.Dropped
				done(x)
			}
			return nil
		}, ErrAccounting, "counts as dropped", [record.Outcomes]int{record.Dropped: 3}},
		{"the sender gives up", func(done func(Exchange)) error {
			done(exchange(0, 0))
			return boom
		}, boom, "boom", [record.Outcomes]int{record.OK: 1, record.Dropped: 2}},
		{"it gives up, and its books are wrong", func(done func(Exchange)) error {
			done(exchange(0, 0))
			done(exchange(0, 0))
			return boom
		}, ErrAccounting, "boom", [record.Outcomes]int{record.OK: 1, record.Dropped: 2}},
	} {
		late := func(Exchange) {}
		e := Engine{Clock: realclock.Timers(time.Now()), Sender: fakeSender(func(_ context.Context, _ *workload.Schedule, done func(Exchange)) error {
			late = done
			return row.send(done)
		})}
		var streamed []record.Record
		records, err := e.Run(t.Context(), schedule(3, func(i int) clock.Instant { return clock.Instant(i * 10) }), func(r record.Record) {
			streamed = append(streamed, r)
		})
		if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) || err != nil && !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s: Run = %v, want %v with %q", row.sentence, err, row.want, row.text)
		}
		late(exchange(0, 99)) // what comes after Send changes nothing
		if count := record.Count(records); count != row.count || record.Count(streamed) != row.count {
			t.Errorf("%s: outcomes = %v and %v as they came, want %v", row.sentence, count, record.Count(streamed), row.count)
		}
		for i, r := range records {
			if r.Seq != int64(i) || r.Intended != clock.Instant(i*10) || r.Done == 101 {
				t.Errorf("%s: record %d = %+v, want that of arrival %d", row.sentence, i, r, i)
			}
		}
		checkIdentity(t, row.sentence, e.Progress(), row.count)
	}
}

// checkIdentity checks scheduled = done + dropped, and the errors among the done.
func checkIdentity(t *testing.T, sentence string, p Progress, count [record.Outcomes]int) {
	t.Helper()
	dropped := int64(count[record.Dropped])
	want := Progress{Scheduled: 3, Sent: 3 - dropped, Done: 3 - dropped, Dropped: dropped, Errors: 3 - dropped - int64(count[record.OK])}
	if p != want {
		t.Errorf("%s: Progress() = %+v, want %+v", sentence, p, want)
	}
}

func TestRecordKeepsTheExchange(t *testing.T) {
	t.Parallel()
	x := Exchange{
		Seq: 0, Sent: 15, FirstByte: 25, Done: 40, Outcome: record.TransportError, Cause: ClassReset, Status: 200, BytesIn: 3, BytesOut: 4, Attempts: 1,
		Server: record.Server{Queue: 5, Instance: "i1", Start: record.Queued},
	}
	e := Engine{Clock: realclock.Timers(time.Now()), Sender: fakeSender(func(_ context.Context, _ *workload.Schedule, done func(Exchange)) error {
		done(x)
		return nil
	})}
	records, err := e.Run(t.Context(), schedule(1, func(int) clock.Instant { return 10 }), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := record.Record{
		Seq: 0, Wave: -1, Intended: 10, Sent: 15, FirstByte: 25, Done: 40, Outcome: record.TransportError, Cause: ClassReset, Status: 200,
		Attempt: 1, BytesIn: 3, BytesOut: 4, Server: x.Server,
	}
	if records[0] != want {
		t.Errorf("record = %+v, want %+v", records[0], want)
	}
	if got := e.Progress(); got != (Progress{Scheduled: 1, Sent: 1, Done: 1, Errors: 1}) {
		t.Errorf("Progress() = %+v, want one error", got)
	}
}

func TestSenderConfiguration(t *testing.T) {
	t.Parallel()
	good := VegetaConfig{Clock: realclock.Timers(time.Now()), Run: "2026-11-29_a.b", Request: Request{Target: target(t, "http://127.0.0.1:1")}}
	if _, err := NewVegeta(good); err != nil {
		t.Errorf("NewVegeta = %v, want nil", err)
	}
	for sentence, spoil := range map[string]func(*VegetaConfig){
		"no clock":                      func(c *VegetaConfig) { c.Clock = nil },
		"no run id":                     func(c *VegetaConfig) { c.Run = "" },
		"a run id that breaks a header": func(c *VegetaConfig) { c.Run = "a\r\nb" },
		"a run id that is too long":     func(c *VegetaConfig) { c.Run = strings.Repeat("x", 41) },
		"no target":                     func(c *VegetaConfig) { c.Request.Target = nil },
		"a bad method":                  func(c *VegetaConfig) { c.Request.Method = "A B" },
		"a negative timeout":            func(c *VegetaConfig) { c.Timeout = -1 },
		"a negative grace":              func(c *VegetaConfig) { c.Grace = -1 },
		"a negative in-flight limit":    func(c *VegetaConfig) { c.MaxInFlight = -1 },
		"a negative body limit":         func(c *VegetaConfig) { c.MaxBody = -1 },
	} {
		bad := good
		spoil(&bad)
		if _, err := NewVegeta(bad); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: NewVegeta = %v, want %v", sentence, err, ErrConfig)
		}
	}
}
