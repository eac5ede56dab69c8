package history

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var epoch = time.Date(2026, 3, 1, 2, 0, 0, 5, time.UTC)

// aRun is a run with two cells that began on a night.
func aRun(id string, night int) Run {
	low, high := 0.9, 1.1
	return Run{
		ID: id, Verb: "run", Began: epoch.AddDate(0, 0, night), Version: "v1.2", Commit: "3f2c1ab", Host: "linux/amd64", Command: "loadgen run",
		Seed: math.MaxUint64 - uint64(night), Dir: "runs/" + id, ExitCode: 1, State: Complete,
		Cells: []Cell{
			{Name: "fc-burst/fc-bound", Pattern: "fc-burst", Policy: "fc-bound", Driver: "wire", Hash: "aa", Figures: []Figure{
				{Name: "response_p50", Unit: "ns", Value: 112e6 + float64(night), N: 40, Low: &low, High: &high},
				{Name: "response_p99", Unit: "ns", Value: 2.5e9, N: 40},
			}},
			{Name: "poisson/-", Pattern: "poisson", Target: "http://127.0.0.1:1/", Driver: "wire", Hash: "bb", Figures: []Figure{
				{Name: "response_p50", Unit: "ns", Value: 1e6, N: 7},
			}},
		},
	}
}

func TestRunComesBack(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		want := aRun("20260301-abc", 0)
		must(t, s.Add(t.Context(), want))
		got, err := s.Get(t.Context(), "20260301")
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Get (-want +got):\n%s", diff)
		}
		if err := s.Add(t.Context(), want); !errors.Is(err, ErrExists) {
			t.Errorf("Add of the same id: %v, want ErrExists", err)
		}
	})
}

// TestAddIsWhole: a run with an impossible cell leaves nothing behind.
func TestAddIsWhole(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		r := aRun("r1", 0)
		r.Cells = append(r.Cells, r.Cells[0])
		if err := s.Add(t.Context(), r); err == nil {
			t.Fatal("two cells of one name were kept")
		}
		runs, err := s.Runs(t.Context(), Filter{})
		must(t, err)
		if len(runs) != 0 {
			t.Errorf("%d runs are left of it", len(runs))
		}
		must(t, s.Check(t.Context()))
	})
}

func TestGetByBeginning(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		for k, id := range []string{"ab", "abc", "abd", "x_y", "xzy"} {
			must(t, s.Add(t.Context(), aRun(id, k)))
		}
		for _, c := range []struct{ ask, want string }{
			{"ab", "ab"}, {"abc", "abc"}, {"x_", "x_y"}, {"a", ""}, {"", ""}, {"zz", ""}, {"%", ""}, {"abcd", ""},
		} {
			got, err := s.Get(t.Context(), c.ask)
			if got.ID != c.want || (err == nil) != (c.want != "") {
				t.Errorf("Get(%q) = %q, %v, want %q", c.ask, got.ID, err, c.want)
			}
			if c.want == "" && !errors.Is(err, ErrNotFound) {
				t.Errorf("Get(%q): %v, want ErrNotFound", c.ask, err)
			}
		}
	})
}

func TestFilters(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		for k := range 5 {
			must(t, s.Add(t.Context(), aRun(fmt.Sprintf("r%d", k), k)))
		}
		other := aRun("v0", 9)
		other.Verb, other.Cells = "verify", other.Cells[1:]
		must(t, s.Add(t.Context(), other))
		for _, c := range []struct {
			f    Filter
			want []string
		}{
			{Filter{}, []string{"v0", "r4", "r3", "r2", "r1", "r0"}},
			{Filter{Limit: 2}, []string{"v0", "r4"}},
			{Filter{Verb: "run", Limit: 1}, []string{"r4"}},
			{Filter{Policy: "fc-bound", Limit: 1}, []string{"r4"}},
			{Filter{Pattern: "poisson", Verb: "verify"}, []string{"v0"}},
			{Filter{Pattern: "' OR 1=1 --"}, nil},
		} {
			runs, err := s.Runs(t.Context(), c.f)
			must(t, err)
			var got []string
			for _, r := range runs {
				got = append(got, r.ID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("Runs(%+v) = %v, want %v", c.f, got, c.want)
			}
		}
	})
}

func TestTrend(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		for _, k := range []int{2, 0, 1, 3} {
			must(t, s.Add(t.Context(), aRun(fmt.Sprintf("r%d", k), k)))
		}
		values, err := s.Trend(t.Context(), "fc-burst/fc-bound", "response_p50", 3)
		must(t, err)
		var got []float64
		for _, v := range values {
			got = append(got, v.Value-112e6)
		}
		if !slices.Equal(got, []float64{1, 2, 3}) {
			t.Errorf("the last three values are %v, want 1 2 3, oldest first", got)
		}
	})
}

func TestRemove(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		must(t, s.Add(t.Context(), aRun("r1", 0)))
		must(t, s.Remove(t.Context(), "r1"))
		if err := s.Remove(t.Context(), "r1"); !errors.Is(err, ErrNotFound) {
			t.Errorf("Remove of what is gone: %v, want ErrNotFound", err)
		}
		must(t, s.Add(t.Context(), aRun("r1", 1))) // no row of the first is left
	})
}
