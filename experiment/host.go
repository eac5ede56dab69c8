package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
)

// The host check of FR-0: how many probes, and how late the 95th percentile of them may be.
const (
	hostProbes = 50
	hostSleep  = 100 * time.Millisecond
	hostLanes  = 10
	hostLimit  = 5 * time.Millisecond
	watchEvery = 20 * time.Millisecond
)

// Calibrate measures how late sleeps of 100 ms end and how long a request to a null server on loopback takes, 50 of
// each (FR-0). Sleeps run ten at a time, as the requests of a wave do. It takes about half a second.
func Calibrate(ctx context.Context, c clock.Clock) (analysis.Host, error) {
	overshoot, err := probeSleeps(ctx, c)
	if err != nil {
		return analysis.Host{}, err
	}
	loopback, err := probeLoopback(ctx, c)
	if err != nil {
		return analysis.Host{}, err
	}
	h := analysis.Host{Overshoot: analysis.Of(overshoot), Loopback: analysis.Of(loopback)}
	judgeHost(&h)
	return h, nil
}

// judgeHost sets Busy and Reason from the three samples.
func judgeHost(h *analysis.Host) {
	for _, probe := range []struct {
		name string
		s    analysis.Stats
	}{
		{"sleeps of 100 ms end late", h.Overshoot},
		{"requests on loopback take", h.Loopback},
		{"while the run was on, sleeps of 20 ms end late", h.During},
	} {
		if probe.s.P95 > hostLimit {
			h.Busy = true
			h.Reason = fmt.Sprintf("%s: p95 %.1f ms, limit %v (n=%d)", probe.name, milliseconds(probe.s.P95), hostLimit, probe.s.N)
			return
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func probeSleeps(ctx context.Context, c clock.Clock) ([]time.Duration, error) {
	late := make([]time.Duration, hostProbes)
	errs := make([]error, hostLanes)
	var lanes sync.WaitGroup
	for lane := range hostLanes {
		lanes.Go(func() {
			for i := lane; i < hostProbes && errs[lane] == nil; i += hostLanes {
				at := c.Now().Add(hostSleep)
				errs[lane] = c.WaitUntil(ctx, at)
				late[i] = c.Now().Sub(at)
			}
		})
	}
	lanes.Wait()
	return late, errors.Join(errs...)
}

func probeLoopback(ctx context.Context, c clock.Clock) ([]time.Duration, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("host check: %w", err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	transport := &http.Transport{}
	took, err := roundTrips(ctx, c, &http.Client{Transport: transport}, "http://"+listener.Addr().String()+"/")
	transport.CloseIdleConnections()
	closed := server.Close()
	<-served
	return took, errors.Join(err, closed)
}

func roundTrips(ctx context.Context, c clock.Clock, client *http.Client, url string) ([]time.Duration, error) {
	took := make([]time.Duration, hostProbes)
	for i := range took {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, err
		}
		began := c.Now()
		answer, err := client.Do(request)
		if err != nil {
			return nil, fmt.Errorf("host check: %w", err)
		}
		_, err = io.Copy(io.Discard, answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			return nil, fmt.Errorf("host check: %w", err)
		}
		took[i] = c.Now().Sub(began)
	}
	return took, nil
}

// Watch measures how late sleeps of 20 ms end until stop is called, which returns them. A host that became busy during
// a run is seen here though it was calm before.
func Watch(ctx context.Context, c clock.Clock) (stop func() []time.Duration) {
	ctx, cancel := context.WithCancel(ctx)
	var late []time.Duration
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			at := c.Now().Add(watchEvery)
			if c.WaitUntil(ctx, at) != nil {
				return
			}
			late = append(late, c.Now().Sub(at))
		}
	}()
	return func() []time.Duration {
		cancel()
		<-done
		return late
	}
}
