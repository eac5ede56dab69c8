package policytest

import (
	"time"

	"coldwave/internal/rng"
	"coldwave/platform"
)

// resources are what the bodies on one instance share.
type resources struct {
	platform.Resources
	mille int64 // of a body's execution time that is CPU time, thousandths
}

// sharedBy draws what instances for so many requests at once have. In two of three seeds bodies share nothing. Else they may
// ask for as many CPUs as there are requests, and there is one at most: more than a policy on CPU takes an instance to have
// would make it start without end for the background alone. On some the last request that an instance may have is one too
// many for its memory.
func sharedBy(seed uint64, limit int32) resources {
	d := rng.NewKey(seed, "shares").Draw(0)
	if d.Int64N(3) > 0 {
		return resources{}
	}
	r := resources{mille: pick[int64](&d, 300, 900, 1000)}
	r.MilliCPUs = pick[int64](&d, 500, 1000)
	if pick(&d, false, true) {
		r.Background = platform.Background{Milli: r.MilliCPUs / 10, Peak: r.MilliCPUs / 2, Every: 7 * time.Second, For: time.Second}
	}
	if limit > 1 && pick(&d, false, false, true) {
		r.Memory = platform.Memory{Limit: 10 * int64(limit), Request: 10, Base: 1}
	}
	return r
}
