package analysis

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// anyRun draws a run of up to 300 arrivals with every outcome and start kind.
func anyRun(r *rand.Rand) Input {
	in := Input{Schedule: &workload.Schedule{Length: time.Duration(1 + r.Int64N(60e9))}, Window: time.Duration(1e8 + r.Int64N(2e10))}
	at := clock.Instant(0)
	for seq := range int64(r.IntN(300)) {
		at = min(at.Add(time.Duration(r.Int64N(3e8))), clock.Instant(in.Schedule.Length-1))
		rec := answer(seq, int32(seq/20)-1, at, time.Duration(r.Int64N(5e9)), record.StartKind(r.UintN(uint(record.StartKinds))))
		rec.Outcome, rec.Attempt = record.Outcome(r.UintN(uint(record.Outcomes))), r.Int32N(3)+1
		if rec.Outcome == record.Dropped {
			rec.Sent = clock.Never
		}
		in.Records = append(in.Records, rec)
		in.Schedule.Arrivals = append(in.Schedule.Arrivals, workload.Arrival{Seq: seq, At: at, Wave: rec.Wave})
	}
	return in
}

// Whatever happened: every request is in one window, every successful answer in one window and under one start kind, every
// wave's requests in that wave, and scheduled = sent + dropped.
func TestSummariesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		in := anyRun(r)
		s := Summarize(in)
		var intended, ended, started, byStart, inWaves, wanted int
		for _, w := range s.Windows {
			intended, ended, started = intended+w.N, ended+w.Answered, started+w.Response.N
		}
		for _, k := range s.ByStart {
			byStart += k.N
		}
		for _, w := range s.Waves {
			inWaves += w.N
		}
		for i := range in.Records {
			if in.Records[i].Wave >= 0 {
				wanted++
			}
		}
		ok := s.Outcomes[record.OK]
		if intended != s.Scheduled || ended != ok || started != ok || byStart != ok || s.OK.N != ok || inWaves != wanted || s.Sent+s.Outcomes[record.Dropped] != s.Scheduled {
			t.Fatalf("windows %d and %d and %d, start kinds %d, successful %d, waves %d, sent %d, want sums of %d scheduled, %d successful, %d in waves",
				intended, ended, started, byStart, s.OK.N, inWaves, s.Sent, s.Scheduled, ok, wanted)
		}
	}
}

// The order in which records were kept changes nothing.
func TestOrderOfRecordsDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 100 {
		in := anyRun(r)
		want := Summarize(in)
		r.Shuffle(len(in.Records), func(i, j int) { in.Records[i], in.Records[j] = in.Records[j], in.Records[i] })
		if diff := cmp.Diff(want, Summarize(in)); diff != "" {
			t.Fatalf("summary of shuffled records (-want +got):\n%s", diff)
		}
	}
}

// A run that is later by a constant has the same totals of instances.
func TestTotalsDoNotDependOnTheEpoch(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 100 {
		lives := make([]record.Instance, r.IntN(30))
		for i := range lives {
			lives[i].Started = clock.Instant(r.Int64N(1e9))
			lives[i].Ready = lives[i].Started.Add(time.Duration(r.Int64N(1e9)))
			lives[i].Stopped = lives[i].Ready.Add(time.Duration(r.Int64N(1e9)))
		}
		want := Total(lives, 1e9)
		for i := range lives {
			lives[i].Started, lives[i].Ready, lives[i].Stopped = lives[i].Started+77, lives[i].Ready+77, lives[i].Stopped+77
		}
		if got := Total(lives, 1e9+77); got != want {
			t.Fatalf("Total 77 ns later = %+v, want %+v", got, want)
		}
	}
}
