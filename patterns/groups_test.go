package patterns

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		why, text string
		want      []string
	}{
		{"each group once", "{kind: groups, at: [0s, 10s], sizes: [2, 20], length: 1m}", []string{"0@0s×2", "1@10s×20"}},
		{"the first one may come later", "{kind: groups, at: [250ms], sizes: [1], length: 1s}", []string{"0@250ms×1"}},
		{"repeated groups meet, and keep their order at one instant", "{kind: groups, at: [1s, 2s], sizes: [3, 1], repeats: [4, 2], gap: 1s, length: 5s}",
			[]string{"0@1s×3", "1@2s×3", "2@2s×1", "3@3s×3", "4@3s×1", "5@4s×3"}},
	} {
		p := must(t, c.text)
		if diff := cmp.Diff(c.want, groups(draw(t, p, 1))); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", c.why, c.text, diff)
		}
		if got := p.String(); got != c.text {
			t.Errorf("%s: String() = %s, want %s", c.why, got, c.text)
		}
	}
}

func TestGroupsRefuse(t *testing.T) {
	for _, c := range []struct{ why, src, want string }{
		{"no groups", "kind: groups\nat: []\nsizes: []\nlength: 1s\n", "2:5: at is empty; give the instant of at least one group, as in at: [0s, 10s]"},
		{"instants that are one", "kind: groups\nat: 1s\nsizes: [1]\nlength: 1s\n", "2:5: at is a text and must be a list of durations; write a list, as in at: [0s, 10s]"},
		{"an instant without unit", "kind: groups\nat: [10]\nsizes: [1]\nlength: 1s\n", "2:6: at: \"10\" is no duration; write it as in 10s, 250ms or 1m30s"},
		{"an instant that is none", "kind: groups\nat: [0s, soon]\nsizes: [1, 1]\nlength: 1s\n", "2:10: at \"soon\" is no duration; write it as in 10s, 250ms or 1m30s"},
		{"an instant without its size", "kind: groups\nat: [0s, 1s]\nsizes: [1]\nlength: 2s\n", "3:8: sizes has 1 numbers for 2 instants; give one size for each instant"},
		{"an empty group", "kind: groups\nat: [0s, 1s]\nsizes: [1, 0]\nlength: 2s\n", "3:12: group 1: sizes 0 must be at least 1; give a whole number from 1 on"},
		{"instants out of order", "kind: groups\nat: [1s, 1s]\nsizes: [1, 1]\nlength: 2s\n", "2:10: group 1: at 1s must be after 1s; write the instants in order"},
		{"a group after the end", "kind: groups\nat: [0s, 2s]\nsizes: [1, 1]\nlength: 2s\n", "2:10: group 1: at 2s is outside the length of 2s; give an instant from 0 to below the length"},
		{"an instant before 0", "kind: groups\nat: [-1s]\nsizes: [1]\nlength: 2s\n", "2:6: group 0: at -1s is outside the length of 2s; give an instant from 0 to below the length"},
		{"repeats without gap", "kind: groups\nat: [0s]\nsizes: [1]\nrepeats: [2]\nlength: 2s\n", "4:10: repeats needs gap; add gap or leave repeats out"},
		{"a gap without repeats", "kind: groups\nat: [0s]\nsizes: [1]\ngap: 1s\nlength: 2s\n", "4:6: gap needs repeats; add repeats or leave gap out"},
		{"too few repeats", "kind: groups\nat: [0s, 1s]\nsizes: [1, 1]\nrepeats: [1]\ngap: 1s\nlength: 9s\n", "4:10: repeats has 1 numbers for 2 instants; give one number for each instant"},
		{"repeats after the end", "kind: groups\nat: [1s]\nsizes: [1]\nrepeats: [4]\ngap: 1s\nlength: 4s\n", "4:11: group 0: repeats 4 go beyond the length of 4s; give at most 3, or a longer length"},
		{"too many waves in all", "kind: groups\nat: [0s, 1s]\nsizes: [1, 2]\nrepeats: [9999, 2]\ngap: 1s\nlength: 9h\n", "4:17: group 1: repeats 2 is above the limit; give at most 1"},
		{"no length", "kind: groups\nat: [0s]\nsizes: [1]\n", "1:7: key length is missing; add it"},
		{"a huge length", "kind: groups\nat: [0s]\nsizes: [1]\nlength: 721h\n", "4:9: length 721h is above the limit; give at most 720h"},
	} {
		_, err := Parse("p.yaml", []byte(c.src))
		if err == nil || err.Error() != "p.yaml:"+c.want {
			t.Errorf("%s: Parse(%q) = %v, want p.yaml:%s", c.why, c.src, err, c.want)
		}
	}
}

func TestGroupsOverride(t *testing.T) {
	once, often := must(t, "{kind: groups, at: [0s], sizes: [1], length: 9s}"), must(t, "{kind: groups, at: [0s], sizes: [1], repeats: [2], gap: 1s, length: 9s}")
	if got, err := often.Override(Settings{Gap: 2 * second}); err != nil || got.String() != "{kind: groups, at: [0s], sizes: [1], repeats: [2], gap: 2s, length: 9s}" {
		t.Errorf("Override(gap 2s) = %v, %v", got, err)
	}
	for why, bad := range map[string]func() (Pattern, error){
		"a gap that is too long":       func() (Pattern, error) { return often.Override(Settings{Gap: 9 * second}) },
		"a gap of what comes once":     func() (Pattern, error) { return once.Override(Settings{Gap: second}) },
		"requests, which sizes tell":   func() (Pattern, error) { return once.Override(Settings{Requests: 5}) },
		"more requests than the limit": func() (Pattern, error) { return once.Override(Settings{Limits: Limits{Duration: second}}) },
	} {
		if got, err := bad(); err == nil {
			t.Errorf("%s: Override = %v, want an error", why, got)
		}
	}
}
