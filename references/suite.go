package references

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"coldwave/internal/spell"
)

// ErrSuite is the error of a suite that does not exist or cannot be used.
var ErrSuite = errors.New("unusable suite")

// Main is the name of the suite of the main job: the claims on Function Compute.
const Main = "fc"

// Suite is the worked examples of one documented policy as claims, with the scenes that they are judged on.
type Suite struct {
	Name   string  `json:"name"`
	Title  string  `json:"title"`
	Driver string  `json:"driver"` // "virtual" or "wire": the runs that its scenes are made for
	Policy string  `json:"policy"`
	Source string  `json:"source"` // the page with the examples
	Scenes []Scene `json:"scenes"`
	Claims []Claim `json:"claims"`
	Left   []Left  `json:"left"` // examples that no run shows

	Tolerance string `json:"tolerance"` // of the claims that state none
	Why       string `json:"why"`       // and the reason for it
}

// Left is a worked example that no run can show, and the test that holds it.
type Left struct {
	ID   string `json:"id"`
	Why  string `json:"why"`
	Test string `json:"test"` // name of a test function
}

//go:embed *-examples.json
var exampleFiles embed.FS

// suites is the table of all suites, in the order of their lists. To add one, write its file and add its name.
func suites() []string {
	return []string{Main, "cloudrun", "cloudrun-wire", "hpa", "knative", "lambda", "openwhisk", "keepalive"}
}

// SuiteNames lists the names of the suites, that of the main job first.
func SuiteNames() []string { return suites() }

// LoadSuite returns the suite of that name. An unknown one is an error that wraps ErrSuite and names the nearest.
func LoadSuite(name string) (Suite, error) {
	if !slices.Contains(suites(), name) {
		return Suite{}, fmt.Errorf("%w: there is no suite %q%s (known: %s)", ErrSuite, name, spell.Hint(name, suites()), strings.Join(suites(), ", "))
	}
	if name == Main {
		claims, err := Load()
		return Suite{Name: Main, Title: "Function Compute: scheduling before and after", Claims: claims}, err
	}
	file := name + "-examples.json"
	src, err := exampleFiles.ReadFile(file)
	if err != nil {
		return Suite{}, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	s, err := ParseSuite(file, src)
	if err == nil && s.Name != name {
		err = fmt.Errorf("%w: %s holds the suite %q", ErrSuite, file, s.Name)
	}
	return s, err
}

// ParseSuite reads a suite. What is unknown, missing or there twice is an error that wraps ErrSuite or ErrClaim and names
// the file and the place.
func ParseSuite(name string, src []byte) (Suite, error) {
	var s Suite
	if err := decode(name, src, &s); err != nil {
		return s, fmt.Errorf("%w: %w", ErrSuite, err)
	}
	if s.Name == "" || s.Title == "" || s.Policy == "" || s.Driver != driverVirtual && s.Driver != driverWire {
		return s, fmt.Errorf("%w: %s: give a name, a title, a policy, and a driver, virtual or wire", ErrSuite, name)
	}
	if err := s.checkScenes(); err != nil {
		return s, fmt.Errorf("%w: %s: %w", ErrSuite, name, err)
	}
	for i := range s.Claims {
		s.complete(&s.Claims[i])
	}
	if err := validateAll(name, s.Claims); err != nil {
		return s, err
	}
	if err := s.checkUse(); err != nil {
		return s, fmt.Errorf("%w: %s: %w", ErrSuite, name, err)
	}
	return s, nil
}

// complete fills in what holds for all claims of the suite.
func (s Suite) complete(c *Claim) {
	c.Driver, c.Check = s.Driver, checkExample
	c.Source = cmp.Or(c.Source, s.Source+", "+c.ID)
	if c.Tolerance == "" {
		c.Tolerance, c.Why = s.Tolerance, cmp.Or(c.Why, s.Why)
	}
}

func (s Suite) checkScenes() error {
	seen := map[string]bool{}
	for _, sc := range s.Scenes {
		if sc.Name == "" || seen[sc.Name] {
			return fmt.Errorf("scene %q: each has a name of its own", sc.Name)
		}
		seen[sc.Name] = true
		if err := sc.check(); err != nil {
			return fmt.Errorf("scene %q: %w", sc.Name, err)
		}
	}
	return nil
}

// checkUse finds claims that speak of no scene, scenes of which no claim speaks, and examples that are left without a
// word.
func (s Suite) checkUse() error {
	used := map[string]bool{}
	for _, c := range s.Claims {
		for _, name := range c.Scenes() {
			if _, ok := s.Scene(name); !ok {
				return fmt.Errorf("claim %q: there is no scene %q", c.ID, name)
			}
			used[name] = true
		}
	}
	for _, sc := range s.Scenes {
		if !used[sc.Name] {
			return fmt.Errorf("scene %q: no claim speaks of it", sc.Name)
		}
	}
	for _, l := range s.Left {
		if l.ID == "" || l.Why == "" || l.Test == "" {
			return fmt.Errorf("left %q: give its id, why no run shows it, and the test that does", l.ID)
		}
	}
	return nil
}

// Scene returns the scene of that name.
func (s Suite) Scene(name string) (Scene, bool) {
	i := slices.IndexFunc(s.Scenes, func(sc Scene) bool { return sc.Name == name })
	if i < 0 {
		return Scene{}, false
	}
	return s.Scenes[i], true
}

// Play lists the scenes that the claims speak of, in the order of the suite.
func (s Suite) Play(claims []Claim) []Scene {
	var out []Scene
	for _, sc := range s.Scenes {
		if slices.ContainsFunc(claims, func(c Claim) bool { return slices.Contains(c.Scenes(), sc.Name) }) {
			out = append(out, sc)
		}
	}
	return out
}
