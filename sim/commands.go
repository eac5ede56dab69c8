package sim

import (
	"cmp"
	"errors"
	"fmt"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// Command changes the revisions of the service during a run. One of Deploy, Shift and Remove is set. What the service
// refuses changes nothing; the notices of the Result tell.
type Command struct {
	At     clock.Instant // > 0
	Deploy *Deployment
	Shift  scheduler.Split
	Remove string // name of a revision
}

// Deployment is a new revision.
type Deployment struct {
	Name     string
	Policy   scheduler.Policy // fresh: a policy belongs to one core
	Limits   scheduler.Config // Limit 0: the function's concurrency
	Platform Platform         // of its instances; nil: that of the run
	Split    scheduler.Split  // nil: the present one
}

// FirstRevision is how the revision is called that a run with Commands begins with, unless Config.Revision says otherwise.
const FirstRevision = "v1"

// Decision is a decision of the core of one revision.
type Decision struct {
	Rev scheduler.RevisionID
	scheduler.Action
}

// checkCommands reports what is wrong with the commands before anything runs.
func (cfg *Config) checkCommands(bad func(format string, args ...any)) {
	if len(cfg.Commands) == 0 {
		return
	}
	if cfg.Backing.On() {
		bad("commands do not go with a backing service: revisions would have one each")
	}
	if len(cfg.Changes) > 0 || cfg.Nodes != (scheduler.Nodes{}) || cfg.Watch != nil {
		bad("commands go neither with changes of the limits, nor with nodes, nor with a watcher of one core")
	}
	before := clock.Instant(0)
	for k, c := range cfg.Commands {
		if c.At <= 0 || c.At < before {
			bad("command %d at %v: must be after 0 and not before %v", k+1, c.At, before)
		}
		if err := c.check(); err != nil {
			bad("command %d: %w", k+1, err)
		}
		before = c.At
	}
}

func (c Command) check() error {
	n := 0
	for _, set := range []bool{c.Deploy != nil, c.Shift != nil, c.Remove != ""} {
		if set {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("it says %d things: give one of deploy, shift and remove", n)
	}
	if c.Deploy == nil {
		return nil
	}
	var missing error
	if c.Deploy.Policy == nil {
		missing = errors.New("the deployment has no policy")
	}
	return errors.Join(missing, c.Deploy.Limits.Validate())
}

// fresh returns the configuration of the run of a new revision.
func (cfg *Config) fresh(d *Deployment) Config {
	out := *cfg
	out.Policy, out.Limits, out.Revision = d.Policy, d.Limits, d.Name
	out.Limits.Limit = cmp.Or(d.Limits.Limit, cfg.concurrency())
	if d.Platform != nil {
		out.Platform = d.Platform
	}
	return out
}
