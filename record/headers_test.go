package record

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestTimingText(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Server
		want string
	}{
		{"the example of the wire contract", Server{Queue: 12345 * time.Microsecond, Exec: 100020 * time.Microsecond},
			"queue;dur=12.345, init;dur=0, exec;dur=100.02"},
		{"one nanosecond is kept", Server{Queue: 1, Init: 1_000_001, Exec: 999_999},
			"queue;dur=0.000001, init;dur=1.000001, exec;dur=0.999999"},
		{"negative durations cannot be told", Server{Queue: -1, Init: -time.Hour}, "queue;dur=0, init;dur=0, exec;dur=0"},
	} {
		if got := c.in.Timing(); got != c.want {
			t.Errorf("%s: Timing(%+v) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestParseTiming(t *testing.T) {
	for _, c := range []struct {
		name, in          string
		queue, init, exec time.Duration
		err               error
	}{
		{"nothing told", "", 0, 0, 0, nil},
		{"any order, case and spacing", "EXEC ; DUR = 2 ,queue;dur=1", time.Millisecond, 0, 2 * time.Millisecond, nil},
		{"foreign metrics and quoted commas are skipped", `cache;desc="hit, queue;dur=9", init;desc="a;b";dur="1.5"`, 0, 1500 * time.Microsecond, 0, nil},
		{"an escaped quote does not end the string", `x;desc="a\",queue;dur=7", exec;dur=1`, 0, 0, time.Millisecond, nil},
		{"the first of two counts", "exec;dur=1, exec;dur=2", 0, 0, time.Millisecond, nil},
		{"a metric without a duration", "queue, init;desc=x", 0, 0, 0, nil},
		{"digits beyond the nanosecond are cut", "exec;dur=0.0000019", 0, 0, 1, nil},
		{"a missing whole part", "exec;dur=.5", 0, 0, 500 * time.Microsecond, nil},
		{"negative", "queue;dur=-1", 0, 0, 0, ErrTiming},
		{"not a number", "queue;dur=NaN", 0, 0, 0, ErrTiming},
		{"exponent", "queue;dur=1e3", 0, 0, 0, ErrTiming},
		{"empty", "queue;dur=", 0, 0, 0, ErrTiming},
		{"too long for int64 nanoseconds", "queue;dur=9223372036855", 0, 0, 0, ErrTiming},
		{"too long for int64", "queue;dur=99999999999999999999", 0, 0, 0, ErrTiming},
	} {
		q, i, e, err := ParseTiming(c.in)
		if q != c.queue || i != c.init || e != c.exec || !errors.Is(err, c.err) {
			t.Errorf("%s: ParseTiming(%q) = %v, %v, %v, %v, want %v, %v, %v, %v", c.name, c.in, q, i, e, err, c.queue, c.init, c.exec, c.err)
		}
	}
}

func TestServerFromHeaders(t *testing.T) {
	for _, c := range []struct {
		name string
		in   map[string]string
		want Server
	}{
		{"nothing told", nil, Server{}},
		{"all told", map[string]string{TimingHeader: "queue;dur=1, init;dur=2, exec;dur=3", InstanceHeader: "i-7", RevisionHeader: "v2", StartHeader: "cold", StartByHeader: "own"},
			Server{Queue: 1e6, Init: 2e6, Exec: 3e6, Instance: "i-7", Revision: "v2", Start: Cold, StartBy: ByOwn, Source: FromHeader}},
		{"a kind that we do not know has no source", map[string]string{StartHeader: "lukewarm"}, Server{}},
		{"a target that says unknown has told nothing", map[string]string{StartHeader: "unknown"}, Server{}},
		{"a foreign Server-Timing does no harm", map[string]string{TimingHeader: "exec;dur=fast", InstanceHeader: "x"}, Server{Instance: "x"}},
		{"a huge name is cut", map[string]string{InstanceHeader: strings.Repeat("x", 10*MaxInstanceName)},
			Server{Instance: strings.Repeat("x", MaxInstanceName)}},
	} {
		if got := ServerFrom(func(n string) string { return c.in[n] }); got != c.want {
			t.Errorf("%s: ServerFrom(%v) = %+v, want %+v", c.name, c.in, got, c.want)
		}
	}
}

func TestHeadersRoundTrip(t *testing.T) {
	for kind := StartUnknown; kind < StartKinds; kind++ {
		for by := ByUnknown; by < StartBys; by++ {
			want := Server{Queue: 1, Init: math.MaxInt32, Exec: time.Hour, Instance: "i-1", Start: kind, StartBy: by}
			if kind != StartUnknown {
				want.Source = FromHeader
			}
			if got := throughHeaders(want); got != want {
				t.Errorf("ServerFrom(Headers(%+v)) = %+v, want it back", want, got)
			}
		}
	}
}

func throughHeaders(s Server) Server {
	h := map[string]string{}
	s.Headers(func(n, v string) { h[n] = v })
	return ServerFrom(func(n string) string { return h[n] })
}

func FuzzParseTiming(f *testing.F) {
	f.Add("queue;dur=12.345, init;dur=0, exec;dur=100.02")
	f.Add(`a;desc="x,\"y";dur=1,exec;dur="2"`)
	f.Add("queue;dur=9223372036854")
	f.Fuzz(func(t *testing.T, in string) {
		q, i, e, err := ParseTiming(in)
		if q < 0 || i < 0 || e < 0 || (err != nil && q+i+e != 0) {
			t.Fatalf("ParseTiming(%q) = %v, %v, %v, %v, want durations ≥ 0, all zero with an error", in, q, i, e, err)
		}
		q2, i2, e2, err := ParseTiming(Server{Queue: q, Init: i, Exec: e}.Timing())
		if q2 != q || i2 != i || e2 != e || err != nil {
			t.Fatalf("ParseTiming(Timing(%v, %v, %v)) = %v, %v, %v, %v, want them back", q, i, e, q2, i2, e2, err)
		}
	})
}

func FuzzTiming(f *testing.F) {
	f.Add(int64(0), int64(1), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, q, i, e int64) {
		s := Server{Queue: time.Duration(q), Init: time.Duration(i), Exec: time.Duration(e)}
		gq, gi, ge, err := ParseTiming(s.Timing())
		if want := [3]time.Duration{max(s.Queue, 0), max(s.Init, 0), max(s.Exec, 0)}; [3]time.Duration{gq, gi, ge} != want || err != nil {
			t.Fatalf("ParseTiming(%q) = %v, %v, %v, %v, want %v", s.Timing(), gq, gi, ge, err, want)
		}
	})
}
