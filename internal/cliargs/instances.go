package cliargs

import (
	"github.com/urfave/cli/v2"

	"coldwave/fleet/worker"
	"coldwave/platform"
)

// InstanceFlags are what runs on an instance, and what it takes of it: platform.Settings.
func InstanceFlags(category string) []cli.Flag {
	var flags []cli.Flag
	for _, s := range platform.Settings() {
		flags = append(flags, &cli.StringFlag{Name: s.Name, Usage: s.Usage, Category: category})
	}
	return flags
}

// InstanceFlagNames are the names of InstanceFlags.
func InstanceFlagNames() []string {
	var names []string
	for _, s := range platform.Settings() {
		names = append(names, s.Name)
	}
	return names
}

// SetInstance changes what InstanceFlags say of a profile, and checks it.
func SetInstance(c *cli.Context, p *platform.Profile) error {
	for _, name := range InstanceFlagNames() {
		if !c.IsSet(name) {
			continue
		}
		if err := p.Set(name, c.String(name)); err != nil {
			return Errorf(Usage, "--%s: %w", name, err)
		}
	}
	if err := p.Check(); err != nil {
		return Errorf(Usage, "%w", err)
	}
	return nil
}

// cpuModeFlag belongs to everything that starts workers.
const cpuModeFlag = "cpu-mode"

// CPUModeFlag says what workers do with CPU time.
func CPUModeFlag(category string) cli.Flag {
	return &cli.StringFlag{Name: cpuModeFlag, Value: string(worker.Sleep), Category: category,
		Usage: "CPU time on workers: " + string(worker.Sleep) + " (it passes, as in virtual time) or " + string(worker.Burn) + " (this host computes)"}
}

// CPUMode reads CPUModeFlag; it may be no mode.
func CPUMode(c *cli.Context) worker.CPUMode { return worker.CPUMode(c.String(cpuModeFlag)) }
