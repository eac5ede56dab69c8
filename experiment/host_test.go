package experiment

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/analysis"
	"coldwave/internal/realclock"
)

func TestABusyHostIsNamed(t *testing.T) {
	calm := analysis.Stats{N: 50, P95: hostLimit}
	late := analysis.Stats{N: 50, P95: hostLimit + 1}
	for _, c := range []struct {
		name string
		host analysis.Host
		want string // part of the reason; empty: calm
	}{
		{"exactly at the limit", analysis.Host{Overshoot: calm, Loopback: calm, During: calm}, ""},
		{"late sleeps", analysis.Host{Overshoot: late, Loopback: calm}, "sleeps of 100 ms"},
		{"slow loopback", analysis.Host{Overshoot: calm, Loopback: late}, "loopback"},
		{"busy during the run", analysis.Host{Overshoot: calm, Loopback: calm, During: late}, "while the run was on"},
	} {
		judgeHost(&c.host)
		if c.host.Busy != (c.want != "") || !strings.Contains(c.host.Reason, c.want) {
			t.Errorf("%s: busy %v, %q; want a reason with %q", c.name, c.host.Busy, c.host.Reason, c.want)
		}
	}
}

func TestSleepsOnAPerfectClockAreNeverLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late, err := probeSleeps(t.Context(), realclock.Timers(time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		if got := analysis.Of(late); got.N != hostProbes || got.Max != 0 {
			t.Errorf("probeSleeps: n=%d, max %v, want %d and 0", got.N, got.Max, hostProbes)
		}
	})
}

func TestWatchSeesAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := Watch(t.Context(), realclock.Timers(time.Now()))
		time.Sleep(time.Second)
		if got := analysis.Of(stop()); got.N < 45 || got.Max != 0 {
			t.Errorf("watch over 1 s: n=%d, max %v, want about 50 samples and 0", got.N, got.Max)
		}
	})
}

func TestCalibrateMeasuresBoth(t *testing.T) {
	host, err := Calibrate(context.Background(), realclock.New(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	if host.Overshoot.N != hostProbes || host.Loopback.N != hostProbes || host.Overshoot.Min < 0 || host.Loopback.Min <= 0 {
		t.Errorf("Calibrate = %+v, want %d samples of each, none early", host, hostProbes)
	}
}
