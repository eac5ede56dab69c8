package patterns

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// noFiles is a directory without files.
func noFiles(path string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

func TestEmbedded(t *testing.T) {
	for _, c := range []struct {
		why, name string
		want      Pattern
		requests  int
		length    time.Duration
	}{
		{"1, 2, 4, 8, 16, 32 every 10 s (FC-13)", "fc-ramp", Waves{[]int{1, 2, 4, 8, 16, 32}, 10 * second}, 63, 60 * second},
		{"2, 2, 2, 20, 2, 2, 2 every 10 s (FC-14)", "fc-burst", Burst{Steady: 2, Burst: 20, Before: 3, After: 3, Gap: 10 * second}, 32, 70 * second},
		{"the same with the step of the table (FA-8)", "fc-burst-shifted", Burst{2, 20, 3, 3, 10 * second, 42200 * time.Microsecond, 2}, 32, 70 * second},
		{"11 a second, then 32 (FR-12)", "fc-online", Steps{[]int{11, 32}, []int{10, 30}, second, 11, 5 * second}, 11 + 110 + 960, 45 * second},
		{"11 a second, then 25 (FR-12)", "fc-online-25", Steps{[]int{11, 25}, []int{10, 30}, second, 11, 5 * second}, 11 + 110 + 750, 45 * second},
		{"a start for flags", "constant", Constant{Rate: Rate{10, second}, Duration: 10 * second}, 100, 10 * second},
		{"a start for flags", "poisson", Poisson{Rate: Rate{10, second}, Duration: 10 * second}, -1, 10 * second},
	} {
		p, err := Load(c.name, noFiles)
		if diff := cmp.Diff(c.want, p); err != nil || diff != "" {
			t.Errorf("%s: Load(%s) = %v (-want +got):\n%s", c.why, c.name, err, diff)
			continue
		}
		if got := len(draw(t, p, 1)); c.requests >= 0 && got != c.requests || p.Length() != c.length {
			t.Errorf("%s: %s sends %d in %v, want %d in %v", c.why, c.name, got, p.Length(), c.requests, c.length)
		}
	}
}

// The embedded patterns are those of the documented source.
func TestEmbeddedAreTheDocumentedOnes(t *testing.T) {
	src, err := os.ReadFile("../references/fc.json")
	if err != nil {
		t.Fatal(err)
	}
	var fc struct {
		Patterns struct {
			Ramp struct {
				Waves    []int `json:"waves"`
				Interval int   `json:"interval_s"`
			} `json:"ramp"`
			Burst struct {
				Steady   int `json:"steady_per_wave"`
				Burst    int `json:"burst"`
				Interval int `json:"interval_s"`
			} `json:"burst"`
		} `json:"patterns"`
	}
	if err := json.Unmarshal(src, &fc); err != nil {
		t.Fatal(err)
	}
	ramp, burst := fc.Patterns.Ramp, fc.Patterns.Burst
	for name, want := range map[string]Pattern{
		"fc-ramp":  Waves{Sizes: ramp.Waves, Gap: time.Duration(ramp.Interval) * second},
		"fc-burst": Burst{Steady: burst.Steady, Burst: burst.Burst, Before: 3, After: 3, Gap: time.Duration(burst.Interval) * second},
	} {
		got, err := Load(name, noFiles)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Load(%s) = %v (-source +embedded):\n%s", name, err, diff)
		}
	}
}

func TestAll(t *testing.T) {
	for _, e := range All() {
		if e.Summary == "" || strings.Contains(e.Summary, "\n") || !strings.HasPrefix(e.Text, "# "+e.Summary+"\n") {
			t.Errorf("pattern %s: summary %q, want the first line of its file", e.Name, e.Summary)
		}
		if strings.HasPrefix(e.Name, "fc-") && !strings.Contains(e.Text, "Source: ") {
			t.Errorf("pattern %s names no source", e.Name)
		}
	}
	if got, want := Names(), []string{"constant", "fc-burst", "fc-burst-shifted", "fc-online", "fc-online-25", "fc-ramp", "poisson"}; !slices.Equal(got, want) {
		t.Errorf("Names() = %v, want %v", got, want)
	}
}

func TestLoadFile(t *testing.T) {
	files := map[string]string{
		"my.yaml":  "kind: waves\nsizes: [7]\ngap: 1s\n",
		"bad.yaml": "kind: waves\nsizes: [0]\ngap: 1s\n",
		"plain":    "{kind: waves, sizes: [8], gap: 1s}",
	}
	read := func(path string) ([]byte, error) {
		if src, ok := files[path]; ok {
			return []byte(src), nil
		}
		return noFiles(path)
	}
	for path, want := range map[string]Pattern{"my.yaml": Waves{[]int{7}, second}, "plain": Waves{[]int{8}, second}} {
		if got, err := Load(path, read); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("Load(%s) = %v, %v, want %v", path, got, err, want)
		}
	}
	const names = "constant, fc-burst, fc-burst-shifted, fc-online, fc-online-25, fc-ramp, poisson"
	for _, c := range []struct{ why, path, want string }{
		{"a mistake in the file", "bad.yaml", "bad.yaml:2:9: wave 0: size 0 must be at least 1; give a whole number from 1 on"},
		{"a mistyped name", "fc-rmap", `unknown pattern "fc-rmap", did you mean "fc-ramp"?; the patterns are ` + names + `, or give the path of a file`},
		{"another name", "sinusoid", `unknown pattern "sinusoid"; the patterns are ` + names + `, or give the path of a file`},
		{"a missing file", "gone.yaml", `pattern "gone.yaml" cannot be read: open gone.yaml: file does not exist; give a readable file, or one of ` + names},
		{"a missing file in a directory", "./gone", `pattern "./gone" cannot be read: open ./gone: file does not exist; give a readable file, or one of ` + names},
	} {
		got, err := Load(c.path, read)
		if got != nil || err == nil || err.Error() != c.want {
			t.Errorf("%s: Load(%s) = %v, %v, want %s", c.why, c.path, got, err, c.want)
		}
	}
	if _, err := Load("gone.yaml", read); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load(gone.yaml) = %v, want ErrNotExist in it", err)
	}
	if p, err := Load("fc-ramp", nil); err != nil {
		t.Errorf("Load(fc-ramp) without files = %v, %v, want the embedded one", p, err)
	}
	if p, err := Load("gone.yaml", nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load(gone.yaml) without files = %v, %v, want ErrNotExist", p, err)
	}
	if _, err := (Limits{Waves: 5}).Load("fc-ramp", read); !errors.Is(err, ErrLimit) {
		t.Errorf("Load under a limit of 5 waves = %v, want ErrLimit", err)
	}
}
