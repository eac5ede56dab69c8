package patterns

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		why, text string
		want      []string
		length    time.Duration
	}{
		{"the warm-up comes at 0, the steps after the pause", "{kind: steps, sizes: [2, 5], repeats: [2, 1], gap: 1s, warm_up: 3, pause: 5s}",
			[]string{"0@0s×3", "1@5s×2", "2@6s×2", "3@7s×5"}, 8 * second},
		{"without a warm-up the steps begin at 0", "{kind: steps, sizes: [2, 5], repeats: [1, 2], gap: 250ms}",
			[]string{"0@0s×2", "1@250ms×5", "2@500ms×5"}, 750 * ms},
		{"a step down, and a pause shorter than the gap", "{kind: steps, sizes: [4, 1], repeats: [1, 1], gap: 2s, warm_up: 1, pause: 1s}",
			[]string{"0@0s×1", "1@1s×4", "2@3s×1"}, 5 * second},
	} {
		p := must(t, c.text)
		if diff := cmp.Diff(c.want, groups(draw(t, p, 1))); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", c.why, c.text, diff)
		}
		if got := p.Length(); got != c.length {
			t.Errorf("%s: %s: Length() = %v, want %v", c.why, c.text, got, c.length)
		}
		if got := p.String(); got != c.text {
			t.Errorf("%s: String() = %s, want %s", c.why, got, c.text)
		}
	}
}

func TestStepsRefuse(t *testing.T) {
	for _, c := range []struct{ why, src, want string }{
		{"no steps", "kind: steps\nsizes: []\nrepeats: []\ngap: 1s\n", "2:8: sizes is empty; give the size of at least one step, as in sizes: [11, 25]"},
		{"a size without its repeats", "kind: steps\nsizes: [1, 2]\nrepeats: [1]\ngap: 1s\n", "3:10: repeats has 1 numbers for 2 sizes; give one number of waves for each size"},
		{"an empty wave", "kind: steps\nsizes: [1, 0]\nrepeats: [1, 1]\ngap: 1s\n", "2:12: step 1: size 0 must be at least 1; give a whole number from 1 on"},
		{"an empty step", "kind: steps\nsizes: [1, 2]\nrepeats: [1, 0]\ngap: 1s\n", "3:14: step 1: repeats 0 must be at least 1; give a whole number from 1 on"},
		{"too many waves in all", "kind: steps\nsizes: [1, 2]\nrepeats: [9999, 2]\ngap: 1s\n", "3:17: step 1: repeats 2 is above the limit; give at most 1"},
		{"a huge wave", "kind: steps\nsizes: [5000001]\nrepeats: [1]\ngap: 1s\n", "2:9: step 0: size 5000001 is above the limit; give at most 5000000"},
		{"a gap that makes it too long", "kind: steps\nsizes: [1]\nrepeats: [2]\ngap: 361h\n", "4:6: gap 361h is above the limit; give at most 360h"},
		{"the pause counts too", "kind: steps\nsizes: [1]\nrepeats: [2]\ngap: 356h\nwarm_up: 1\npause: 10h\n", "4:6: gap 356h is above the limit; give at most 355h"},
		{"a warm-up without pause", "kind: steps\nsizes: [1]\nrepeats: [1]\ngap: 1s\nwarm_up: 2\n", "5:10: warm_up needs pause; add pause or leave warm_up out"},
		{"a pause without warm-up", "kind: steps\nsizes: [1]\nrepeats: [1]\ngap: 1s\npause: 2s\n", "5:8: pause needs warm_up; add warm_up or leave pause out"},
		{"an empty warm-up", "kind: steps\nsizes: [1]\nrepeats: [1]\ngap: 1s\nwarm_up: 0\npause: 2s\n", "5:10: warm_up 0 must be at least 1; give a whole number from 1 on"},
		{"a huge pause", "kind: steps\nsizes: [1]\nrepeats: [1]\ngap: 1s\nwarm_up: 1\npause: 361h\n", "6:8: pause 361h is above the limit; give at most 360h"},
	} {
		_, err := Parse("p.yaml", []byte(c.src))
		if err == nil || err.Error() != "p.yaml:"+c.want {
			t.Errorf("%s: Parse(%q) = %v, want p.yaml:%s", c.why, c.src, err, c.want)
		}
	}
}

// A value that was put together by hand is held to the same rules.
func TestStepsByHand(t *testing.T) {
	good := Steps{Sizes: []int{1}, Repeats: []int{1}, Gap: second}
	for why, s := range map[string]Steps{
		"a negative warm-up":      {Sizes: []int{1}, Repeats: []int{1}, Gap: second, WarmUp: -1, Pause: second},
		"a warm-up without pause": {Sizes: []int{1}, Repeats: []int{1}, Gap: second, WarmUp: 1},
		"a pause without warm-up": {Sizes: []int{1}, Repeats: []int{1}, Gap: second, Pause: second},
	} {
		var wrong *Error
		if err := s.Check(Limits{}); !errors.As(err, &wrong) {
			t.Errorf("%s: Check = %v, want an *Error", why, err)
		}
	}
	if err := good.Check(Limits{}); err != nil {
		t.Errorf("Check = %v, want nil", err)
	}
	if got, err := good.Override(Settings{Gap: 2 * second}); err != nil || got.Length() != 2*second || good.Gap != second {
		t.Errorf("Override(gap 2s) = %v, %v, want a pattern of 2 s and the old one as it was", got, err)
	}
	if _, err := good.Override(Settings{Requests: 5}); err == nil {
		t.Error("Override(requests) = nil, want an error: the sizes say how many there are")
	}
}
