package history

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPins(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		first := Pin{Name: "nightly", Side: "build:bin/gateway-1", At: epoch}
		second := Pin{Name: "nightly", Side: "build:bin/gateway-2", Note: "release 1.3", At: epoch.Add(time.Hour)}
		must(t, s.SetPin(t.Context(), first))
		must(t, s.SetPin(t.Context(), second))
		got, err := s.Pins(t.Context())
		must(t, err)
		if diff := cmp.Diff([]Pin{second}, got); diff != "" {
			t.Errorf("Pins (-want +got):\n%s", diff)
		}
		one, err := s.Pin(t.Context(), "nightly")
		must(t, err)
		if one != second {
			t.Errorf("Pin = %+v, want %+v", one, second)
		}
		must(t, s.Unpin(t.Context(), "nightly"))
		if _, err := s.Pin(t.Context(), "nightly"); !errors.Is(err, ErrNotFound) {
			t.Errorf("Pin of none: %v, want ErrNotFound", err)
		}
		if err := s.Unpin(t.Context(), "nightly"); !errors.Is(err, ErrNotFound) {
			t.Errorf("Unpin of none: %v, want ErrNotFound", err)
		}
	})
}

func TestPoints(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		low := 0.98
		point := func(night int, same bool, ratio float64) Point {
			return Point{Series: "fc-burst/warm.p99", At: epoch.AddDate(0, 0, night), Same: same, Run: "g1", Ratio: ratio, Low: &low,
				Verdict: "no regression", Baseline: "9d0e77c", Candidate: "3f2c1ab"}
		}
		want := []Point{point(0, false, 1.01), point(1, false, 1.02), point(4, false, 1.2)} // nights 2 and 3 stay missing
		must(t, s.AddPoints(t.Context(), append([]Point{point(0, true, 1)}, want[2], want[0], want[1])))
		got, err := s.Points(t.Context(), "fc-burst/warm.p99", false, 0)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Points (-want +got):\n%s", diff)
		}
		got, err = s.Points(t.Context(), "fc-burst/warm.p99", false, 1)
		must(t, err)
		if diff := cmp.Diff(want[2:], got); diff != "" {
			t.Errorf("the last point (-want +got):\n%s", diff)
		}
		if err := s.AddPoints(t.Context(), []Point{point(9, false, 1), point(1, false, 1)}); !errors.Is(err, ErrExists) {
			t.Errorf("AddPoints of a night that is there: %v, want ErrExists", err)
		}
		series, err := s.Series(t.Context())
		must(t, err)
		if diff := cmp.Diff([]string{"fc-burst/warm.p99"}, series); diff != "" {
			t.Errorf("Series (-want +got):\n%s", diff)
		}
		if got, err = s.Points(t.Context(), "fc-burst/warm.p99", false, 0); err != nil || len(got) != 3 {
			t.Errorf("%d points after the refused session, %v, want 3", len(got), err)
		}
	})
}

func TestAlerts(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		open := func(series string, night int) bool {
			t.Helper()
			opened, err := s.OpenAlert(ctx, Alert{Series: series, At: epoch.AddDate(0, 0, night), Before: 1, After: 1.2, PValue: 0.001,
				From: "a", To: "b", Opened: epoch.AddDate(0, 0, night+5)})
			must(t, err)
			return opened
		}
		set := func(series string, night int, to AlertState, note string) error {
			_, err := s.SetAlert(ctx, AlertID(series, epoch.AddDate(0, 0, night)), to, note, epoch)
			return err
		}
		if !open("p50", 1) || open("p50", 1) || open("p50", 7) || !open("p99", 1) {
			t.Fatal("a series has one open alert at a time")
		}
		must(t, set("p50", 1, Acknowledged, "looking"))
		if open("p50", 7) {
			t.Error("an acknowledged alert is still open")
		}
		if err := set("p50", 1, Expected, " "); !errors.Is(err, ErrNote) {
			t.Errorf("expected without a note: %v, want ErrNote", err)
		}
		must(t, set("p50", 1, Expected, "new codec"))
		if err := set("p50", 1, Acknowledged, ""); !errors.Is(err, ErrTransition) {
			t.Errorf("a closed alert was opened again: %v", err)
		}
		if open("p50", 1) {
			t.Error("a change that was expected alarms again")
		}
		if !open("p50", 7) {
			t.Error("a later change must alarm")
		}
		if err := set("p50", 99, Fixed, ""); !errors.Is(err, ErrNotFound) {
			t.Errorf("an alert of no change: %v, want ErrNotFound", err)
		}
		alerts, err := s.Alerts(ctx, false)
		must(t, err)
		all, err := s.Alerts(ctx, true)
		must(t, err)
		if len(alerts) != 2 || len(all) != 3 || !alerts[0].At.Equal(epoch.AddDate(0, 0, 7)) {
			t.Errorf("%d open alerts of %d, want 2 of 3, the latest first", len(alerts), len(all))
		}
		if note := all[len(all)-1].Note; all[len(all)-1].Series == "p50" && note != "looking; new codec" {
			t.Errorf("notes %q", note)
		}
	})
}
