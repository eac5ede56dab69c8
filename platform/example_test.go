package platform_test

import (
	"fmt"
	"time"

	"coldwave/platform"
)

// A start-up is drawn for an instance and shortened by what its cause takes otherwise, so that the request which waited
// for it takes exactly C.
func ExampleDraws_StartUp() {
	profile, err := platform.ProfileFor("constant:2350ms")
	if err != nil {
		fmt.Println(err)
		return
	}
	profile.Overhead = platform.Constant(12500 * time.Microsecond)
	draws := profile.Draws(1)
	cause := draws.Demand(0)
	start := draws.StartUp(1, cause)
	fmt.Println(cause, start.Total)
	for i, d := range start.Stages {
		fmt.Println(platform.Stage(i), d)
	}
	// Output:
	// exec=100ms;pre=6.25ms;post=6.25ms 2.2375s
	// node 86.875ms
	// download 500ms
	// container 608.125ms
	// load 1.0425s
}

func ExampleParseLaw() {
	for _, text := range []string{"uniform", "lognormal:median=2s,sigma=0.3", "unifrom"} {
		law, err := platform.ParseLaw(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(law.Name(), law.Mean().Round(time.Millisecond))
	}
	// Output:
	// uniform 2.35s
	// lognormal:median=2s,sigma=0.3 2.092s
	// law "unifrom": no such law, did you mean "uniform"?: the laws are uniform, documented, constant, lognormal, exponential, empirical
}
