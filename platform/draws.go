package platform

import (
	"math/bits"
	"time"

	"coldwave/internal/rng"
	"coldwave/workload"
)

// Draws answers every random question about a platform. Each answer depends on the seed, its own stream and the id
// only, so goroutines and the simulator may ask in any order, any number of times. It is safe for concurrent use. Get one
// from Profile.Draws.
type Draws struct{ *bound } // one word: a simulator asks twice for each request, and copies nothing

// bound is a profile under a root seed.
type bound struct {
	profile Profile
	// One stream per question: a new draw in one shifts no other.
	startUp, body, overhead, failure, fault, cpu rng.Key
}

// Draws binds the profile to a root seed.
func (p Profile) Draws(seed uint64) Draws {
	return Draws{&bound{
		profile: p,
		startUp: rng.NewKey(seed, "start-up"), body: rng.NewKey(seed, "demand"), overhead: rng.NewKey(seed, "overhead"),
		failure: rng.NewKey(seed, "failure"), fault: rng.NewKey(seed, "fault"), cpu: rng.NewKey(seed, "cpu"),
	}}
}

// Profile is what is drawn from.
func (d Draws) Profile() Profile { return d.profile }

// Demand is what arrival seq asks for: the body's execution time, and the overhead h split in two so that pre + post = h
// to the nanosecond. CPU time that does not fit in the execution time makes it longer.
func (d Draws) Demand(seq int64) workload.Demand {
	h := drawn(d.profile.Overhead, d.overhead, seq)
	demand := workload.Demand{Exec: drawn(d.profile.Body, d.body, seq), Pre: h / 2, Post: h - h/2}
	if !d.profile.CPU.none() {
		demand.CPU, demand.Exec = d.Computes(seq, demand.Exec)
	}
	return demand
}

// Computes returns the CPU time of the body of arrival seq, and its execution time if exec was asked for.
func (d Draws) Computes(seq int64, exec time.Duration) (cpu, longer time.Duration) {
	if d.profile.CPU.none() {
		return 0, exec
	}
	cpu = d.profile.CPU.of(exec, d.cpu, seq)
	return cpu, max(exec, d.profile.Resources.alone(cpu))
}

// RequestFails says whether the body of arrival seq ends with an error instead of an answer.
func (d Draws) RequestFails(seq int64) bool {
	if d.profile.ErrorRatio == 0 {
		return false
	}
	r := d.fault.Draw(seq)
	return r.Float64() < d.profile.ErrorRatio
}

// Cold is C of an instance: how long the request that caused it takes end to end, if it is served by it.
func (d Draws) Cold(instance int64) time.Duration {
	return drawn(d.profile.Cold, d.startUp, instance)
}

// Stage is a part of a start-up, in the order in which they come (FC-2, FC-3).
type Stage uint8

// The stages of a start-up.
const (
	StageNode      Stage = iota // an engine is chosen
	StageDownload               // the code is fetched
	StageContainer              // the container is started
	StageLoad                   // runtime and function are loaded
	Stages                      // number of stages
)

// String is the stage's name in logs and reports.
func (s Stage) String() string {
	switch s {
	case StageNode:
		return "node"
	case StageDownload:
		return "download"
	case StageContainer:
		return "container"
	case StageLoad:
		return "load"
	case Stages:
	}
	return "unknown"
}

// StartUp is how one instance starts.
type StartUp struct {
	Total  time.Duration         // S: from the decision until it can serve, ≥ 1 ns
	Stages [Stages]time.Duration // parts of Total; they sum to it exactly
	Fails  bool                  // the start ends in a failure, after Total
}

// Without returns the start-up that skips a stage, at least 1 ns. One that is not split into stages skips nothing.
func (s StartUp) Without(stage Stage) StartUp {
	s.Total -= s.Stages[stage]
	s.Stages[stage] = 0
	if s.Total < 1 { // no delay is zero
		s.Total, s.Stages[StageLoad] = 1, 1
	}
	return s
}

// StartUp draws the start of an instance that the arrival with that demand caused. S = C − exec − h of that arrival, at
// least 1 ns, so a request that is served by its own start takes exactly C (FA-4). An instance that no arrival
// caused has the zero demand and takes all of C. Under a law of S of its own it takes what that says, at least 1 ns.
func (d Draws) StartUp(instance int64, cause workload.Demand) StartUp {
	failure := d.failure.Draw(instance)
	total := max(1, d.Cold(instance)-cause.Exec-cause.Overhead())
	if l := d.profile.Start; l != nil {
		total = max(1, drawn(l, d.startUp, instance))
	}
	return StartUp{Total: total, Stages: d.profile.split(total), Fails: failure.Float64() < d.profile.FailRatio}
}

// Shares of what a start-up takes beside the download, per mille (ours: the source names the stages, FC-3, and no
// numbers). Loading takes the rest, 600.
const (
	nodeShare      = 50
	containerShare = 350
)

// split divides a start-up into its stages. The law decides the total; the download takes its own length of it, at
// most all.
func (p Profile) split(total time.Duration) [Stages]time.Duration {
	var s [Stages]time.Duration
	s[StageDownload] = min(total, p.Download())
	rest := total - s[StageDownload]
	s[StageNode] = share(rest, nodeShare)
	s[StageContainer] = share(rest, containerShare)
	s[StageLoad] = rest - s[StageNode] - s[StageContainer]
	return s
}

// share is floor(d·mille/1000), without overflow for any d ≥ 0.
func share(d time.Duration, mille time.Duration) time.Duration {
	return d/1000*mille + d%1000*mille/1000
}

// Download is how long the code of the function takes to arrive: package ÷ bandwidth, rounded down. A time beyond the
// range of a Duration is the longest one.
func (p Profile) Download() time.Duration {
	bandwidth := p.Bandwidth
	if bandwidth == 0 {
		bandwidth = DefaultBandwidth
	}
	hi, lo := bits.Mul64(uint64(p.Function.PackageBytes), uint64(time.Second))
	if hi >= uint64(bandwidth) {
		return 1<<63 - 1
	}
	q, _ := bits.Div64(hi, lo, uint64(bandwidth))
	return time.Duration(min(q, 1<<63-1))
}
