package patterns

// Kind is one sort of pattern that a text can name.
type Kind struct {
	Name    string
	Summary string   // one line
	Keys    []string // beside "kind"; not all are needed
	Example string   // canonical text

	build func(f *fields) Pattern
}

// Kinds lists the sorts of patterns. To add one, add a line here.
func Kinds() []Kind {
	return []Kind{
		{"waves", "groups of simultaneous requests, a gap apart", []string{"sizes", "gap"},
			"{kind: waves, sizes: [1, 2, 4], gap: 10s}", buildWaves},
		{"burst", "small waves, one large wave, small waves again", []string{"steady", "burst", "before", "after", "gap", "shift", "shift_after"},
			"{kind: burst, steady: 2, burst: 20, before: 3, after: 3, gap: 10s}", buildBurst},
		{"steps", "waves a gap apart whose size changes in steps, after a warm-up wave if one is given", []string{"sizes", "repeats", "gap", "warm_up", "pause"},
			"{kind: steps, sizes: [11, 25], repeats: [10, 30], gap: 1s, warm_up: 11, pause: 5s}", buildSteps},
		{"groups", "groups of simultaneous requests at stated instants, each repeated a gap apart if repeats say so", []string{"at", "sizes", "repeats", "gap", "length"},
			"{kind: groups, at: [0s, 10s], sizes: [2, 20], length: 1m}", buildGroups},
		{"constant", "a fixed rate: two of rate, duration and requests", []string{"rate", "duration", "requests"},
			"{kind: constant, rate: 6/m, duration: 1m}", buildConstant},
		{"ramp", "a rate that rises or falls evenly", []string{"from", "to", "duration"},
			"{kind: ramp, from: 10/s, to: 100/s, duration: 1m}", buildRamp},
		{"poisson", "independent random arrivals: a mean rate, and a duration or a number of requests", []string{"rate", "duration", "requests"},
			"{kind: poisson, rate: 100/s, duration: 1m}", buildPoisson},
	}
}
