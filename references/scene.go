package references

import (
	"encoding/json"
	"fmt"
	"time"

	"coldwave/patterns"
)

// Scene is what is given in a worked example: load, platform and limits of one run.
type Scene struct {
	Name    string   `json:"name"`
	Policy  string   `json:"policy"`  // name; empty: the suite's
	Params  string   `json:"params"`  // parameters of the policy, key=value,…; empty: its defaults
	Pattern string   `json:"pattern"` // when requests come: a pattern in its canonical form
	Body    Span     `json:"body"`    // execution time of each request
	Start   Span     `json:"start"`   // of each instance, from the decision until it can serve; 0: 1 ns
	Limit   int      `json:"limit"`   // requests in flight on one instance; 0: 1
	Min     int      `json:"min"`
	Max     int      `json:"max"` // 0: no limit
	Nodes   Nodes    `json:"nodes"`
	Changes []Change `json:"changes"`
	Crash   *Crash   `json:"crash"`
}

// Nodes are what instances are placed on (PL-1).
type Nodes struct {
	Count int  `json:"count"` // 0: instances are placed nowhere
	Room  int  `json:"room"`  // for instances, on each
	Keep  Span `json:"keep"`  // an empty one is reclaimed after it
}

// Change is new limits from an instant on.
type Change struct {
	At  Span `json:"at"`
	Min int  `json:"min"`
	Max int  `json:"max"` // 0: no limit
}

// Crash ends an instance by itself, some time after it could serve.
type Crash struct {
	Instance int64 `json:"instance"` // serial, from 1
	After    Span  `json:"after"`
}

// Span is a duration, as text in JSON: "1m30s".
type Span time.Duration

// UnmarshalJSON reads "1m30s".
func (s *Span) UnmarshalJSON(src []byte) error {
	var text string
	if err := json.Unmarshal(src, &text); err != nil {
		return fmt.Errorf("a duration is a text such as \"10s\": %w", err)
	}
	d, err := time.ParseDuration(text)
	*s = Span(d)
	return err
}

// Process returns when requests come.
func (sc Scene) Process() (patterns.Pattern, error) {
	return patterns.Parse("pattern", []byte(sc.Pattern))
}

func (sc Scene) check() error {
	if _, err := sc.Process(); err != nil {
		return err
	}
	if sc.Body < 0 || sc.Start < 0 || sc.Limit < 0 || sc.Min < 0 || sc.Max < 0 {
		return fmt.Errorf("body %v, start %v, limit %d, min %d, max %d: none may be negative",
			time.Duration(sc.Body), time.Duration(sc.Start), sc.Limit, sc.Min, sc.Max)
	}
	for i, c := range sc.Changes {
		if c.At <= 0 || i > 0 && c.At <= sc.Changes[i-1].At {
			return fmt.Errorf("change at %v: they come in order, after 0", time.Duration(c.At))
		}
	}
	if sc.Crash != nil && (sc.Crash.Instance < 1 || sc.Crash.After <= 0) {
		return fmt.Errorf("crash of instance %d after %v: give a serial from 1 and a time above 0", sc.Crash.Instance, time.Duration(sc.Crash.After))
	}
	return nil
}
