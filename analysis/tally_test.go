package analysis

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/record"
)

func tallied(in Input) Summary {
	t := NewTally(in.Window, 0)
	for i := range in.Records {
		t.Add(&in.Records[i])
	}
	return t.Summary(len(in.Schedule.Arrivals), in)
}

// A tally gives to the last digit what Summarize gives of all records in memory, in whatever order they come.
func TestTallyEqualsSummarize(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 200 {
		in := anyRun(r)
		for i := range in.Records { // some are early, late, or were sent more often
			if in.Records[i].Sent != 0 && r.IntN(4) == 0 {
				in.Records[i].Sent += in.Records[i].Intended / 50
			}
		}
		want := Summarize(in)
		r.Shuffle(len(in.Records), func(i, j int) { in.Records[i], in.Records[j] = in.Records[j], in.Records[i] })
		if diff := cmp.Diff(want, tallied(in)); diff != "" {
			t.Fatalf("tally of %d records (-Summarize +tally):\n%s", len(in.Records), diff)
		}
	}
}

// The comparison bites: a record that is left out, or another outcome, shows.
func TestATallyOfOtherRecordsDiffers(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for range 50 {
		in := anyRun(r)
		if len(in.Records) == 0 {
			continue
		}
		want := Summarize(in)
		k := r.IntN(len(in.Records))
		if r.IntN(2) == 0 {
			in.Records = append(in.Records[:k:k], in.Records[k+1:]...)
		} else {
			in.Records[k].Outcome = (in.Records[k].Outcome + 1) % record.Outcomes
		}
		if cmp.Equal(want, tallied(in)) {
			t.Fatalf("record %d changed and the tally did not", k)
		}
	}
}

func TestTallyOfNothing(t *testing.T) {
	in := Input{Schedule: scheduleOf(nil, 0)}
	if diff := cmp.Diff(Summarize(in), tallied(in)); diff != "" {
		t.Errorf("tally of nothing (-want +got):\n%s", diff)
	}
}

// What a tally holds is that of its columns: not above 40 bytes a record, where a record itself has above 150.
func TestTallyIsSmall(t *testing.T) {
	const n = 100_000
	in := virtualRun(n)
	before := heap()
	tally := NewTally(time.Second, n)
	for i := range in.Records {
		tally.Add(&in.Records[i])
	}
	each := float64(heap()-before) / n
	if each > 40 {
		t.Errorf("%.0f bytes a record, want at most 40", each)
	}
	if got := tally.Summary(n, in).Scheduled; got != n {
		t.Errorf("scheduled %d, want %d", got, n)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkTally(b *testing.B) {
	in := virtualRun(1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		tallied(in)
	}
}
