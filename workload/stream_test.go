package workload

import (
	"errors"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
)

// TestStreamIsBuild: a stream draws the arrivals of the schedule that Build makes of the same source, opened twice too.
func TestStreamIsBuild(t *testing.T) {
	for seed := range uint64(20) {
		src := Source{Process: endless{}, Demands: bySeq{1}, Seed: seed, Limit: 500}
		stream, again := src.Open(), src.Open()
		var got []Arrival
		for a, ok := stream.Next(); ok; a, ok = stream.Next() {
			if b, _ := again.Next(); b != a {
				t.Fatalf("seed %d: the second stream gives %+v, the first %+v", seed, b, a)
			}
			got = append(got, a)
		}
		if !errors.Is(stream.Err(), ErrTooMany) || stream.Drawn() != 500 {
			t.Fatalf("seed %d: %d arrivals, error %v, want 500 and ErrTooMany", seed, stream.Drawn(), stream.Err())
		}
		if _, ok := stream.Next(); ok {
			t.Errorf("seed %d: an arrival after the error", seed)
		}
		var instants []clock.Instant
		for _, a := range got {
			instants = append(instants, a.At)
		}
		want, err := Build(Source{Process: at(endless{}.Length(), instants...), Demands: bySeq{1}})
		if err != nil {
			t.Fatal(err)
		}
		for k := range got {
			got[k].Wave = -1 // that of the list
		}
		if !slices.Equal(got, want.Arrivals) {
			t.Errorf("seed %d: the stream differs from the schedule", seed)
		}
	}
}

// TestStreamLength: a process without a length of its own ends just after its last arrival.
func TestStreamLength(t *testing.T) {
	tests := []struct {
		name    string
		process list
		want    int64
	}{
		{"its own length", at(20, 1, 2), 20},
		{"just after the last arrival", at(0, 1, 7), 8},
		{"nothing arrives", at(0), 0},
	}
	for _, tt := range tests {
		stream := Source{Process: tt.process, Demands: bySeq{1}}.Open()
		for _, ok := stream.Next(); ok; {
			_, ok = stream.Next()
		}
		if got := int64(stream.Length()); got != tt.want || stream.Err() != nil {
			t.Errorf("%s: Length() = %d, error %v, want %d", tt.name, got, stream.Err(), tt.want)
		}
	}
}

// TestStreamRefuses: what no schedule may hold ends the stream as it ends Build.
func TestStreamRefuses(t *testing.T) {
	tests := []struct {
		name    string
		process list
		demands Demands
	}{
		{"time goes back", at(0, 5, 4), bySeq{1}},
		{"before 0", at(0, -1), bySeq{1}},
		{"at the end", at(5, 5), bySeq{1}},
		{"a negative demand", at(0, 1, 2), bySeq{-1}},
	}
	for _, tt := range tests {
		stream := Source{Process: tt.process, Demands: tt.demands}.Open()
		for _, ok := stream.Next(); ok; {
			_, ok = stream.Next()
		}
		if !errors.Is(stream.Err(), ErrArrival) {
			t.Errorf("%s: Err() = %v, want ErrArrival", tt.name, stream.Err())
		}
	}
}

func BenchmarkStream(b *testing.B) {
	stream := Source{Process: endless{}, Demands: bySeq{1}}.Open()
	b.ReportAllocs()
	for b.Loop() {
		stream.Next()
	}
}

// The hash of a source is that of the schedule built from it, with and without a length of the process.
func TestSourceHashIsScheduleHash(t *testing.T) {
	for _, p := range []list{at(0), at(time.Second), at(0, 1, 1, 7), at(time.Second, 0, 5, 999)} {
		src := Source{Process: p, Demands: bySeq{1}, Function: Function{Name: "f", Concurrency: 2}, Seed: 3}
		schedule, err := Build(src)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := src.Hash(); err != nil || got != schedule.Hash() {
			t.Errorf("Hash of %d arrivals in %v = %s, %v, want %s", len(p.arrivals), p.length, got, err, schedule.Hash())
		}
	}
	if _, err := (Source{Process: at(0, 5, 1), Demands: bySeq{1}}).Hash(); !errors.Is(err, ErrArrival) {
		t.Errorf("Hash of arrivals out of order: %v, want ErrArrival", err)
	}
}

// TestStreamFills: blocks of any size hold what Next gives, one by one. The last is short, and so is one before an error.
func TestStreamFills(t *testing.T) {
	for size := 1; size <= 70; size += 23 {
		source := Source{Process: endless{}, Demands: bySeq{1}, Limit: 100}
		one, blocks := source.Open(), source.Open()
		block := make([]Arrival, size)
		n := 0
		for {
			filled := blocks.Fill(block)
			for _, got := range block[:filled] {
				if want, ok := one.Next(); got != want || !ok {
					t.Fatalf("blocks of %d: arrival %d is %+v, want %+v", size, n, got, want)
				}
				n++
			}
			if filled < size {
				break
			}
		}
		if n != 100 || !errors.Is(blocks.Err(), ErrTooMany) || blocks.Fill(block) != 0 {
			t.Errorf("blocks of %d: %d arrivals, error %v, want 100, then ErrTooMany and no more", size, n, blocks.Err())
		}
	}
}
