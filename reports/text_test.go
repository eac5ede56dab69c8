package reports

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"coldwave/analysis"
	"coldwave/references"
)

func verificationText(t *testing.T, v Verification, s Style) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := VerificationText(&b, v, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestVerificationTextGolden(t *testing.T) {
	for _, row := range []struct {
		name  string // what the terminal is
		file  string
		style Style
	}{
		{"a pipe", "verify-ascii.txt", Style{}},
		{"a terminal of 80 characters", "verify-80.txt", Style{Width: 80, Unicode: true}},
		{"a wide terminal with colours", "verify-color.txt", Style{Width: 132, Unicode: true, Color: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			golden(t, row.file, verificationText(t, fixtureVerification(), row.style))
		})
	}
}

func TestSingleTextGolden(t *testing.T) {
	var b bytes.Buffer
	if err := SingleText(&b, fixtureSingle(), Style{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "run-ascii.txt", b.Bytes())
}

// RT-07: the reader's locale changes no byte. The width tables of the table writer look at it when the process starts.
func TestTextIsTheSameInAnyLocale(t *testing.T) {
	if os.Getenv("REPORTS_PRINT") != "" {
		if err := VerificationText(os.Stdout, fixtureVerification(), Style{Unicode: true}); err != nil {
			t.Fatal(err)
		}
		return
	}
	output := func(locale string) string {
		c := exec.Command(os.Args[0], "-test.run=^TestTextIsTheSameInAnyLocale$") //nolint:gosec // this very test binary
		c.Env = append(os.Environ(), "REPORTS_PRINT=1", "LANG="+locale, "LC_ALL="+locale)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	want := output("C")
	for _, locale := range []string{"zh_CN.UTF-8", "de_DE.UTF-8", "ja_JP.UTF-8"} {
		if diff := cmp.Diff(want, output(locale)); diff != "" {
			t.Errorf("LANG=%s (-C +%s):\n%s", locale, locale, diff)
		}
	}
}

type full struct{ after int }

func (f *full) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, errors.New("disk full")
	}
	return len(b), nil
}

func TestTextReportsTheWritersError(t *testing.T) {
	for _, after := range []int{0, 200, 2000} {
		if err := VerificationText(&full{after}, fixtureVerification(), Style{}); err == nil {
			t.Errorf("VerificationText to a disk full after %d bytes: no error", after)
		}
	}
}

func TestTextWithoutAnySample(t *testing.T) {
	s := Single{Run: analysis.Run{Pattern: "p", Target: "http://127.0.0.1:1"}}
	var b bytes.Buffer
	if err := SingleText(&b, s, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{empty, "0 scheduled, 0 sent", "against http://127.0.0.1:1"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("text of an empty run lacks %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "NaN") {
		t.Errorf("text of an empty run holds NaN:\n%s", b.String())
	}
}

func TestTextFitsTheTerminal(t *testing.T) {
	for _, width := range []int{80, 100, 120} {
		text := string(verificationText(t, fixtureVerification(), Style{Width: width, Unicode: true}))
		for i, l := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(l); n > width {
				t.Errorf("width %d: line %d has %d characters: %s", width, i+1, n, l)
			}
		}
	}
}

func TestReasonNamesTheCommandOnce(t *testing.T) {
	result := func(reason, command string, v references.Verdict) references.Result {
		return references.Result{Claim: references.Claim{Command: command}, Verdict: v, Reason: reason}
	}
	for _, row := range []struct {
		why  string
		in   references.Result
		want string
	}{
		{"the claim needs another run", result("needs a quota", "loadgen verify q", references.NotComparable), "needs a quota; run: loadgen verify q"},
		{"the reason names it already", result("needs loadgen verify q", "loadgen verify q", references.NotComparable), "needs loadgen verify q"},
		{"there is no such run", result("no number", "", references.NotComparable), "no number"},
		{"nothing more is needed", result("", "loadgen verify q", references.Agrees), ""},
	} {
		if got := withCommand(row.in); got != row.want {
			t.Errorf("%s: withCommand = %q, want %q", row.why, got, row.want)
		}
	}
}
