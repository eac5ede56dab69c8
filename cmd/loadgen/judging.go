package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"coldwave/analysis"
	"coldwave/experiment"
	"coldwave/internal/cliargs"
)

// responsePrefix opens the names of the metrics of response time.
const responsePrefix = "response_"

// judgingFlags say who is on the Pareto front.
func judgingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "latency", Value: strings.TrimPrefix(experiment.DefaultLatency, responsePrefix), Category: "PARETO FRONT",
			Usage: "`STATISTIC` of the response time that is weighed against instance-seconds: " + strings.Join(statistics(), ", ")},
		&cli.Float64Flag{Name: "not-ok", Category: "PARETO FRONT",
			Usage: "largest `SHARE` of requests that may not be served, such as 0.001; who serves fewer is set aside"},
	}
}

// statistics lists what of the response time can be weighed.
func statistics() []string {
	var names []string
	for _, m := range analysis.Metrics() {
		if name, ok := strings.CutPrefix(m.Name, responsePrefix); ok {
			names = append(names, name)
		}
	}
	return names
}

func judgingOf(c *cli.Context) (experiment.Judging, error) {
	name, share := c.String("latency"), c.Float64("not-ok")
	if !slices.Contains(statistics(), name) {
		return experiment.Judging{}, cliargs.Errorf(cliargs.Usage, "--latency %q: must be one of %s", name, strings.Join(statistics(), ", "))
	}
	if !(share >= 0 && share < 1) {
		return experiment.Judging{}, cliargs.Errorf(cliargs.Usage, "--not-ok %v: must be at least 0 and below 1, such as 0.001", share)
	}
	return experiment.Judging{Latency: responsePrefix + name, NotOK: share}, nil
}
