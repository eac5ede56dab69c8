// Package policies holds the scheduling policies, one file each, and one table of them.
//
// To add one: write its file, add its Entry to All, and run policytest.Run on it.
package policies

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coldwave/analysis"
	"coldwave/internal/spell"
	"coldwave/scheduler"
)

// ErrUnknown is wrapped by New's error for a name that is not in All.
var ErrUnknown = errors.New("unknown policy")

// Entry is one policy of the table.
type Entry struct {
	Name    string
	Summary string // one sentence
	Source  string // where its rules come from, with their ids
	Params  []Param
	Bound   bool            // it ties a waiting request to its own start, so a request may wait while another instance is idle
	Learns  bool            // it keeps estimates when all traffic has gone, so it need not act twice alike
	Wait    time.Duration   // the longest time for which a request waits with the default parameters; 0: a minute
	Keeps   int             // instances that its defaults keep without traffic, beside the core's Min
	Nodes   scheduler.Nodes // on which it places its instances unless told otherwise; none: only if it is told to
	Holds   time.Duration   // the longest time for which its defaults keep an idle instance; 0: below an hour

	make func(values) scheduler.Policy
	bill func(v values, least int) analysis.Tariff // nil: the platform's documents do not say how it bills
}

// All returns the policies in order of name.
func All() []Entry {
	return []Entry{cloudRun, fcBound, fcRace, fixed, hpa, hybridHistogram, keepAlive, knative, lambda, openWhisk}
}

// Names returns the names of All.
func Names() []string {
	var names []string
	for _, e := range All() {
		names = append(names, e.Name)
	}
	return names
}

// New makes the policy that spec names: "fc-race", or "fc-race:idle_timeout=60s,start_per_request=true". An error wraps
// ErrUnknown or ErrParam, names what was wrong, and lists what is known.
func New(spec string) (scheduler.Policy, error) {
	e, v, err := parse(spec)
	if err != nil {
		return nil, err
	}
	return e.make(v), nil
}

// Canonical returns spec with every parameter written out. It gives the same policy, whatever the defaults become.
func Canonical(spec string) (string, error) {
	e, v, err := parse(spec)
	if err != nil {
		return "", err
	}
	var params []string
	for _, p := range e.Params {
		params = append(params, p.Name+"="+p.Type.format(v[p.Name]))
	}
	if len(params) == 0 {
		return e.Name, nil
	}
	return e.Name + ":" + strings.Join(params, ","), nil
}

// Find returns the entry that spec names, whatever its parameters.
func Find(spec string) (Entry, error) {
	name, _, _ := strings.Cut(spec, ":")
	all := All()
	k := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
	if k < 0 {
		return Entry{}, fmt.Errorf("policy %q: %w%s", name, ErrUnknown, known(name, Names()))
	}
	return all[k], nil
}

// known ends an error about an unknown name: the nearest known one if it is near, and all of them.
func known(name string, names []string) string {
	return spell.Hint(name, names) + " (known: " + strings.Join(names, ", ") + ")"
}
