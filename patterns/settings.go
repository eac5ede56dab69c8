package patterns

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"coldwave/internal/spell"
)

// Settings changes parts of a pattern, as a command line does. The zero value changes nothing.
type Settings struct {
	Rate     Rate          // Count 0: as it is
	Duration time.Duration // 0: as it is
	Requests int64         // 0: as it is
	Gap      time.Duration // between two waves; 0: as it is
	Limits   Limits        // that the changed pattern is held to
}

// settingNames are the names that Set knows.
func settingNames() []string { return []string{"rate", "duration", "requests", "gap"} }

// Set reads one setting from text, as given on the command line: "rate", "duration", "requests" or "gap". 0, negative
// numbers and unknown names are an *Error; limits are checked by Override.
func (s *Settings) Set(name, text string) error {
	var problem *Error
	switch name {
	case "rate":
		if s.Rate, problem = parseRate(name, text); problem == nil {
			problem = s.Rate.check(name, Limits{Rate: 1 << 62}, false)
		}
	case "duration":
		s.Duration, problem = parseSpan(name, text)
	case "gap":
		s.Gap, problem = parseSpan(name, text)
	case "requests":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n <= 0 {
			problem = wrong(name, "give a whole number above 0", "requests %q is no number above 0", text)
		}
		s.Requests = n
	default:
		problem = wrong(name, "the settings are "+strings.Join(settingNames(), ", "),
			"unknown setting %q%s", name, spell.Hint(name, settingNames()))
	}
	return first(problem)
}

// parseSpan reads a duration above 0.
func parseSpan(key, text string) (time.Duration, *Error) {
	d, problem := parseDuration(key, text)
	if problem == nil && d <= 0 {
		problem = within(key, d, 0)
	}
	return d, problem
}

func parseDuration(key, text string) (time.Duration, *Error) {
	d, err := time.ParseDuration(text)
	if err == nil {
		return d, nil
	}
	do := "write it as in 10s, 250ms or 1m30s"
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		do = fmt.Sprintf("write %ss for seconds", text)
	}
	return 0, wrong(key, do, "%s %q is no duration", key, text)
}

// only returns an Error for a setting that is set and that the kind of pattern does not have.
func (s Settings) only(kind string, has ...string) *Error {
	set := map[string]bool{"rate": s.Rate.Count != 0, "duration": s.Duration != 0, "requests": s.Requests != 0, "gap": s.Gap != 0}
	for _, h := range has {
		set[h] = false
	}
	for _, name := range settingNames() {
		if set[name] {
			return wrong(name, fmt.Sprintf("leave it out; what can be set is %s", strings.Join(has, ", ")),
				"pattern %s has no setting %s", kind, name)
		}
	}
	return nil
}
