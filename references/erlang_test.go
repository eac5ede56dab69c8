package references

import (
	"errors"
	"math"
	"testing"
	"time"
)

// Values that others published or that follow by hand.
func TestErlangC(t *testing.T) {
	for _, c := range []struct {
		why   string
		queue Queue
		waits float64
		mean  time.Duration
		tol   float64 // of waits, from the digits that were published
	}{
		{"one instance: the share of its busy time, ρ = 0.8; mean ρ/(μ−λ)", Queue{8, 100 * ms, 1}, 0.8, 400 * ms, 1e-12},
		{"two instances, one Erlang: 1/3 by hand", Queue{10, 100 * ms, 2}, 1.0 / 3, 33333333, 1e-12},
		{"three instances, two Erlang: 4/9 by hand", Queue{20, 100 * ms, 3}, 4.0 / 9, 44444444, 1e-12},
		{"the call centre of textbooks: 200 calls an hour of 3 min, 14 agents: 17.4 %, 7.8 s", Queue{200.0 / 3600, 3 * time.Minute, 14}, 0.174, 7835 * ms, 5e-4},
		{"almost nothing offered: nobody waits", Queue{0.001, ms, 5}, 0, 0, 1e-12},
	} {
		if got := c.queue.Waits(); math.Abs(got-c.waits) > c.tol {
			t.Errorf("%s: Waits() = %.6f, want %.6f", c.why, got, c.waits)
		}
		if got := c.queue.MeanWait(); math.Abs(float64(got-c.mean)) > 1+5e-4*float64(c.mean) {
			t.Errorf("%s: MeanWait() = %v, want %v", c.why, got, c.mean)
		}
	}
}

// The recursion gives the sum that defines Erlang's C, and stays finite where the sum's factorials do not.
func TestErlangCIsItsDefinition(t *testing.T) {
	for _, c := range []int{1, 2, 7, 20} {
		for _, load := range []float64{0.1, 0.5, 0.9, 0.99} {
			q := Queue{Rate: load * float64(c) * 10, Service: 100 * ms, Instances: c}
			a := q.Offered()
			term, sum := 1.0, 0.0 // a^k / k!
			for k := range c {
				sum += term
				term *= a / float64(k+1)
			}
			top := term * float64(c) / (float64(c) - a)
			if got, want := q.Waits(), top/(sum+top); math.Abs(got-want) > 1e-9 {
				t.Errorf("%d instances, load %v: Waits() = %v, want %v", c, load, got, want)
			}
		}
	}
	big := Queue{Rate: 99_000, Service: time.Second, Instances: 100_000}
	if got := big.Waits(); !(got > 0 && got < 0.01) {
		t.Errorf("100,000 instances at 99 %%: Waits() = %v, want a small positive share", got)
	}
}

func TestQueuesWithoutSteadyState(t *testing.T) {
	for why, q := range map[string]Queue{
		"as much offered as can be served": {Rate: 20, Service: 100 * ms, Instances: 2},
		"more":                             {Rate: 21, Service: 100 * ms, Instances: 2},
		"no arrivals":                      {Service: 100 * ms, Instances: 2},
		"a rate that is no number":         {Rate: math.NaN(), Service: 100 * ms, Instances: 2},
		"an infinite rate":                 {Rate: math.Inf(1), Service: 100 * ms, Instances: 2},
		"no service time":                  {Rate: 1, Instances: 2},
		"no instance":                      {Rate: 1, Service: 100 * ms},
	} {
		if err := q.Check(); !errors.Is(err, ErrQueue) {
			t.Errorf("%s: Check() = %v, want ErrQueue", why, err)
		}
		if w, m := q.Waits(), q.MeanWait(); !math.IsNaN(w) || m != 0 {
			t.Errorf("%s: Waits() = %v, MeanWait() = %v, want NaN and 0", why, w, m)
		}
	}
}
