package record

import (
	"errors"
	"strings"
	"testing"

	"coldwave/internal/clock"
)

// kept returns n records, one for each seq: every third was dropped, the others answered.
func kept(n int) []Record {
	records := make([]Record, n)
	for i := range records {
		records[i] = Record{Seq: int64(i), Sent: clock.Instant(i), Done: clock.Instant(i + 1), Outcome: OK, Status: 200, Attempt: 1}
		if i%3 == 2 {
			records[i] = Record{Seq: int64(i), Sent: clock.Never, Outcome: Dropped, Cause: "limit"}
		}
	}
	return records
}

func TestAccount(t *testing.T) {
	for _, c := range []struct {
		name      string
		scheduled int
		change    func([]Record) []Record
		want      string // part of the error; empty: none
	}{
		{"every arrival has one record", 6, func(r []Record) []Record { return r }, ""},
		{"the order of records does not matter", 6, func(r []Record) []Record { r[0], r[5] = r[5], r[0]; return r }, ""},
		{"a recovered bundle may not know an outcome", 6, func(r []Record) []Record { r[0].Outcome = Unknown; return r }, ""},
		{"a failed dial counts as sent and has no send instant", 6, func(r []Record) []Record {
			r[0] = Record{Sent: clock.Never, Outcome: TransportError, Cause: "dial"}
			return r
		}, ""},
		{"nothing scheduled, nothing recorded", 0, func([]Record) []Record { return nil }, ""},
		{"one is missing", 6, func(r []Record) []Record { return append(r[:3], r[4:]...) }, "the first without a record is seq 3"},
		{"one is there twice", 6, func(r []Record) []Record { r[4].Seq = 3; return r }, "seq 3 has two records"},
		{"one was never scheduled", 5, func(r []Record) []Record { return r }, "record of seq 5, but only 0 to 4"},
		{"a negative seq", 6, func(r []Record) []Record { r[0].Seq = -1; return r }, "record of seq -1"},
		{"an outcome that does not exist", 6, func(r []Record) []Record { r[1].Outcome = Outcomes; return r }, "seq 1 has outcome 8"},
		{"dropped and yet sent", 6, func(r []Record) []Record { r[2].Sent = 7; return r }, "seq 2 counts as dropped (limit) but was sent at 7ns"},
		{"answered and yet never sent", 6, func(r []Record) []Record { r[1].Sent = clock.Never; return r }, "seq 1 has status 200 but was never sent"},
		{"a negative number of arrivals", -1, func(r []Record) []Record { return r }, "-1 scheduled"},
	} {
		err := Account(c.change(kept(6)), c.scheduled)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrAccount) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: Account = %v, want an ErrAccount with %q", c.name, err, c.want)
		}
	}
}

// scheduled = sent + dropped; sent = the sum of all other outcomes.
func TestCountAddsUp(t *testing.T) {
	n := Count(append(kept(7), Record{Outcome: Outcomes}))
	if want := ([Outcomes]int{OK: 5, Dropped: 2}); n != want {
		t.Errorf("Count = %v, want %v", n, want)
	}
}

func TestDurationsOfARecord(t *testing.T) {
	sent := Record{Intended: 10, Sent: 13, Done: 40}
	if r, s, l := sent.Response(), sent.Service(), sent.SendLag(); r != 30 || s != 27 || l != 3 {
		t.Errorf("response, service, send lag = %d, %d, %d, want 30, 27, 3: response = send lag + service", r, s, l)
	}
	never := Record{Intended: 10, Sent: clock.Never, Done: 10}
	if s, l := never.Service(), never.SendLag(); s != 0 || l != 0 {
		t.Errorf("service, send lag of a request that was never sent = %d, %d, want 0, 0", s, l)
	}
}

func TestNamesAreTheirOwnInverse(t *testing.T) {
	inverse(t, Outcomes, ParseOutcome)
	inverse(t, StartKinds, ParseStartKind)
	inverse(t, StartBys, ParseStartBy)
	inverse(t, Sources, ParseSource)
}

func inverse[T interface {
	~uint8
	String() string
}](t *testing.T, n T, parse func(string) (T, bool)) {
	t.Helper()
	for v := T(0); v < n; v++ {
		if got, ok := parse(v.String()); got != v || !ok {
			t.Errorf("parse(%q) = %d, %v, want %d, true", v.String(), got, ok, v)
		}
	}
	if got, ok := parse("no such name"); ok {
		t.Errorf("parse of a name that does not exist = %d, want none", got)
	}
	if got := n.String(); got != "invalid" {
		t.Errorf("name of value %d = %q, want invalid", n, got)
	}
}
