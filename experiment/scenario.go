package experiment

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/internal/spell"
	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/scheduler/policies"
)

// Scenario is what a scenario file says: a pattern, what it runs on, and what the run must keep. Empty fields are not in
// the file.
type Scenario struct {
	File       string
	Pattern    string // embedded name, path, or File + "#pattern" for one that stands in the file itself
	Target     string
	Settings   []Setting // by the names of flags, such as {"policy", "fc-race"}
	Phases     []analysis.Phase
	Thresholds []analysis.Threshold
	Metrics    []string
	Primary    []string
}

// Setting is one value of a scenario under the name of the flag that it stands for.
type Setting struct{ Flag, Value string }

// ScenarioError says what is wrong with a scenario file, and where.
type ScenarioError struct {
	File         string
	Line, Column int // from 1
	What, Do     string
	Err          error // may be nil
}

func (e *ScenarioError) Error() string {
	return fmt.Sprintf("scenario %s:%d:%d: %s; %s", e.File, e.Line, e.Column, e.What, e.Do)
}

// Unwrap returns the cause.
func (e *ScenarioError) Unwrap() error { return e.Err }

// scenarioFile is the file as it is written.
type scenarioFile struct {
	Pattern     any           `yaml:"pattern"`
	Rate        string        `yaml:"rate"`
	Duration    string        `yaml:"duration"`
	Requests    string        `yaml:"requests"`
	Gap         string        `yaml:"gap"`
	Policy      string        `yaml:"policy"`
	Platform    yaml.MapSlice `yaml:"platform"`
	Seed        string        `yaml:"seed"`
	Target      string        `yaml:"target"`
	Timeout     string        `yaml:"timeout"`
	Grace       string        `yaml:"grace"`
	MaxInFlight string        `yaml:"max_inflight"`
	Phases      []phaseEntry  `yaml:"phases"`
	Thresholds  []string      `yaml:"thresholds"`
	Metrics     []string      `yaml:"metrics"`
	Primary     []string      `yaml:"primary"`
}

type phaseEntry struct {
	Name string `yaml:"name"`
	From string `yaml:"from"`
	To   string `yaml:"to"`
}

// maxScenario bounds a scenario file, in bytes.
const maxScenario = 256 << 10

// maxInline bounds the requests of a pattern in the file; who runs it has limits of its own.
const maxInline = 10_000_000_000

// inlinePattern ends the name of a pattern that stands in a scenario file.
const inlinePattern = "#pattern"

// scenarioHelp is what to do about a file that is none.
const scenarioHelp = "write pattern, policy or target, and thresholds, one key to a line"

// ParseScenario reads a scenario file. Its platform may have these settings, by the names of flags, such as "cold-law". All
// errors are a *ScenarioError or a *patterns.Error, with file, line and column.
func ParseScenario(file string, src []byte, platform []string) (Scenario, error) {
	r, err := readScenario(file, src)
	if err != nil {
		return Scenario{}, err
	}
	r.known = platform
	out := Scenario{File: file, Target: r.file.Target, Metrics: r.file.Metrics, Primary: r.file.Primary}
	for _, step := range []func(*Scenario) error{r.pattern, r.settings, r.platform, r.check, r.phases, r.thresholds, r.selectors} {
		if err := step(&out); err != nil {
			return Scenario{}, err
		}
	}
	return out, nil
}

// scenarioReader is a file while it is read.
type scenarioReader struct {
	name string
	src  string
	file scenarioFile
	root *ast.File

	known []string // settings of the platform
}

func readScenario(name string, src []byte) (*scenarioReader, error) {
	r := &scenarioReader{name: name, src: strings.TrimPrefix(string(src), "\ufeff")}
	if len(src) > maxScenario {
		return nil, r.wrong(nil, fmt.Sprintf("it has more than %d bytes", maxScenario), "write the thresholds of one scenario")
	}
	tokens := lexer.Tokenize(r.src)
	if deep := patterns.TooDeep(tokens); deep != nil {
		return nil, r.wrong(deep, "it is nested too deep", scenarioHelp)
	}
	var err error
	if r.root, err = parser.Parse(tokens, 0); err != nil {
		return nil, r.syntax(err)
	}
	if len(r.root.Docs) != 1 || r.root.Docs[0].Body == nil {
		return nil, r.wrong(nil, "it is not one YAML document", scenarioHelp)
	}
	if _, ok := r.root.Docs[0].Body.(ast.MapNode); !ok {
		return nil, r.wrong(r.root.Docs[0].Body.GetToken(), "it is no mapping of keys", scenarioHelp)
	}
	if err := yaml.NodeToValue(r.root.Docs[0].Body, &r.file, yaml.Strict()); err != nil {
		return nil, r.syntax(err)
	}
	return r, nil
}

// wrong makes an error at a token; nil: at the beginning.
func (r *scenarioReader) wrong(at *token.Token, what, do string) *ScenarioError {
	e := &ScenarioError{File: r.name, Line: 1, Column: 1, What: what, Do: do}
	if at != nil && at.Position != nil {
		e.Line, e.Column = at.Position.Line, at.Position.Column
	}
	return e
}

// syntax turns an error of the YAML library into ours.
func (r *scenarioReader) syntax(err error) error {
	var y yaml.Error
	if !errors.As(err, &y) {
		return r.wrong(nil, strings.Join(strings.Fields(err.Error()), " "), scenarioHelp)
	}
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) && y.GetToken() != nil {
		key := y.GetToken().Value
		known := keysOf(reflect.TypeFor[scenarioFile]())
		if !r.isTop(y.GetToken()) {
			known = keysOf(reflect.TypeFor[phaseEntry]())
		}
		return r.wrong(y.GetToken(), fmt.Sprintf("unknown key %q%s", key, spell.Hint(key, known)), "the keys are "+strings.Join(known, ", "))
	}
	return r.wrong(y.GetToken(), strings.Join(strings.Fields(y.GetMessage()), " "), scenarioHelp)
}

// isTop says whether the token is a key of the file itself, and not of one of its phases.
func (r *scenarioReader) isTop(key *token.Token) bool {
	body, ok := r.root.Docs[0].Body.(ast.MapNode)
	if !ok {
		return false
	}
	for it := body.MapRange(); it.Next(); {
		if at := it.Key().GetToken().Position; at.Line == key.Position.Line && at.Column == key.Position.Column {
			return true
		}
	}
	return false
}

// keysOf lists the keys of a part of the file.
func keysOf(t reflect.Type) []string {
	var keys []string
	for f := range t.NumField() {
		keys = append(keys, t.Field(f).Tag.Get("yaml"))
	}
	return keys
}

// node returns what a path such as "$.thresholds[0]" leads to; nil if it leads nowhere.
func (r *scenarioReader) node(path string, args ...any) *token.Token {
	p, err := yaml.PathString(fmt.Sprintf(path, args...))
	if err != nil {
		return nil
	}
	n, err := p.FilterFile(r.root)
	if err != nil || n == nil {
		return nil
	}
	return first(n)
}

// key returns where a key stands in the mapping that a path leads to; nil if it is not there.
func (r *scenarioReader) key(path, name string) *token.Token {
	p, err := yaml.PathString(path)
	if err != nil {
		return nil
	}
	n, err := p.FilterFile(r.root)
	body, ok := n.(ast.MapNode)
	if err != nil || !ok {
		return nil
	}
	for it := body.MapRange(); it.Next(); {
		if t := it.Key().GetToken(); t.Value == name {
			return t
		}
	}
	return nil
}

// first is the token that a node begins with: that of a mapping is its first key, not the colon behind it.
func first(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return first(n.Values[0])
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return n.GetToken()
}

// pattern reads the pattern: a name, a path beside the file, or a mapping in the file.
func (r *scenarioReader) pattern(out *Scenario) error {
	at := r.node("$.pattern")
	switch p := r.file.Pattern.(type) {
	case nil:
		return r.wrong(at, "key pattern is missing", "name an embedded pattern, a file, or write one with its kind")
	case string:
		out.Pattern = p
		if !slices.Contains(patterns.Names(), p) && !filepath.IsAbs(p) && (filepath.Ext(p) != "" || strings.ContainsAny(p, `/\`)) {
			out.Pattern = filepath.Join(filepath.Dir(r.name), p)
		}
		return nil
	case map[string]any:
		if at == nil {
			break
		}
		out.Pattern = r.name + inlinePattern
		_, err := patterns.Limits{Requests: maxInline}.Parse(r.name, r.inline(at))
		return err
	}
	return r.wrong(at, "pattern is neither a name nor a mapping", "name an embedded pattern, a file, or write one with its kind")
}

// inline is the text of the pattern that begins at a token, in its place: what is before it is blank, so that lines and
// columns are those of the file.
func (r *scenarioReader) inline(at *token.Token) []byte {
	lines := strings.SplitAfter(r.src, "\n")
	from := at.Position.Line - 1
	var b strings.Builder
	b.WriteString(strings.Repeat("\n", from))
	b.WriteString(strings.Repeat(" ", at.Position.Column-1))
	if line := []rune(lines[from]); at.Position.Column <= len(line) {
		b.WriteString(string(line[at.Position.Column-1:]))
	}
	for _, line := range lines[from+1:] {
		if text := strings.TrimRight(line, " \r\n"); text != "" && !strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "}") {
			break // the next key
		}
		b.WriteString(line)
	}
	return []byte(b.String())
}

// InlinePattern returns the text of the pattern that stands in a scenario file, if that is what the name means: the name is
// that of the file, then "#pattern". It reads no file itself.
func InlinePattern(name string, readFile func(string) ([]byte, error)) (text []byte, found bool, err error) {
	file, found := strings.CutSuffix(name, inlinePattern)
	if !found {
		return nil, false, nil
	}
	src, err := readFile(file)
	if err != nil {
		return nil, true, err
	}
	r, err := readScenario(file, src)
	if err != nil {
		return nil, true, err
	}
	at := r.node("$.pattern")
	if _, ok := r.file.Pattern.(map[string]any); !ok || at == nil {
		return nil, true, r.wrong(at, "no pattern stands in the file", "name it with --pattern")
	}
	return r.inline(at), true, nil
}

// settings takes over what flags say too.
func (r *scenarioReader) settings(out *Scenario) error {
	f := &r.file
	for _, s := range []struct{ key, flag, value string }{
		{"rate", "rate", f.Rate}, {"duration", "duration", f.Duration}, {"requests", "requests", f.Requests}, {"gap", "gap", f.Gap},
		{"policy", "policy", f.Policy}, {"seed", "seed", f.Seed},
		{"target", "target", f.Target}, {"timeout", "timeout", f.Timeout}, {"grace", "grace", f.Grace}, {"max_inflight", "max-inflight", f.MaxInFlight},
	} {
		if s.value == "" {
			continue
		}
		if f.Target != "" && s.key == "policy" {
			return r.wrong(r.node("$.policy"), "policy belongs to the bundled stack, and there is a target", "leave one of them out")
		}
		out.Settings = append(out.Settings, Setting{s.flag, s.value})
	}
	return nil
}

// platform takes over the settings of the bundled stack, in the order in which they stand.
func (r *scenarioReader) platform(out *Scenario) error {
	if at := r.node("$.platform"); len(r.file.Platform) > 0 && r.file.Target != "" {
		return r.wrong(at, "platform belongs to the bundled stack, and there is a target", "leave one of them out")
	}
	for _, item := range r.file.Platform {
		key := fmt.Sprint(item.Key)
		at, flag := r.node("$.platform.%s", key), strings.ReplaceAll(key, "_", "-")
		if !slices.Contains(r.known, flag) || strings.Contains(key, "-") {
			keys := strings.Split(strings.ReplaceAll(strings.Join(r.known, " "), "-", "_"), " ")
			return r.wrong(r.key("$.platform", key), fmt.Sprintf("unknown setting %q of the platform%s", key, spell.Hint(key, keys)), "the settings are "+strings.Join(keys, ", "))
		}
		switch item.Value.(type) {
		case string, bool, int64, uint64, float64:
		default:
			return r.wrong(at, "platform."+key+" is no single value", "write it as the flag --"+flag+" takes it")
		}
		value := fmt.Sprint(item.Value)
		if _, err := platform.ProfileFor(value); flag == "cold-law" && err != nil {
			return r.caused(at, err)
		}
		out.Settings = append(out.Settings, Setting{flag, value})
	}
	return nil
}

// check looks at what has names and laws of its own.
func (r *scenarioReader) check(*Scenario) error {
	if p := r.file.Policy; p != "" {
		if _, err := policies.Canonical(p); err != nil {
			return r.caused(r.node("$.policy"), err)
		}
	}
	settings := patterns.Settings{}
	for _, s := range []struct{ key, value string }{{"rate", r.file.Rate}, {"duration", r.file.Duration}, {"requests", r.file.Requests}, {"gap", r.file.Gap}} {
		if s.value != "" {
			if err := settings.Set(s.key, s.value); err != nil {
				return r.caused(r.node("$.%s", s.key), err)
			}
		}
	}
	for _, s := range []struct{ key, value string }{{"timeout", r.file.Timeout}, {"grace", r.file.Grace}} {
		if d, err := time.ParseDuration(s.value); s.value != "" && (err != nil || d <= 0) {
			return r.wrong(r.node("$.%s", s.key), fmt.Sprintf("%s: %q is no duration above 0", s.key, s.value), "write it with a unit, such as 10s")
		}
	}
	return nil
}

// caused gives an error of another package its place in the file.
func (r *scenarioReader) caused(at *token.Token, err error) *ScenarioError {
	e := r.wrong(at, err.Error(), "see 'loadgen run --help'")
	e.Err = err
	return e
}

// phases reads the named parts of the run.
func (r *scenarioReader) phases(out *Scenario) error {
	for i, p := range r.file.Phases {
		from, err := time.ParseDuration(p.From)
		to, err2 := time.ParseDuration(p.To)
		switch {
		case p.Name == "" || strings.ContainsAny(p.Name, " \t<>="):
			return r.wrong(r.node("$.phases[%d]", i), fmt.Sprintf("phase %d has no name that is one word", i+1), "write {name: hold, from: 20s, to: 60s}")
		case err != nil || err2 != nil || from < 0 || to <= from:
			return r.wrong(r.node("$.phases[%d]", i), fmt.Sprintf("phase %s: from %q to %q is no stretch of time", p.Name, p.From, p.To), "write {name: hold, from: 20s, to: 60s}")
		case slices.ContainsFunc(out.Phases, func(q analysis.Phase) bool { return q.Name == p.Name }):
			return r.wrong(r.node("$.phases[%d].name", i), fmt.Sprintf("phase %s is there twice", p.Name), "give each a name of its own")
		}
		out.Phases = append(out.Phases, analysis.Phase{Name: p.Name, From: clock.Instant(from), To: clock.Instant(to)})
	}
	return nil
}

// thresholds reads what the run must keep.
func (r *scenarioReader) thresholds(out *Scenario) error {
	for i, text := range r.file.Thresholds {
		t, err := analysis.ParseThreshold(text)
		if err != nil {
			return r.misread(r.node("$.thresholds[%d]", i), err)
		}
		if err := (analysis.Reading{Phases: out.Phases}).Find(t.Selector); err != nil {
			return r.wrong(r.node("$.thresholds[%d]", i), err.Error(), "name the phase under phases")
		}
		out.Thresholds = append(out.Thresholds, t)
	}
	return nil
}

// selectors checks what runs are compared by.
func (r *scenarioReader) selectors(*Scenario) error {
	for _, part := range []struct {
		key  string
		list []string
	}{{"metrics", r.file.Metrics}, {"primary", r.file.Primary}} {
		for i, text := range part.list {
			name, _, _ := strings.Cut(text, "=")
			if _, err := analysis.ParseSelector(strings.TrimSpace(name)); err != nil {
				return r.misread(r.node("$.%s[%d]", part.key, i), err)
			}
		}
	}
	return nil
}

// misread gives a mistake in a threshold its place in the file, and keeps its detail.
func (r *scenarioReader) misread(at *token.Token, err error) *ScenarioError {
	e := r.caused(at, err)
	e.Do = "see docs/STATISTICS.md"
	var wrong *analysis.SyntaxError
	if at != nil && errors.As(err, &wrong) && !strings.ContainsAny(at.Origin, `"'`) {
		e.Column += wrong.Offset
	}
	return e
}
