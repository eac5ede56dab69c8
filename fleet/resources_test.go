package fleet_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/fleet"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
)

// An instance that runs out of memory is a loss that says so; its requests are cut.
func TestOutOfMemoryIsALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, startUp, func(c *fleet.Config) {
			c.Worker.Resources.Memory = platform.Memory{Limit: 100, Base: 50, Request: 30}
		})
		r := req(1)
		r.Function.Concurrency = 2
		if _, err := b.Start(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		failed := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := b.get(0, "/")
				failed <- err
			}()
		}
		loss := <-b.Lost()
		if loss.Instance != 1 || !errors.Is(loss.Err, platform.ErrMemory) {
			t.Errorf("loss %+v, want instance 1 for its memory", loss)
		}
		if first, second := <-failed, <-failed; first == nil && second == nil {
			t.Error("both requests were answered, want one at least cut")
		}
	})
}

// The CPUs of an instance are those of its worker: its life begins when it is ready.
func TestInstanceWithCPUs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, startUp, func(c *fleet.Config) {
			c.Worker.Resources = platform.Resources{MilliCPUs: 500, Background: platform.Background{Milli: 100}}
			c.Worker.CPU = platform.Cost{Share: 1000}
		})
		if _, err := b.Start(t.Context(), req(1)); err != nil {
			t.Fatal(err)
		}
		began := b.clock.Now()
		if _, err := b.get(0, "/"); err != nil {
			t.Fatal(err)
		}
		if got := b.clock.Now().Sub(began); got != 250*time.Millisecond {
			t.Errorf("100 ms of CPU on what the background leaves of a half took %v, want 250ms", got)
		}
	})
}

// Instances share the connections of the service behind them; one that ends gives its own back.
func TestFleetSharesBacking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, startUp, func(c *fleet.Config) { c.Backing = platform.Backing{Connections: 1} })
		for id := range scheduler.InstanceID(2) {
			if _, err := b.Start(t.Context(), req(id+1)); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []int{http.StatusOK, http.StatusInternalServerError} {
			resp, err := b.get(i, "/")
			if err != nil || resp.StatusCode != want {
				t.Fatalf("instance %d: %v, %v, want %d", i+1, resp, err, want)
			}
			if got := resp.Header.Get(record.ReasonHeader); want != http.StatusOK && got != "backing_connections" {
				t.Errorf("reason %q, want backing_connections", got)
			}
		}
		if err := b.Stop(t.Context(), 1, time.Second); err != nil {
			t.Fatal(err)
		}
		if resp, err := b.get(1, "/"); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("when the other has ended: %v, %v, want 200", resp, err)
		}
	})
}
