package policies

import (
	"math/bits"

	"coldwave/scheduler"
)

// pods is the set of ready instances of one core and which of them have a free slot, for policies that put more than one
// request on an instance. An instance has a place from its Ready to its Stop; the place of one that has gone is taken by
// the next, so the search is over as many places as were ever ready at once, 64 in a step.
type pods struct {
	at     []scheduler.InstanceID // by place; 0: vacant
	free   []uint64               // bit of a place: ready, with a free slot
	vacant []int32                // places to take again, the last one first
	place  scheduler.Table[int32] // of each instance that was started; -1: it has none
	ready  int
	turn   int // the place after the one that was taken last
}

// started notes a new instance, which is not ready.
func (p *pods) started() { p.place.Add(-1) }

// add gives a place to an instance that has become ready.
func (p *pods) add(c *scheduler.Control, i scheduler.InstanceID) {
	k := len(p.at)
	if n := len(p.vacant); n > 0 {
		k = int(p.vacant[n-1])
		p.vacant = p.vacant[:n-1]
	} else {
		p.at = append(p.at, 0)
		if k/64 == len(p.free) {
			p.free = append(p.free, 0)
		}
	}
	p.at[k] = i
	*p.place.Get(int64(i)) = int32(k)
	p.ready++
	p.note(c, i)
}

// drop forgets an instance that is stopped or has failed. Dropping one twice does nothing.
func (p *pods) drop(i scheduler.InstanceID) {
	place := p.place.Get(int64(i))
	if place == nil {
		return
	}
	k := *place
	p.place.Drop(int64(i))
	if k < 0 {
		return
	}
	p.at[k] = 0
	p.free[k/64] &^= 1 << (k % 64)
	p.vacant = append(p.vacant, k)
	if p.ready--; p.ready == 0 {
		p.at, p.vacant, p.turn = p.at[:0], p.vacant[:0], 0
	}
}

// placeOf returns the place of a ready instance, -1 if it has none.
func (p *pods) placeOf(i scheduler.InstanceID) int {
	if place := p.place.Get(int64(i)); place != nil {
		return int(*place)
	}
	return -1
}

// sweep drops every instance that the core has let go.
func (p *pods) sweep(c *scheduler.Control) {
	for _, i := range p.at {
		if i != 0 && !c.Up(i) {
			p.drop(i)
		}
	}
}

// note looks again whether the ready instance i has a free slot.
func (p *pods) note(c *scheduler.Control, i scheduler.InstanceID) {
	k := p.placeOf(i)
	if k < 0 {
		return
	}
	if c.InFlight(i) < int(c.Limit(i)) {
		p.free[k/64] |= 1 << (k % 64)
	} else {
		p.free[k/64] &^= 1 << (k % 64)
	}
}

// from returns the first place at or after k that has a free slot, going round once; -1: none has.
func (p *pods) from(k int) int {
	if len(p.at) == 0 {
		return -1
	}
	words := (len(p.at) + 63) / 64
	k %= len(p.at)
	mask := ^uint64(0) << (k % 64)
	for n := range words + 1 {
		w := (k/64 + n) % words
		if set := p.free[w] & mask; set != 0 {
			return w*64 + bits.TrailingZeros64(set)
		}
		mask = ^uint64(0)
	}
	return -1
}

// first returns the instance with a free slot in the lowest place, or 0.
func (p *pods) first() scheduler.InstanceID { return p.in(p.from(0)) }

// next returns the instance with a free slot whose turn it is, or 0.
func (p *pods) next() scheduler.InstanceID {
	k := p.from(p.turn)
	if k >= 0 {
		p.turn = k + 1
	}
	return p.in(k)
}

// lesser returns the one with fewer requests of those with a free slot that come at or after two places, or 0.
func (p *pods) lesser(c *scheduler.Control, one, two int) scheduler.InstanceID {
	a := p.from(one)
	if a < 0 {
		return 0
	}
	b := p.from(two)
	if a == b {
		b = p.from(a + 1)
	}
	if c.InFlight(p.at[b]) < c.InFlight(p.at[a]) {
		return p.at[b]
	}
	return p.at[a]
}

func (p *pods) in(place int) scheduler.InstanceID {
	if place < 0 {
		return 0
	}
	return p.at[place]
}
