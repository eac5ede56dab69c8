package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/internal/realclock"
)

func (p *program) calibrateVerb() *cli.Command {
	return &cli.Command{
		Name:  "calibrate",
		Usage: "check whether this host is calm enough for a run on the wire",
		Action: func(c *cli.Context) error {
			if _, err := cliargs.Args(c, 0, 0); err != nil {
				return err
			}
			host, err := experiment.Calibrate(c.Context, realclock.New(time.Now()))
			if err != nil {
				return cliargs.Errorf(cliargs.Invalid, "%w", err)
			}
			fmt.Fprintf(p.stdout, "sleeps of 100 ms end late by   p50 %v  p95 %v  max %v  (n=%d)\n"+
				"requests on loopback take      p50 %v  p95 %v  max %v  (n=%d)\n",
				host.Overshoot.P50, host.Overshoot.P95, host.Overshoot.Max, host.Overshoot.N,
				host.Loopback.P50, host.Loopback.P95, host.Loopback.Max, host.Loopback.N)
			if host.Busy {
				return cliargs.Errorf(cliargs.Invalid, "the host is too busy: %s", host.Reason)
			}
			return nil
		},
	}
}
