package references

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrQueue is wrapped by the error of a queue that has no closed form.
var ErrQueue = errors.New("no such queue")

// Queue is the textbook queue M/M/c: requests arrive independently at a fixed mean rate, each is served alone by one of a
// fixed number of instances for a time that is exponential, and those that find no idle instance wait in order of arrival
// without limit. Its waits are known exactly, so a simulation can be held to them.
type Queue struct {
	Rate      float64       // mean arrivals per second, > 0
	Service   time.Duration // mean service time, > 0
	Instances int           // that serve, ≥ 1
}

// Offered is the mean number of busy instances, Rate · Service, in Erlang.
func (q Queue) Offered() float64 { return q.Rate * q.Service.Seconds() }

// Check says why the queue has no steady state: a number is out of range, or more is offered than the instances can serve.
// Errors wrap ErrQueue.
func (q Queue) Check() error {
	switch a := q.Offered(); {
	case !(q.Rate > 0) || math.IsInf(q.Rate, 0) || q.Service <= 0 || q.Instances < 1: // the first is also true for NaN
		return fmt.Errorf("queue of rate %v/s, service %v, %d instances: %w: all must be above 0 and finite", q.Rate, q.Service, q.Instances, ErrQueue)
	case a >= float64(q.Instances):
		return fmt.Errorf("queue that is offered %.3g Erlang on %d instances: %w: it grows without end, offer less than one to each", a, q.Instances, ErrQueue)
	}
	return nil
}

// Waits is the share of requests that find no idle instance: Erlang's C. It is computed from Erlang's B by the recursion
// B(0) = 1, B(k) = a·B(k−1) / (k + a·B(k−1)) and C = B / (1 − (a/c)·(1 − B)), which neither overflows nor cancels for any
// number of instances. It is NaN for a queue that does not pass Check.
func (q Queue) Waits() float64 {
	if q.Check() != nil {
		return math.NaN()
	}
	a, blocked := q.Offered(), 1.0
	for k := 1; k <= q.Instances; k++ {
		blocked = a * blocked / (float64(k) + a*blocked)
	}
	return blocked / (1 - a/float64(q.Instances)*(1-blocked))
}

// MeanWait is the mean waiting time over all requests, those that do not wait included: C · Service / (c − a). It is 0 for
// a queue that does not pass Check.
func (q Queue) MeanWait() time.Duration {
	if q.Check() != nil {
		return 0
	}
	return time.Duration(q.Waits() * float64(q.Service) / (float64(q.Instances) - q.Offered()))
}
