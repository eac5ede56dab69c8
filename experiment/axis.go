package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"coldwave/analysis"
	"coldwave/internal/spell"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
)

// Axis is one parameter of a sweep with its values.
type Axis struct {
	Name   string // as it was asked for
	Param  policies.Param
	Limit  bool // it is a limit of the platform, not a parameter of the policy
	Values []int64
}

// maxAxis is the most values of one axis.
const maxAxis = 10_000

// Texts returns the values as they are written.
func (a *Axis) Texts() []string {
	texts := make([]string, len(a.Values))
	for i, v := range a.Values {
		texts[i] = a.text(v)
	}
	return texts
}

func (a *Axis) text(v int64) string {
	if a.Limit && a.Param.Name == "max" && v == scheduler.Unlimited {
		return unlimited
	}
	return a.Param.Text(v)
}

const unlimited = "unlimited"

// limits are what can be swept beside the parameters of a policy.
var limits = []policies.Param{
	{Name: "max", Type: policies.Int, Max: scheduler.Unlimited, Doc: "quota of instances alive at once"},
	{Name: "min", Type: policies.Int, Max: scheduler.Unlimited, Doc: "instances that are kept without traffic"},
	{Name: "concurrency", Type: policies.Int, Min: 1, Max: math.MaxInt32, Doc: "requests in flight on one instance"},
}

// Limits lists what can be swept beside the parameters of a policy.
func Limits() []policies.Param { return slices.Clone(limits) }

// The prefixes tell a limit from a parameter of the same name.
const (
	limitPrefix  = "limit."
	policyPrefix = "policy."
)

// ParseAxis reads one parameter of a sweep of the policy that spec names:
//
//	NAME=ITEM[,ITEM...]    ITEM: VALUE, or LOW..HIGH:STEP, which is LOW, LOW + STEP, ... up to HIGH
//
// as concurrency_target=0.3..0.9:0.1, idle_timeout=10s,1m,5m, or max=1..4,8,unlimited; of whole numbers the step may be
// left out and is 1. A name is a parameter of the policy or one of Limits; where it is both, limit.NAME and policy.NAME
// tell which. Steps are exact: values are integers of the parameter's unit. Errors are *analysis.SyntaxError, and
// those of an unknown policy.
func ParseAxis(spec, text string) (Axis, error) {
	entry, err := policies.Find(spec)
	if err != nil {
		return Axis{}, err
	}
	r := axisReader{text: text, seen: map[int64]bool{}}
	name, list, ok := strings.Cut(text, "=")
	if !ok {
		r.fail(len(text), "expected = and values, such as %s", axisExample)
	}
	r.axis = Axis{Name: name}
	r.param(entry, name)
	r.items(list, len(name)+1)
	if r.wrong != nil {
		return Axis{}, r.wrong
	}
	return r.axis, nil
}

const axisExample = "max=1..4,8"

// axisReader reads one text. After the first mistake it keeps that one.
type axisReader struct {
	text  string
	axis  Axis
	seen  map[int64]bool
	wrong *analysis.SyntaxError
}

func (r *axisReader) fail(at int, format string, args ...any) {
	if r.wrong == nil {
		r.wrong = &analysis.SyntaxError{Text: r.text, Offset: at, What: fmt.Sprintf(format, args...)}
	}
}

// param finds what the name means.
func (r *axisReader) param(e policies.Entry, name string) {
	own, bare := strings.CutPrefix(name, policyPrefix)
	limit, limited := strings.CutPrefix(name, limitPrefix)
	has := func(all []policies.Param, name string) int {
		return slices.IndexFunc(all, func(p policies.Param) bool { return p.Name == name })
	}
	of, as := has(e.Params, own), has(limits, limit)
	switch {
	case bare && of >= 0, !bare && !limited && of >= 0 && as < 0:
		r.axis.Param = e.Params[of]
	case limited && as >= 0, !bare && !limited && as >= 0 && of < 0:
		r.axis.Param, r.axis.Limit = limits[as], true
	case of >= 0 && as >= 0:
		r.fail(0, "%s is a parameter of %s and a limit: write %s%s or %s%s", name, e.Name, policyPrefix, name, limitPrefix, name)
	default:
		r.fail(0, "unknown parameter %q%s", name, knownAxes(e, strings.TrimPrefix(own, limitPrefix)))
	}
}

// knownAxes ends an error about an unknown name.
func knownAxes(e policies.Entry, name string) string {
	var names []string
	for _, p := range slices.Concat(e.Params, limits) {
		names = append(names, p.Name)
	}
	return spell.Hint(name, names) + " (known: " + strings.Join(names, ", ") + ")"
}

// items reads the list that begins at that offset.
func (r *axisReader) items(list string, at int) {
	for item := range strings.SplitSeq(list, ",") {
		if r.wrong != nil {
			return
		}
		if low, rest, ok := strings.Cut(item, ".."); ok {
			r.span(low, rest, at)
		} else {
			r.add(at, r.value(item, at))
		}
		at += len(item) + 1
	}
}

// value reads one value at that offset.
func (r *axisReader) value(text string, at int) int64 {
	if r.axis.Limit && r.axis.Param.Name == "max" && text == unlimited {
		return scheduler.Unlimited
	}
	if text == "" {
		r.fail(at, "expected a value")
		return 0
	}
	n, err := r.axis.Param.Value(text)
	if err != nil {
		r.fail(at, "%s %v", r.axis.Param.Name, err)
	}
	return n
}

// span reads LOW..HIGH:STEP at that offset; rest is what follows the points.
func (r *axisReader) span(low, rest string, at int) {
	if r.axis.Param.Type == policies.Bool {
		r.fail(at, "%s is true or false and has no range", r.axis.Param.Name)
		return
	}
	high, stepText, given := strings.Cut(rest, ":")
	highAt := at + len(low) + len("..")
	stepAt := highAt + len(high) + 1
	lo, hi, step := r.value(low, at), r.value(high, highAt), int64(1)
	switch {
	case r.wrong != nil:
		return
	case given:
		step = r.step(stepText, stepAt)
	case r.axis.Param.Type != policies.Int:
		r.fail(highAt+len(high), "expected : and a step, such as 0.3..0.9:0.1 or 10s..1m:10s")
	}
	switch {
	case r.wrong != nil:
		return
	case hi < lo:
		r.fail(highAt, "%s is below %s: write the smaller one first", high, low)
		return
	case (hi-lo)/step >= maxAxis:
		r.fail(at, "more than %d values", maxAxis)
		return
	}
	for i := range (hi-lo)/step + 1 {
		r.add(at, lo+i*step)
	}
}

// step reads the step of a range.
func (r *axisReader) step(text string, at int) int64 {
	step, err := r.axis.Param.Type.Value(text)
	switch {
	case err != nil:
		r.fail(at, "step: %v", err)
	case step <= 0:
		r.fail(at, "step: must be above 0")
	}
	return step
}

// add appends a value that is not there yet.
func (r *axisReader) add(at int, v int64) {
	switch a := &r.axis; {
	case r.wrong != nil:
	case len(a.Values) >= maxAxis:
		r.fail(at, "more than %d values", maxAxis)
	case r.seen[v]:
		r.fail(at, "%s is there twice", a.text(v))
	default:
		a.Values, r.seen[v] = append(a.Values, v), true
	}
}
