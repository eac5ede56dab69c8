package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"coldwave/engine"
	"coldwave/experiment"
	"coldwave/internal/cliargs"
)

func fleetFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "fleet", Value: experiment.FleetKinds()[0], Category: "PLATFORM",
			Usage: "instances of the bundled stack: inprocess (a server each), exec (a process each)"},
		&cli.StringFlag{Name: "worker-bin", Category: "PLATFORM", Usage: "`FILE` of the fakeworker for --fleet exec; found beside loadgen or on PATH"},
	}
}

func (p *program) fleet(c *cli.Context) experiment.Fleet {
	return experiment.Fleet{Kind: c.String("fleet"), Binary: c.String("worker-bin"), Errors: p.stderr, Mode: cliargs.CPUMode(c)}
}

func gatewayFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "gateway", Category: "TARGET", Usage: "`URL` of a gateway of this project that runs already, instead of the bundled stack"},
		&cli.StringFlag{Name: "admin", Category: "TARGET", Usage: "`URL` of that gateway's admin port; its token comes from COLDWAVE_ADMIN_TOKEN"},
		&cli.StringFlag{Name: "role", Value: "after", Category: "TARGET", Usage: "which side of the claims that gateway is: before or after"},
		allowFlag(),
	}
}

func allowFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "allow", Category: "TARGET", Usage: "`HOST:PORT` outside this machine that may be sent to, repeatable"}
}

// adminToken is where the token of a gateway's admin port comes from: never the command line, which others can read.
const adminToken = "COLDWAVE_ADMIN_TOKEN" //nolint:gosec // the name of a variable

// remoteGateway reads --gateway, --admin and --allow.
func remoteGateway(c *cli.Context) (*experiment.Remote, error) {
	guard, err := engine.NewGuard(c.StringSlice("allow")...)
	if err != nil {
		return nil, err
	}
	out := &experiment.Remote{Token: os.Getenv(adminToken)}
	if out.Target, err = guard.Target(c.String("gateway")); err != nil {
		return nil, classify(err)
	}
	if admin := c.String("admin"); admin != "" {
		if out.Admin, err = guard.Target(admin); err != nil {
			return nil, classify(err)
		}
	}
	return out, nil
}
