package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"coldwave/internal/rng"
)

func wheelFor(percents ...int) wheel {
	w := wheel{seed: rng.NewKey(1, "split")}
	for k, n := range percents {
		w.parts = append(w.parts, part{rev: RevisionID(k + 1), percent: n})
	}
	return w
}

func counts(w wheel, picks int, pick func(k int) RevisionID) []int {
	n := make([]int, len(w.parts))
	for k := range picks {
		n[pick(k)-1]++
	}
	return n
}

// TestTurnsAreExact: of each hundred arrivals in a row every revision gets exactly its percentage, and at any time nobody is
// more than one request away from its share (CR-30, U-22).
func TestTurnsAreExact(t *testing.T) {
	for seed := range int64(200) {
		d := rng.NewKey(3, "split").Draw(seed)
		w := wheelFor(randomPercents(&d)...)
		n := make([]int, len(w.parts))
		for k := 1; k <= 300; k++ {
			n[w.turn()-1]++
			for r, p := range w.parts {
				if off := 100*n[r] - k*p.percent; off >= 200 || off <= -200 {
					t.Fatalf("seed %d, %v: after %d picks revision %d has %d", seed, w.parts, k, r+1, n[r])
				}
				if k%100 == 0 && n[r] != k/100*p.percent {
					t.Fatalf("seed %d, %v: of %d picks revision %d has %d", seed, w.parts, k, r+1, n[r])
				}
			}
		}
	}
	w := wheelFor(75, 25)
	got := counts(w, 8, func(int) RevisionID { return w.turn() })
	if want := []int{6, 2}; !slices.Equal(got, want) {
		t.Errorf("8 turns at 75/25 = %v, want %v", got, want)
	}
}

func randomPercents(d *rng.Draw) []int {
	var out []int
	for left := 100; left > 0; {
		n := min(left, int(d.Int64N(60)))
		out, left = append(out, n), left-n
	}
	return out
}

// TestKeysStay: a key goes to one revision; a share that grows by ten percent moves a tenth of the keys, and only to the
// revision that gained.
func TestKeysStay(t *testing.T) {
	const keys = 10_000
	before, after := wheelFor(90, 10), wheelFor(80, 20)
	moved := 0
	got := counts(before, keys, func(k int) RevisionID {
		key := fmt.Sprint("user-", k)
		a, b := before.of(key), after.of(key)
		if again := before.of(key); a != again {
			t.Fatalf("key %q went to %d and then to %d", key, a, again)
		}
		if a != b {
			moved++
		}
		if a == 2 && b == 1 {
			t.Fatalf("key %q left the revision that gained", key)
		}
		return a
	})
	for what, n := range map[string]int{"keys of 10 %": got[1], "moved keys": moved} {
		if n < 880 || n > 1120 { // 1000 ± 4 standard deviations of 30
			t.Errorf("%s: %d of %d, want 1000 ± 120", what, n, keys)
		}
	}
}

func TestParseSplit(t *testing.T) {
	for _, row := range []struct{ text, want, wrong string }{
		{"v1=90,v2=10", "v1=90,v2=10", ""},
		{"v1=90%,v2=10%", "v1=90,v2=10", ""},
		{"v2", "v2=100", ""},
		{"latest=5,v1=95,v3=0", "latest=5,v1=95,v3=0", ""},
		{"v1=90,v2=9", "", `bad traffic split "v1=90,v2=9": the shares add up to 99 percent, want 100 of at most 64 revisions`},
		{"v1=50,v1=50", "", `bad traffic split "v1=50,v1=50": revision "v1" comes twice`},
		{"v1=-1,v2=101", "", `bad traffic split "v1=-1,v2=101": -1 percent: must lie in 0 … 100`},
		{"v1=x", "", `bad traffic split "v1=x": "v1=x": write NAME=PERCENT, as in v1=90,v2=10`},
		{"", "", `bad traffic split "=100": revision "": a name has 1 to 63 characters of A–Z a–z 0–9 . _ - and is not "latest"`},
	} {
		s, err := ParseSplit(row.text)
		switch {
		case row.wrong == "" && (err != nil || s.String() != row.want):
			t.Errorf("ParseSplit(%q) = %q, %v, want %q", row.text, s, err, row.want)
		case row.wrong != "" && (!errors.Is(err, ErrSplit) || err.Error() != row.wrong):
			t.Errorf("ParseSplit(%q) = %v, want %s", row.text, err, row.wrong)
		}
	}
}

func FuzzParseSplit(f *testing.F) {
	for _, text := range []string{"v1=90,v2=10", "latest", "a=100", "a=1,,b=99", "=", "a=0x10"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSplit(text)
		if err != nil {
			return
		}
		again, err := ParseSplit(s.String())
		if err != nil || !slices.Equal(again, s) {
			t.Errorf("%q read as %v, printed and read again as %v, %v", text, s, again, err)
		}
	})
}
