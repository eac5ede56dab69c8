package scheduler

// Sampled is a policy that can use Sample events.
type Sampled interface {
	Policy
	// Samples reports whether it wants them. The answer never changes.
	Samples() bool
}

// WantsSamples reports whether a policy wants Sample events: then its host asks each ready instance for its load once a
// second, if the instances can tell.
func WantsSamples(p Policy) bool {
	s, ok := p.(Sampled)
	return ok && s.Samples()
}
