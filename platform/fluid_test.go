package platform

import (
	"math/big"
	"testing"
	"time"
)

// TestAgainstFluid compares with a fluid of exact fractions that knows no heap and no rounding. A fluid with other CPUs or
// threads is told from it.
func TestAgainstFluid(t *testing.T) {
	noticed := 0
	for seed := range uint64(40) {
		r, visits := swarm(seed)
		for k := range visits {
			visits[k].leaves = 0
		}
		got, load := ends(t, r, visits, never)
		if k, late := apart(r, r, visits, got); k >= 0 {
			t.Fatalf("seed %d: body %d ends at %v, %s ns after that of the fluid", seed, k, got[k], late.FloatString(3))
		}
		wrong := r
		wrong.MilliCPUs, wrong.Threads = r.MilliCPUs*11/10, 2
		if k, _ := apart(wrong, r, visits, got); k >= 0 {
			noticed++
		}
		// Work is conserved: what was used is what the bodies cost, beside the background.
		bodies := time.Duration(0)
		for _, v := range visits {
			bodies += v.demand.CPU
		}
		in := r.Instance(0)
		in.Advance(load.At)
		if background := in.Load().CPU; load.CPU != bodies+background {
			t.Fatalf("seed %d: used %v, want %v for the bodies and %v in the background", seed, load.CPU, bodies, background)
		}
	}
	if noticed < 25 {
		t.Errorf("other CPUs were noticed in %d of 40 runs", noticed)
	}
}

// apart returns the first body that ends elsewhere than in the fluid, and how much later; -1: none does. What does not
// divide is at most a thousandth of a nanosecond of work for each body, and an end is rounded up.
func apart(as, r Resources, visits []visit, got []time.Duration) (int, *big.Rat) {
	bound := int64(4)
	if r.MilliCPUs > 0 {
		bound += int64(len(visits)) / r.MilliCPUs
	}
	want := fluid(as, visits)
	for k := range got {
		late := new(big.Rat).Sub(big.NewRat(int64(got[k]), 1), want[k])
		if new(big.Rat).Abs(late).Cmp(big.NewRat(bound, 1)) > 0 {
			return k, late
		}
	}
	return -1, nil
}

// fluid is processor sharing as in the books: between two events each of n bodies works at min(rate, capacity/n).
func fluid(r Resources, visits []visit) []*big.Rat {
	type body struct {
		wakes int64
		left  *big.Rat // thousandths
	}
	ends := make([]*big.Rat, len(visits))
	bodies := map[int]*body{}
	now := new(big.Rat)
	for next := 0; next < len(visits) || len(bodies) > 0; {
		soon := new(big.Rat)
		found := false
		sooner := func(at *big.Rat) {
			if at.Cmp(now) >= 0 && (!found || at.Cmp(soon) < 0) {
				soon.Set(at)
				found = true
			}
		}
		if next < len(visits) {
			sooner(big.NewRat(int64(visits[next].at), 1))
		}
		n := int64(0)
		for _, b := range bodies {
			if at := big.NewRat(b.wakes, 1); at.Cmp(now) > 0 {
				sooner(at)
			} else {
				n++
			}
		}
		floor := new(big.Int).Quo(now.Num(), now.Denom()).Int64()
		peak, until := r.Background.peak(time.Duration(floor))
		if r.Background.For > 0 {
			sooner(big.NewRat(int64(until), 1))
		}
		rate := big.NewRat(r.rate(), 1)
		if n > 0 {
			if share := big.NewRat(r.capacity(peak), n); share.Cmp(rate) < 0 {
				rate = share
			}
		}
		for _, b := range bodies {
			if big.NewRat(b.wakes, 1).Cmp(now) <= 0 {
				sooner(new(big.Rat).Add(now, new(big.Rat).Quo(b.left, rate)))
			}
		}
		d := new(big.Rat).Sub(soon, now)
		for k, b := range bodies {
			if big.NewRat(b.wakes, 1).Cmp(now) <= 0 {
				if b.left.Sub(b.left, new(big.Rat).Mul(d, rate)); b.left.Sign() == 0 {
					ends[k] = new(big.Rat).Set(soon)
					delete(bodies, k)
				}
			}
		}
		now.Set(soon)
		for ; next < len(visits) && big.NewRat(int64(visits[next].at), 1).Cmp(now) == 0; next++ {
			v := visits[next]
			bodies[next] = &body{int64(v.at + max(0, v.demand.Exec-r.alone(v.demand.CPU))), big.NewRat(1000*int64(v.demand.CPU), 1)}
		}
		for k, b := range bodies { // bodies that do not compute
			if b.left.Sign() == 0 && big.NewRat(b.wakes, 1).Cmp(now) <= 0 {
				ends[k] = new(big.Rat).Set(now)
				delete(bodies, k)
			}
		}
	}
	return ends
}
