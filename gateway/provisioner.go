// Package gateway is HTTP in, the core's real-time loop, and a proxy to the instance that the core chose.
package gateway

import (
	"context"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
	"coldwave/workload"
)

// Provisioner makes and destroys instances. It is safe for concurrent use.
type Provisioner interface {
	// Start makes an instance and blocks until it can serve, then returns its address "host:port". An error means that
	// there is no instance. A done context ends the attempt.
	Start(ctx context.Context, r StartRequest) (addr string, err error)
	// Stop ends an instance: no new connections at once, requests in flight may take up to drain. It returns when the
	// instance is gone. Stopping an instance that is gone already is no error.
	Stop(ctx context.Context, id scheduler.InstanceID, drain time.Duration) error
	// Lost tells of instances that ended by themselves. The channel is never closed.
	Lost() <-chan Loss
}

// StartRequest says which instance to make.
type StartRequest struct {
	Function workload.Function
	Revision string
	Instance scheduler.InstanceID
	Node     string          // where it was placed; empty: anywhere
	Zone     string          // of the node; empty: not told
	Cached   bool            // the node holds the code: the start skips the download
	Cause    string          // X-Request-Id of the arrival that caused the start; empty: none
	Demand   workload.Demand // of that arrival: a simulated start-up time depends on it
	Decided  clock.Instant   // when the core decided: the start-up time counts from here
}

// Loss is an instance that ended by itself.
type Loss struct {
	Instance scheduler.InstanceID
	Err      error
}
