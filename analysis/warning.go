package analysis

import (
	"fmt"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// Codes of warnings.
const (
	WarnStopped   = "stopped-early" // the run ended before its schedule did; whoever stopped it says so
	WarnRecovered = "recovered"     // the run was killed: this is what was on disk
	WarnSendLag   = "send-lag"      // the generator was late: response times hold its own delay
	WarnRate      = "rate"          // the generator did not reach the schedule's rate
	WarnDropped   = "dropped"       // arrivals were never sent
	WarnResent    = "resent"        // requests were written more than once
	WarnStart     = "start-unknown" // answers did not tell how they were served
	WarnAccount   = "account"       // arrivals without a record, or with several
)

// Limits of a valid run.
const (
	MaxSendLag      = time.Millisecond // p99 of the send lag, unless MaxSendLagShare allows more
	MaxSendLagShare = 0.05             // of the median response time
	MinRateShare    = 0.99             // of the scheduled rate
)

// Valid says whether the numbers of a run mean what they say, and if not, why: it was stopped or killed, dropped something, missed its rate by
// more than 1 %, was late itself, or does not account for every arrival. Such a run is reported, but judges nothing.
func Valid(s Summary) (ok bool, reasons []string) {
	for _, w := range s.Warnings {
		switch w.Code {
		case WarnStopped, WarnRecovered, WarnSendLag, WarnRate, WarnDropped, WarnAccount:
			reasons = append(reasons, w.Text)
		}
	}
	return len(reasons) == 0, reasons
}

// warnings collects what the reader of the numbers must know; share is the reached part of the schedule's rate.
func warnings(s *Summary, share float64) []Warning {
	var out []Warning
	warn := func(bad bool, code, format string, args ...any) {
		if bad {
			out = append(out, Warning{code, fmt.Sprintf(format, args...)})
		}
	}
	limit := SendLagLimit(s.All.P50)
	warn(s.SendLag.P99 > limit, WarnSendLag, "send lag p99 %v is above %v (the larger of %v and %.0f %% of the median response time)", s.SendLag.P99, limit, MaxSendLag, 100*MaxSendLagShare)
	warn(share < MinRateShare, WarnRate, "%.1f %% of the scheduled rate was reached, below %.0f %%", 100*share, 100*MinRateShare)
	dropped := s.Outcomes[record.Dropped]
	warn(dropped > 0, WarnDropped, "%d of %d arrivals were dropped", dropped, s.Scheduled)
	warn(s.Sent+dropped != s.Scheduled, WarnAccount, "%d arrivals were scheduled, %d were recorded", s.Scheduled, s.Sent+dropped)
	warn(s.Resent > 0, WarnResent, "%d requests were written more often than once", s.Resent)
	unknown := s.ByStart[record.StartUnknown].N
	warn(unknown > 0, WarnStart, "%d of %d successful answers do not tell how they were served", unknown, s.OK.N)
	return out
}

// SendLagLimit returns the largest p99 of the send lag of a valid run with that median response time.
func SendLagLimit(median time.Duration) time.Duration {
	return max(MaxSendLag, time.Duration(MaxSendLagShare*float64(median)))
}

// rateShare returns the reached part of the schedule's rate: less if arrivals were not sent, and less if the last one was
// sent late. A lateness within MaxSendLag does not count, so that a schedule of a few milliseconds can be met.
func rateShare(s *Summary, in Input) float64 {
	if s.Scheduled == 0 {
		return 1
	}
	share := float64(s.Sent) / float64(s.Scheduled)
	arrivals := in.Schedule.Arrivals
	last := arrivals[len(arrivals)-1].At
	return share * reached(last.Sub(arrivals[0].At), lastSent(in.Records).Sub(last))
}

// reached is the part of the rate that a schedule of that span reached if its last request was that late.
func reached(span, late time.Duration) float64 {
	if span <= 0 || late <= MaxSendLag {
		return 1
	}
	return float64(span) / float64(span+late)
}

func lastSent(records []record.Record) (last clock.Instant) {
	for i := range records {
		if at := records[i].Sent; at != clock.Never {
			last = max(last, at)
		}
	}
	return last
}
