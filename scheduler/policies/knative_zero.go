package policies

import (
	"time"

	"coldwave/internal/clock"
)

// kpaZeroOptions are the times of the last step to zero.
type kpaZeroOptions struct {
	Disabled  bool          // one instance is kept
	Stable    time.Duration // an active revision keeps one for so long
	Grace     time.Duration // from the activator's entry into the path to the last stop; 30 s
	Retention time.Duration // from being inactive to the last stop, whatever else; 0
	Progress  time.Duration // an activation may take so long, and kpaActivation more
	GiveUp    bool          // starts that nobody waits for are stopped after the grace time
}

// kpaActivation is added to the progress deadline.
const kpaActivation = 30 * time.Second

// activity is what a revision is to its scaler.
type activity uint8

const (
	inactive   activity = iota // nothing is wanted
	activating                 // something is wanted, nothing is ready
	active                     // something is ready
)

// kpaZero is the machine that leads to zero (KN-14).
type kpaZero struct {
	o       kpaZeroOptions
	state   activity
	since   clock.Instant // when the state began
	proxied clock.Instant // since when the activator has been in the path; Never: it is not
	vain    clock.Instant // since when nothing has been wanted; Never: something is
}

// kpaEver is before every instant that a run can have.
const kpaEver = -clock.Never / 2

func newKPAZero(o kpaZeroOptions) kpaZero {
	return kpaZero{o: o, since: kpaEver, proxied: kpaEver, vain: kpaEver}
}

// route notes whether the activator is in the path.
func (z *kpaZero) route(now clock.Instant, proxy bool) {
	switch {
	case !proxy:
		z.proxied = clock.Never
	case z.proxied == clock.Never:
		z.proxied = now
	}
}

// scale takes one step: what is wanted, and how many instances are ready. It returns what is to be applied; false: the
// present number stays.
func (z *kpaZero) scale(now clock.Instant, want, ready int) (n int, apply bool) {
	switch {
	case want > 0:
		z.vain = clock.Never
	case z.vain == clock.Never:
		z.vain = now
	}
	n, apply = z.allowed(now, want)
	z.follow(now, want, n, apply, ready)
	return n, apply
}

func (z *kpaZero) allowed(now clock.Instant, want int) (n int, apply bool) {
	switch {
	case want > 0:
		return want, true
	case z.o.Disabled:
		return 1, true
	case z.state == activating:
		return 0, z.given(now)
	case z.state == active && now.Sub(z.since) < z.o.Stable:
		return 1, true
	case z.state == active:
		return 0, false // it becomes inactive first
	default:
		return 0, z.expired(now)
	}
}

// given reports that an activation is given up: after its deadline, or because nobody waits for it any more.
func (z *kpaZero) given(now clock.Instant) bool {
	if now.Sub(z.since) >= z.o.Progress+kpaActivation {
		return true
	}
	return z.o.GiveUp && now.Sub(z.vain) >= z.o.Grace
}

// expired reports that an inactive revision may lose its last instance. The retention always holds; besides, either the
// revision has been inactive or the activator in the path for the grace time.
func (z *kpaZero) expired(now clock.Instant) bool {
	idle := now.Sub(z.since)
	if z.proxied == clock.Never || idle < z.o.Retention {
		return false
	}
	return idle >= z.o.Grace || now.Sub(z.proxied) >= z.o.Grace
}

// follow moves on to the next state.
func (z *kpaZero) follow(now clock.Instant, want, n int, apply bool, ready int) {
	next := z.state
	switch {
	case want == 0 && n == 0 && (z.state == active || apply):
		next = inactive
		z.route(now, true)
	case want > 0 && ready > 0:
		next = active
	case want > 0:
		next = activating
	}
	if next != z.state {
		z.state, z.since = next, now
	}
}
