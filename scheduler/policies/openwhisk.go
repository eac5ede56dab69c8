package policies

import (
	"time"

	"coldwave/scheduler"
)

var openWhisk = Entry{
	Name: "openwhisk",
	Summary: "invokers in the order of a hash, a pool of containers on each, a buffer whose head blocks the rest, and throttles; " +
		"or the newer scheduler",
	Source: "Apache OpenWhisk: OW-1 … OW-10",
	Bound:  true, // to its invoker, and there behind the head of the buffer (OW-6)
	Learns: true, // the health of an invoker (OW-4)
	Wait:   180 * time.Second,
	Nodes:  scheduler.Nodes{Count: 10, Slots: 4, Keep: time.Minute},
	Params: []Param{
		{Name: "fpc", Type: Bool, Default: "false", Max: 1, Doc: "the newer scheduler: containers pull from one queue of their action, and starts follow the backlog (OW-10)"},
		{Name: "concurrent", Type: Int, Default: "30", Max: 1 << 20, Doc: "requests in flight that are allowed, beyond them 429 (OW-9); fpc: containers that are allowed; 0: no limit"},
		{Name: "per_minute", Type: Int, Default: "60", Max: 1 << 20, Doc: "requests in one minute of the clock that are allowed, beyond them 429 (OW-9); 0: no limit"},
		{Name: "actions", Type: Int, Default: "1", Min: 1, Max: 1000, Doc: "requests belong to so many actions in turn, each with a home and containers of its own (OW-12)"},
		{Name: "blackbox", Type: Bool, Default: "false", Max: 1, Doc: "the actions are blackbox ones (OW-3)"},
		{Name: "managed", Type: Ratio, Default: "0.9", Max: 1000, Doc: "share of the invokers for managed actions, at least one; the rest, at least one too, is for blackbox ones (OW-3)"},
		{Name: "controllers", Type: Int, Default: "1", Min: 1, Max: 1000, Doc: "controllers among which the room of an invoker is split; this core is one of them (OW-2)"},
		{Name: "system_errors", Type: Int, Default: "3", Max: owResults, Doc: "lost containers among the last 10 results of an invoker that it may have and be healthy (OW-4)"},
		{Name: "action_timeout", Type: Duration, Default: "60s", Min: 1, Max: int64(time.Hour), Doc: "limit of an action's run; a request waits at most twice that, or twice a minute, and a minute more, then 503 (OW-2)"},
		{Name: "failed_run", Type: Bool, Default: "true", Max: 1, Doc: "a run that ends with an error ends its container (OW-7)"},
		{Name: "pause_grace", Type: Duration, Default: "10s", Max: int64(month), Doc: "an idle container is paused after this time (OW-7)"},
		{Name: "idle_timeout", Type: Duration, Default: "600s", Max: int64(month), Doc: "a paused container is stopped after this time (OW-7); 0: never"},
		{Name: "prewarm", Type: Int, Default: "0", Max: 1 << 10, Doc: "prewarmed containers on each invoker, at first and, unless reactive, always (OW-8)"},
		{Name: "reactive", Type: Bool, Default: "false", Max: 1, Doc: "every ten minutes the number of prewarmed containers follows the cold starts since (OW-8)"},
		{Name: "prewarm_min", Type: Int, Default: "1", Max: 1 << 10, Doc: "reactive: least number on an invoker"},
		{Name: "prewarm_max", Type: Int, Default: "4", Max: 1 << 10, Doc: "reactive: largest number on an invoker"},
		{Name: "prewarm_threshold", Type: Int, Default: "1", Min: 1, Max: 1 << 20, Doc: "reactive: cold starts that count once"},
		{Name: "prewarm_increment", Type: Int, Default: "1", Max: 1 << 10, Doc: "reactive: containers for each such count"},
		{Name: "prewarm_ttl", Type: Duration, Default: "2m", Max: int64(month), Doc: "reactive: one that was not used for so long is stopped at the next check"},
	},
	make: func(v values) scheduler.Policy {
		if v.is("fpc") {
			return NewOWScheduler(owOptions(v))
		}
		return NewOpenWhisk(owOptions(v))
	},
}

// OWOptions are the constants of the OpenWhisk policies. The invokers are the nodes of the core; without nodes there is
// one, whose room is the Max of the core's Config. The concurrency of an action is its Limit.
type OWOptions struct {
	Concurrent, PerMinute int           // OW-9; 0: no limit
	Actions               int           // OW-12
	Blackbox              bool          // OW-3
	Managed               int           // in thousandths
	Controllers           int           // OW-2
	SystemErrors          int           // OW-4
	ActionTimeout         time.Duration // OW-2
	FailedRun             bool          // OW-7
	PauseGrace            time.Duration
	IdleTimeout           time.Duration // 0: never
	Prewarm               OWPrewarm     // OW-8
}

func owOptions(v values) OWOptions {
	return OWOptions{
		Concurrent: int(v["concurrent"]), PerMinute: int(v["per_minute"]), Actions: int(v["actions"]),
		Blackbox: v.is("blackbox"), Managed: int(v["managed"]), Controllers: int(v["controllers"]),
		SystemErrors: int(v["system_errors"]), ActionTimeout: v.duration("action_timeout"), FailedRun: v.is("failed_run"),
		PauseGrace: v.duration("pause_grace"), IdleTimeout: v.duration("idle_timeout"),
		Prewarm: OWPrewarm{
			Initial: int(v["prewarm"]), Reactive: v.is("reactive"), Min: int(v["prewarm_min"]), Max: int(v["prewarm_max"]),
			Threshold: int(v["prewarm_threshold"]), Increment: int(v["prewarm_increment"]), TTL: v.duration("prewarm_ttl"),
		},
	}
}

// OWCompletionTimeout is how long a controller waits for the end of an action with that limit of its run (OW-2).
func OWCompletionTimeout(limit time.Duration) time.Duration {
	const standard = time.Minute
	return max(limit, standard)*2 + time.Minute
}

// whiskError is the status of a request whose container did not start (OW-7).
const whiskError = 500

// OpenWhisk is the sharding load balancer with a pool of containers on each invoker. A request goes to an invoker at its
// arrival and stays there (OW-1). There it gets a container at once, or waits in a buffer of which only the head is
// tried (OW-6). One that got a container which starts is bound to it.
type OpenWhisk struct {
	owContainers
	invokers []owInvoker
	calls    owCalls
	balancer owBalancer
	minute   owMinute
	short    bool // the quota, and no invoker, held a request back
}

// owInvoker is one invoker: what the balancer and what its own pool know of it.
type owInvoker struct {
	permits   int32   // containers that the balancer may still send requests for; below 0: it was overloaded (OW-2)
	shared    []int32 // by action: requests that the containers it sends to may take besides, with a concurrency above 1
	health    owHealth
	buffer    owRow  // requests that wait for a container (OW-6)
	free      owList // containers with room for one more request, in order of last use
	prewarmed owList // containers that are ready and of no action, oldest first (OW-8)
	warming   int    // prewarmed ones that are starting
	cold      int    // cold starts since the last check (OW-8)
	want      int    // prewarmed ones
}

// owCall is a request that waits or runs.
type owCall struct {
	prev, next scheduler.RequestID // in the buffer of its invoker, or among those of its container
	inst       scheduler.InstanceID
	invoker    int16
	action     int16
	stale      bool // OW-10
}

// NewOpenWhisk returns the policy of one core.
func NewOpenWhisk(o OWOptions) *OpenWhisk {
	return &OpenWhisk{owContainers: newOWContainers(o), balancer: newOWBalancer(o)}
}

// Handle decides on one event.
func (p *OpenWhisk) Handle(c *scheduler.Control, ev scheduler.Event) {
	if p.invokers == nil {
		p.begin(c)
	}
	switch ev.Kind {
	case scheduler.Configure:
		p.configure(c)
	case scheduler.Arrival:
		p.arrival(c, ev.Req)
	case scheduler.Ready:
		p.ready(c, ev.Inst)
	case scheduler.Done:
		p.done(c, ev)
	case scheduler.Timer:
		c.Reject(ev.Req, unavailable)
		p.withdraw(c, ev.Req)
	case scheduler.Cancel:
		p.withdraw(c, ev.Req)
	case scheduler.Failed:
		p.failed(c, ev.Inst)
	case scheduler.Stopped:
		p.gone(c, ev.Inst)
	case scheduler.Tick:
		p.tick(c, ev.Code)
	case scheduler.Sample:
	}
	p.arm(c)
}

// arrival applies the throttles (OW-9), chooses an invoker (OW-1) and gives it the request.
func (p *OpenWhisk) arrival(c *scheduler.Control, r scheduler.RequestID) {
	action := p.actionOf(r)
	_, call := p.calls.New()
	*call = owCall{action: action}
	status := int16(0)
	switch k := -1; {
	case p.minute.over(c.Now(), p.o.PerMinute) || p.o.Concurrent > 0 && c.Running()+c.Waiting() >= p.o.Concurrent:
		status = throttled
	case c.Config().Max == 0 && c.Alive() == 0:
		status = unavailable
	default:
		if k = p.balance(c, int(action)); k < 0 {
			status = unavailable // no invoker is healthy
			break
		}
		call.invoker = int16(k)
		if in := &p.invokers[k]; in.buffer.first == 0 && p.place(c, k, r, call) {
			p.give(c, r, call)
		} else {
			p.wait(c, r)
			p.calls.push(&in.buffer, r)
		}
	}
	if status != 0 {
		c.Reject(r, status)
		p.calls.Drop(int64(r))
	}
}

// wait queues a request that has just arrived, until its completion would be given up (OW-2).
func (p *OpenWhisk) wait(c *scheduler.Control, r scheduler.RequestID) {
	if !c.IsWaiting(r) {
		c.Queue(r, c.Now().Add(OWCompletionTimeout(p.o.ActionTimeout)))
	}
}

// ready gives a container that has started to those that are bound to it, or to the prewarmed ones.
func (p *OpenWhisk) ready(c *scheduler.Control, i scheduler.InstanceID) {
	in := p.get(i)
	k := int(in.invoker)
	in.ready = true
	if in.action < 0 {
		p.invokers[k].warming--
		in.since = c.Now()
		p.add(&p.invokers[k].prewarmed, inPool, i)
	} else {
		for r := in.on.first; r != 0; r = p.calls.Get(int64(r)).next {
			c.Assign(r, i)
		}
		p.settle(c, i, in)
	}
	p.serve(c, k)
}

// done returns the slot of a request. A run that has failed ends its container (OW-7).
func (p *OpenWhisk) done(c *scheduler.Control, ev scheduler.Event) {
	call := p.calls.Get(int64(ev.Req))
	if call == nil {
		return // its container was let go
	}
	in, k := p.get(ev.Inst), int(call.invoker)
	p.leave(ev.Req, call, in)
	p.invokers[k].health.note(false)
	switch {
	case in.leaving:
	case p.o.FailedRun && failedRun(ev.Code):
		p.stop(c, ev.Inst, in)
	default:
		p.settle(c, ev.Inst, in)
	}
	p.serve(c, k)
}

// leave takes a request off its container, and returns what the balancer granted it.
func (p *OpenWhisk) leave(r scheduler.RequestID, call *owCall, in *owContainer) {
	p.calls.pull(&in.on, call)
	in.active--
	p.release(int(call.invoker), int(call.action))
	p.calls.Drop(int64(r))
}

// withdraw forgets a request that has waited in vain, or whose client has gone. The start that it caused goes on.
func (p *OpenWhisk) withdraw(c *scheduler.Control, r scheduler.RequestID) {
	call := p.calls.Get(int64(r))
	k := int(call.invoker)
	if call.inst != 0 {
		in := p.get(call.inst)
		i := call.inst
		p.leave(r, call, in)
		p.settle(c, i, in)
	} else {
		p.calls.pull(&p.invokers[k].buffer, call)
		p.release(k, int(call.action))
		p.calls.Drop(int64(r))
	}
	p.serve(c, k)
}

// failed lets a lost container go: whoever is bound to it is turned away (OW-7), and the head of the buffer is tried.
func (p *OpenWhisk) failed(c *scheduler.Control, i scheduler.InstanceID) {
	in := p.get(i)
	k := int(in.invoker)
	p.unhealthy(c, k)
	p.refuse(c, in, whiskError)
	p.forget(i, in)
	p.restore(c)
	p.serve(c, k)
}

// refuse turns away who waits for the start of a container.
func (p *OpenWhisk) refuse(c *scheduler.Control, in *owContainer, status int16) {
	for r := in.on.first; r != 0; {
		call := p.calls.Get(int64(r))
		next := call.next
		if c.IsWaiting(r) {
			c.Reject(r, status)
			p.leave(r, call, in)
		}
		r = next
	}
}

// forget takes a container that has gone out of all books, with what was on it.
func (p *OpenWhisk) forget(i scheduler.InstanceID, in *owContainer) {
	for r := in.on.first; r != 0; r = in.on.first {
		p.leave(r, p.calls.Get(int64(r)), in)
	}
	p.retire(i, in)
	p.containers.Drop(int64(i))
}

// retire takes a container out of what may serve.
func (p *OpenWhisk) retire(i scheduler.InstanceID, in *owContainer) {
	if in.action < 0 && !in.ready && !in.leaving {
		p.invokers[in.invoker].warming--
	}
	p.remove(p.pool(in), inPool, i)
	p.wake(i, in)
}

// letGo lets a container go that the core has stopped, or is about to. On a node it holds its permits, as it holds its
// room, until it is gone; elsewhere nobody tells when that is.
func (p *OpenWhisk) letGo(c *scheduler.Control, i scheduler.InstanceID, in *owContainer) {
	p.refuse(c, in, unavailable)
	if in.active == 0 || !c.Nodes().On() {
		p.forget(i, in)
		return
	}
	p.retire(i, in)
	in.leaving = true
}

// stop ends a container. Those that run on it finish first.
func (p *OpenWhisk) stop(c *scheduler.Control, i scheduler.InstanceID, in *owContainer) {
	p.letGo(c, i, in)
	c.Stop(i)
}

// gone follows the end of a container that was let go: there is room on its invoker.
func (p *OpenWhisk) gone(c *scheduler.Control, i scheduler.InstanceID) {
	if in := p.get(i); in != nil {
		p.forget(i, in)
	}
	p.serve(c, p.invokerOf(c, i))
}

// configure takes the limits in force, and is called again when full nodes have room.
func (p *OpenWhisk) configure(c *scheduler.Control) {
	c.Shrink()
	for c.Alive() > c.Config().Max {
		i := c.LastAlive()
		p.stop(c, i, p.get(i))
	}
	for id, in := range p.containers.All() {
		if i := scheduler.InstanceID(id); !in.leaving && !c.Up(i) && c.State(i) != scheduler.Starting {
			p.letGo(c, i, in)
		}
	}
	if c.Config().Max == 0 && c.Alive() == 0 {
		for r := c.Front(); r != 0; r = c.Front() {
			c.Reject(r, unavailable)
			p.withdraw(c, r)
		}
	}
	for c.Alive() < c.Config().Min && p.spare(c) {
	}
	for k := range p.invokers {
		p.prewarm(c, k, false)
		p.serve(c, k)
	}
}

// begin makes the invokers.
func (p *OpenWhisk) begin(c *scheduler.Control) {
	p.invokers = make([]owInvoker, max(1, c.Nodes().Count))
	p.balancer.spread(len(p.invokers))
	for k := range p.invokers {
		in := &p.invokers[k]
		in.permits = p.balancer.permits(c)
		in.shared = make([]int32, p.o.Actions)
		in.want = p.o.Prewarm.Initial
	}
	if p.o.Prewarm.Reactive {
		c.Every(tickPrewarm, owPrewarmCheck)
	}
	p.balancer.limit = c.Config().Limit
}

func (p *OpenWhisk) tick(c *scheduler.Control, name uint8) {
	switch name {
	case tickPause:
		p.pause(c)
	case tickReap:
		for i := p.expired(c); i != 0; i = p.expired(c) {
			p.stop(c, i, p.get(i))
		}
		p.serveAll(c)
	case tickProbe:
		p.probe(c)
	case tickPrewarm:
		p.adjust(c)
	case tickAgain:
		p.restore(c)
		p.serveAll(c)
	}
}
