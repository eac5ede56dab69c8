package platform

import (
	"errors"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
)

// TestConnections: scaling out exhausts them, and what ends gives its own back.
func TestConnections(t *testing.T) {
	s := Backing{Connections: 10, PerInstance: 4}.Open()
	for i := range int64(3) {
		s.Join(i)
	}
	for i, want := range []error{nil, nil, ErrConnections} {
		if _, err := s.Call(0, int64(i)); !errors.Is(err, want) {
			t.Errorf("a call of instance %d: %v, want %v", i, err, want)
		}
	}
	if s.Connections() != 8 {
		t.Errorf("%d connections are taken, want 8", s.Connections())
	}
	s.Leave(0)
	if _, err := s.Call(1, 2); err != nil {
		t.Errorf("when another has ended: %v, want none", err)
	}
	s.Leave(0) // twice gives nothing back
	s.Leave(1)
	s.Leave(2)
	if s.Connections() != 0 {
		t.Errorf("%d connections are taken when all have ended, want none", s.Connections())
	}
}

// TestQuota: the calls of a full second, and what becomes of those beyond.
func TestQuota(t *testing.T) {
	ats := []time.Duration{0, 999 * ms, 999 * ms, 1000 * ms, 1500 * ms, 1500 * ms, 1500 * ms, 4 * time.Second}
	tests := []struct {
		name  string
		waits bool
		want  []time.Duration // -1: it fails
	}{
		{"they fail", false, []time.Duration{0, 0, -1, 0, 0, -1, -1, 0}},
		{"they wait", true, []time.Duration{0, 0, ms, 0, 500 * ms, 500 * ms, 1500 * ms, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Backing{Quota: 2, Waits: tt.waits}.Open()
			s.Join(1)
			var got []time.Duration
			for _, at := range ats {
				wait, err := s.Call(clock.Instant(at), 1)
				if err != nil {
					if wait = -1; !errors.Is(err, ErrQuota) {
						t.Errorf("at %v: %v, want ErrQuota", at, err)
					}
				}
				got = append(got, wait)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("calls wait %v, want %v", got, tt.want)
			}
		})
	}
}

// TestBackingHolds: in no second more calls begin than the quota, none that waits overtakes another, and never more
// connections are taken than there are.
func TestBackingHolds(t *testing.T) {
	for seed := range uint64(200) {
		d := rng.NewKey(seed, "backing").Draw(0)
		b := Backing{Connections: int(1 + d.Int64N(20)), Quota: int(1 + d.Int64N(5)), Waits: d.Int64N(2) == 0}
		b.PerInstance = 1 + int(d.Int64N(int64(b.Connections)))
		s := b.Open()
		begun := map[clock.Instant]int{}
		at, last := clock.Instant(0), clock.Instant(0)
		for range 300 {
			at += clock.Instant(d.Int64N(int64(400 * ms)))
			i := d.Int64N(8)
			switch d.Int64N(6) {
			case 0:
				if _, there := s.held[i]; !there {
					s.Join(i)
				}
			case 1:
				s.Leave(i)
			default:
				wait, err := s.Call(at, i)
				if err != nil {
					continue
				}
				begins := at.Add(wait)
				if begins < last || wait < 0 || wait > 0 && !b.Waits {
					t.Fatalf("seed %d: a call at %v waits %v, the one before begins at %v", seed, at, wait, last)
				}
				last = begins
				if begun[floorSecond(begins)]++; begun[floorSecond(begins)] > b.Quota {
					t.Fatalf("seed %d: more than %d calls in the second from %v", seed, b.Quota, floorSecond(begins))
				}
			}
			if s.Connections() > b.Connections || s.Connections() < 0 {
				t.Fatalf("seed %d: %d of %d connections are taken", seed, s.Connections(), b.Connections)
			}
		}
	}
}

func TestBackingRefused(t *testing.T) {
	for _, b := range []Backing{{Connections: -1}, {Quota: MaxBacking + 1}, {PerInstance: 1}, {Connections: 3, PerInstance: 4}, {Connections: 1, Waits: true}} {
		if err := b.Check(); !errors.Is(err, ErrProfile) {
			t.Errorf("%+v: Check = %v, want ErrProfile", b, err)
		}
	}
	for _, b := range []Backing{{}, {Connections: 3}, {Quota: 5, Waits: true}} {
		if err := b.Check(); err != nil {
			t.Errorf("%+v: %v, want none", b, err)
		}
	}
}
