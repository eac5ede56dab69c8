package main

import (
	"errors"

	"coldwave/bundle"
	"coldwave/engine"
	"coldwave/experiment"
	"coldwave/gateway"
	"coldwave/internal/cliargs"
	"coldwave/scheduler"
)

// classify gives an error of a run its exit code. What the user did to the run goes before what followed from it.
func classify(err error) error {
	var (
		signal  *cliargs.Error
		refused *engine.RefusedError
		illegal scheduler.Illegal
		storage *bundle.StorageError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &signal):
		return signal
	case errors.As(err, &storage):
		return cliargs.Errorf(cliargs.Storage, "%w; %s", storage, makeRoom(storage.Dir))
	case errors.As(err, &illegal), errors.Is(err, gateway.ErrLoop):
		return cliargs.Errorf(cliargs.Bug, "%w; what was recorded is kept", err)
	case errors.As(err, &refused):
		return cliargs.Errorf(cliargs.Refused, "%w", refused)
	case errors.Is(err, engine.ErrUnreachable), errors.Is(err, engine.ErrAccounting), errors.Is(err, engine.ErrStopped),
		errors.Is(err, experiment.ErrAdmin):
		return cliargs.Errorf(cliargs.Invalid, "%w", err)
	case errors.Is(err, bundle.ErrDamaged), errors.Is(err, bundle.ErrUnfinished):
		return cliargs.Errorf(cliargs.Storage, "%w", err)
	default:
		return err // usage or input: Code knows
	}
}
