package policies

import (
	"math/bits"
	"strconv"
	"time"

	"coldwave/internal/rng"
	"coldwave/scheduler"
)

// OWSteps returns the pairwise coprime numbers up to n that are coprime to n, in order: the steps by which the balancer
// may walk over n invokers (OW-1). Each of them visits all.
func OWSteps(n int) []int {
	var steps []int
	for k := 1; k <= n; k++ {
		coprime := gcd(k, n) == 1
		for _, s := range steps {
			coprime = coprime && gcd(k, s) == 1
		}
		if coprime {
			steps = append(steps, k)
		}
	}
	return steps
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// OWWalk returns the first invoker of n ≥ 1 for an action with that hash, and the step to the next ones (OW-1).
func OWWalk(hash uint32, n int, steps []int) (home, step int) {
	return int(hash) % n, steps[int(hash)%len(steps)]
}

// OWHash is the hash of an action in a namespace (OW-1): the absolute value of the two strings' hashes, one xor the other.
func OWHash(namespace, action string) uint32 {
	h := int64(javaHash(namespace) ^ javaHash(action))
	return uint32(max(h, -h)) & (1<<31 - 1)
}

// javaHash is hashCode of a string of ASCII characters.
func javaHash(s string) int32 {
	h := int32(0)
	for k := range len(s) {
		h = 31*h + int32(s[k])
	}
	return h
}

// OWShares returns which of n invokers are for managed actions and which for blackbox ones, as the first one and the one
// behind the last. Managed is a share in thousandths (OW-3).
func OWShares(n, managed int) (managedFrom, managedTo, blackboxFrom, blackboxTo int) {
	m := max(1, (n*managed+999)/1000)
	b := max(1, n*(1000-managed)/1000)
	return 0, m, n - b, n
}

// OWPermits returns how many containers one of the controllers may use on an invoker with room for so many (OW-2).
func OWPermits(slots, controllers int) int { return max(1, slots/controllers) }

// owBalancer is what the walk of a request needs.
type owBalancer struct {
	o        OWOptions
	from, to int // the invokers for the actions
	steps    []int
	hashes   []uint32 // by action
	limit    int32    // concurrency of an action
	draws    int64
	probing  bool
}

func newOWBalancer(o OWOptions) owBalancer {
	b := owBalancer{o: o}
	for k := range o.Actions {
		b.hashes = append(b.hashes, OWHash("guest", "guest/action"+strconv.Itoa(k)))
	}
	return b
}

// spread divides n invokers.
func (b *owBalancer) spread(n int) {
	from, to, blackFrom, blackTo := OWShares(n, b.o.Managed)
	if b.from, b.to = from, to; b.o.Blackbox {
		b.from, b.to = blackFrom, blackTo
	}
	b.steps = OWSteps(b.to - b.from)
}

// permits returns what an invoker grants at first. Without nodes nothing but the quota limits it.
func (b *owBalancer) permits(c *scheduler.Control) int32 {
	if !c.Nodes().On() {
		return scheduler.Unlimited
	}
	return int32(OWPermits(c.Nodes().Slots, b.o.Controllers))
}

const owOverload = rng.Key(0x6f7665726c6f6164)

// balance chooses the invoker of a request and takes a permit there: the first on its walk that has one, after all and
// one more a random one (OW-1). It returns −1 if none is healthy. The time is linear in the invokers when all are full.
func (p *OpenWhisk) balance(c *scheduler.Control, action int) int {
	b := &p.balancer
	if c.Alive() == 0 && c.Waiting() == 0 {
		b.draws = 0 // nothing is remembered of what has gone
	}
	n := b.to - b.from
	k, step := OWWalk(b.hashes[action], n, b.steps)
	healthy := 0
	for range n + 2 {
		if in := &p.invokers[b.from+k]; !in.health.bad(p.o.SystemErrors) && p.acquire(in, action) {
			return b.from + k
		}
		k = (k + step) % n
	}
	for k := b.from; k < b.to; k++ {
		if !p.invokers[k].health.bad(p.o.SystemErrors) {
			healthy++
		}
	}
	if healthy == 0 {
		return -1
	}
	return p.overload(action, healthy)
}

// overload forces a permit on a random one of the healthy invokers.
func (p *OpenWhisk) overload(action, healthy int) int {
	b := &p.balancer
	b.draws++
	draw := owOverload.Draw(b.draws)
	left := draw.Int64N(int64(healthy))
	for k := b.from; ; k++ {
		in := &p.invokers[k]
		if in.health.bad(p.o.SystemErrors) {
			continue
		}
		if left == 0 {
			p.grant(in, action)
			return k
		}
		left--
	}
}

// acquire takes a permit for a request: one that the containers of its action have already, or that of a new one (OW-2).
func (p *OpenWhisk) acquire(in *owInvoker, action int) bool {
	if in.shared[action] == 0 && in.permits <= 0 {
		return false
	}
	p.grant(in, action)
	return true
}

func (p *OpenWhisk) grant(in *owInvoker, action int) {
	if in.shared[action] > 0 {
		in.shared[action]--
		return
	}
	in.permits--
	in.shared[action] = p.balancer.limit - 1
}

// release returns a permit. When a whole container's are back, it is a container's permit again.
func (p *OpenWhisk) release(k, action int) {
	in := &p.invokers[k]
	if in.shared[action]++; in.shared[action] >= p.balancer.limit {
		in.shared[action] -= p.balancer.limit
		in.permits++
	}
}

// owResults is how many results of an invoker count for its health (OW-4).
const owResults = 10

// owHealth are the last results of an invoker, one bit each: set for a system error.
type owHealth uint16

func (h *owHealth) note(systemError bool) {
	*h = *h << 1 & (1<<owResults - 1)
	if systemError {
		*h |= 1
	}
}

// bad reports whether there were more errors than tolerated.
func (h owHealth) bad(tolerated int) bool { return bits.OnesCount16(uint16(h)) > tolerated }

// OWOffline reports whether an invoker whose last ping came so long ago is offline (OW-4). A node here never is: it has no
// pings to miss.
func OWOffline(since time.Duration) bool { return since > 10*time.Second }

// owProbe is the time between two test actions on an invoker that is not healthy (OW-4, OW-14).
const owProbe = time.Minute

// unhealthy notes a system error. An invoker with too many is tried with test actions, until they have moved the errors
// out of what counts.
func (p *OpenWhisk) unhealthy(c *scheduler.Control, k int) {
	h := &p.invokers[k].health
	h.note(true)
	if h.bad(p.o.SystemErrors) && !p.balancer.probing {
		p.balancer.probing = true
		c.Alarm(tickProbe, c.Now().Add(owProbe))
	}
}

func (p *OpenWhisk) probe(c *scheduler.Control) {
	p.balancer.probing = false
	for k := range p.invokers {
		h := &p.invokers[k].health
		if h.bad(p.o.SystemErrors) {
			h.note(false)
		}
		p.balancer.probing = p.balancer.probing || h.bad(p.o.SystemErrors)
	}
	if p.balancer.probing {
		c.Alarm(tickProbe, c.Now().Add(owProbe))
	}
}
