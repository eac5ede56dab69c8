package main

import (
	"github.com/urfave/cli/v2"

	"coldwave/internal/cliargs"
	"coldwave/platform"
)

// resourceFlags are the settings of an instance: what runs on it, and what that takes.
func resourceFlags() []cli.Flag {
	var flags []cli.Flag
	for _, s := range platform.Settings() {
		flags = append(flags, &cli.StringFlag{Name: s.Name, Usage: s.Usage, Category: "INSTANCE"})
	}
	return flags
}

// setResources changes what the command line says of an instance.
func setResources(c *cli.Context, p *platform.Profile) error {
	for _, s := range platform.Settings() {
		if !c.IsSet(s.Name) {
			continue
		}
		if err := p.Set(s.Name, c.String(s.Name)); err != nil {
			return cliargs.Errorf(cliargs.Usage, "--%s: %w", s.Name, err)
		}
	}
	if err := p.Check(); err != nil {
		return cliargs.Errorf(cliargs.Usage, "%w", err)
	}
	return nil
}
