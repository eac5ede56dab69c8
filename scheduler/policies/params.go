package policies

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrParam is wrapped by New's error for a parameter that is unknown or has a bad value.
var ErrParam = errors.New("bad policy parameter")

// Type is what values a parameter takes.
type Type string

// The types of parameters.
const (
	Duration Type = "duration" // of time.ParseDuration
	Int      Type = "int"      // decimal
	Bool     Type = "bool"     // true or false
	Ratio    Type = "ratio"    // decimal with at most three places, such as 0.6; its value is in thousandths
)

// Param is one parameter of a policy.
type Param struct {
	Name    string
	Type    Type
	Default string
	Min     int64 // smallest value, ≥ 0, in the unit of Max
	Max     int64 // largest Int, largest Duration in ns, or largest Ratio in thousandths
	Doc     string
	Fact    Fact // what it is of an instance; a platform that knows it fills it in
}

// values holds a value for each parameter of a policy: a duration in ns, an integer, a ratio in thousandths, or 0
// and 1.
type values map[string]int64

func (v values) is(name string) bool { return v[name] != 0 }

func (v values) duration(name string) time.Duration { return time.Duration(v[name]) }

// parse reads name or name:key=value,key=value.
func parse(spec string) (Entry, values, error) {
	e, err := Find(spec)
	if err != nil {
		return e, nil, err
	}
	v := make(values)
	for _, p := range e.Params {
		if v[p.Name], err = p.parse(p.Default); err != nil {
			return e, nil, fmt.Errorf("policy %q: %w", spec, err)
		}
	}
	_, list, given := strings.Cut(spec, ":")
	if !given {
		return e, v, nil
	}
	for item := range strings.SplitSeq(list, ",") {
		if err := e.set(v, item); err != nil {
			return e, nil, fmt.Errorf("policy %q: %w", spec, err)
		}
	}
	return e, v, nil
}

// set reads one key=value.
func (e Entry) set(v values, item string) error {
	key, text, ok := strings.Cut(item, "=")
	if !ok {
		return fmt.Errorf("%w %q: write key=value", ErrParam, item)
	}
	var names []string
	for _, p := range e.Params {
		if names = append(names, p.Name); p.Name != key {
			continue
		}
		n, err := p.parse(text)
		v[key] = n
		return err
	}
	return fmt.Errorf("%w %q: no such parameter%s", ErrParam, key, known(key, names))
}

func (p Param) parse(text string) (int64, error) {
	n, err := p.Value(text)
	if err != nil {
		return 0, fmt.Errorf("%w %s=%q: %w", ErrParam, p.Name, text, err)
	}
	return n, nil
}

// Value reads one value, in the unit of Max. The error says in a phrase what is wrong with the text.
func (p Param) Value(text string) (int64, error) {
	n, err := p.Type.Value(text)
	if err == nil && (n < p.Min || n > p.Max) {
		return 0, fmt.Errorf("must lie in %s … %s", p.least(), p.Text(p.Max))
	}
	return n, err
}

// Text is the inverse of Value.
func (p Param) Text(n int64) string { return p.Type.format(n) }

// Value reads a value of the type, whatever its size. The error says in a phrase what was expected.
func (t Type) Value(text string) (int64, error) {
	n, err := t.parse(text)
	if err != nil {
		return 0, errors.New("want " + t.want())
	}
	return n, nil
}

func (p Param) least() string {
	if p.Min == 0 {
		return "0"
	}
	return p.Type.format(p.Min)
}

func (t Type) parse(text string) (int64, error) {
	switch t {
	case Duration:
		d, err := time.ParseDuration(text)
		return int64(d), err
	case Bool:
		switch text {
		case "true":
			return 1, nil
		case "false":
			return 0, nil
		}
		return 0, strconv.ErrSyntax
	case Ratio:
		return parseRatio(text)
	default:
		return strconv.ParseInt(text, 10, 64)
	}
}

// parseRatio reads digits, and up to three more behind a point, as thousandths.
func parseRatio(text string) (int64, error) {
	whole, places, _ := strings.Cut(text, ".")
	if len(places) > 3 {
		return 0, strconv.ErrSyntax
	}
	n, err := strconv.ParseUint(whole+places+"000"[len(places):], 10, 32)
	return int64(n), err
}

func (t Type) want() string {
	switch t {
	case Duration:
		return `a duration such as "300s" or "1m30s"`
	case Bool:
		return "true or false"
	case Ratio:
		return `a ratio such as "0.6", with at most three places`
	default:
		return "a whole number"
	}
}

// format is the inverse of parse.
func (t Type) format(n int64) string {
	switch t {
	case Duration:
		return time.Duration(n).String()
	case Bool:
		return strconv.FormatBool(n != 0)
	case Ratio:
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64)
	default:
		return strconv.FormatInt(n, 10)
	}
}
