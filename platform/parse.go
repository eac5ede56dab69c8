package platform

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"coldwave/internal/spell"
)

// laws is the table of laws that a text can name, one line each.
var laws = [...]struct {
	name, form, summary string
	parse               func(args string) (Law, error)
}{
	{"uniform", "uniform:1.7s-3s", "every duration of a range equally often; bare: 1.7-3 s, the stated range", parseUniform},
	{"documented", "documented", "one of the 18 cold starts of the documented table", parseDocumented},
	{"constant", "constant:2350ms", "always the same", parseConstant},
	{"lognormal", "lognormal:median=2s,sigma=0.3", "long right tail; cap=10s shortens it", parseLognormal},
	{"exponential", "exponential:100ms", "without memory, of that mean", parseExponential},
	{"empirical", "empirical:1s,2s", "one of the listed durations; empirical:@FILE reads one per line", parseEmpirical},
}

// LawForm is one way to name a law.
type LawForm struct{ Name, Form, Summary string }

// LawForms lists the laws that ParseLaw reads, with an example of each.
func LawForms() []LawForm {
	forms := make([]LawForm, len(laws))
	for i, l := range laws {
		forms[i] = LawForm{Name: l.name, Form: l.form, Summary: l.summary}
	}
	return forms
}

// ParseLaw reads a law: "uniform", "uniform:1.7s-3s", "documented", "constant:2350ms", "lognormal:median=2s,sigma=0.3"
// with an optional ",cap=10s", "exponential:100ms", or "empirical:1s,2s". Errors wrap ErrLaw.
func ParseLaw(text string) (Law, error) {
	name, args, _ := strings.Cut(text, ":")
	for _, l := range laws {
		if l.name != name {
			continue
		}
		law, err := l.parse(args)
		if err == nil {
			err = law.Check()
		}
		if err != nil {
			return nil, fmt.Errorf("law %q: %w", text, err)
		}
		return law, nil
	}
	names := make([]string, len(laws))
	for i, l := range laws {
		names[i] = l.name
	}
	return nil, fmt.Errorf("law %q: %w%s: the laws are %s", text, ErrLaw, spell.Hint(name, names), strings.Join(names, ", "))
}

func parseUniform(args string) (Law, error) {
	if args == "" {
		return EndToEnd(), nil
	}
	low, high, found := strings.Cut(args, "-")
	if !found {
		return nil, fmt.Errorf("%w: %q is no range: write it as in uniform:1.7s-3s", ErrLaw, args)
	}
	shortest, err := duration(low)
	if err != nil {
		return nil, err
	}
	longest, err := duration(high)
	return Uniform{Min: shortest, Max: longest}, err
}

func parseDocumented(args string) (Law, error) {
	if args != "" {
		return nil, fmt.Errorf("%w: documented takes no numbers: leave out %q", ErrLaw, args)
	}
	return Documented(), nil
}

func parseConstant(args string) (Law, error) {
	d, err := duration(args)
	return Constant(d), err
}

func parseExponential(args string) (Law, error) {
	mean, err := duration(args)
	return Exponential(mean), err
}

func parseLognormal(args string) (Law, error) {
	var l Lognormal
	seen := map[string]bool{}
	for part := range strings.SplitSeq(args, ",") {
		key, value, _ := strings.Cut(part, "=")
		if seen[key] {
			return nil, fmt.Errorf("%w: %q comes twice: give it once", ErrLaw, key)
		}
		seen[key] = true
		if err := l.set(key, value); err != nil {
			return nil, err
		}
	}
	if !seen["median"] || !seen["sigma"] {
		return nil, fmt.Errorf("%w: it needs median and sigma: write it as in lognormal:median=2s,sigma=0.3", ErrLaw)
	}
	return l, nil
}

func (l *Lognormal) set(key, value string) (err error) {
	switch key {
	case "median":
		l.Median, err = duration(value)
	case "cap":
		l.Cap, err = duration(value)
	case "sigma":
		if l.Sigma, err = strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("%w: sigma %q is no number: write it as in sigma=0.3", ErrLaw, value)
		}
	default:
		return fmt.Errorf("%w: unknown part %q: the parts are median, sigma and cap", ErrLaw, key)
	}
	return err
}

func parseEmpirical(args string) (Law, error) {
	if file, isFile := strings.CutPrefix(args, "@"); isFile {
		return nil, fmt.Errorf("%w: the file %q must be read first: this place takes a list as in empirical:1s,2s", ErrLaw, file)
	}
	var e Empirical
	for part := range strings.SplitSeq(args, ",") {
		d, err := duration(part)
		if err != nil {
			return nil, err
		}
		e.Values = append(e.Values, d)
	}
	return e, nil
}

func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil {
		return 0, fmt.Errorf("%w: %q is no duration: write it as in 2350ms or 1.7s", ErrLaw, text)
	}
	return d, nil
}
