package references

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"coldwave/platform"
)

// Each statement of the source has a claim.
func TestEveryStatementHasAClaim(t *testing.T) {
	var source struct {
		Stated map[string]string `json:"stated"`
	}
	if err := json.Unmarshal(fcJSON, &source); err != nil {
		t.Fatal(err)
	}
	if len(source.Stated) < 12 {
		t.Fatalf("fc.json states %d things, want 12 or more", len(source.Stated))
	}
	claims := load(t)
	for key := range source.Stated {
		if !slices.ContainsFunc(claims, func(c Claim) bool { return strings.Contains(c.Source, "stated."+key) }) {
			t.Errorf("statement %q has no claim", key)
		}
	}
}

// Each acceptance check on the wire has a claim, and each in virtual time that one run can decide.
func TestEveryAcceptanceCheckHasAClaim(t *testing.T) {
	claims := load(t)
	for _, id := range []string{"FR-0", "FR-1", "FR-2", "FR-3", "FR-4", "FR-5", "FR-6", "FR-7", "FR-8", "FR-9", "FR-10", "FR-11", "FR-12",
		"FA-3", "FA-6", "FA-7", "FA-8", "FA-9", "FA-11"} {
		if !slices.ContainsFunc(claims, func(c Claim) bool { return c.ID == id }) {
			t.Errorf("%s has no claim", id)
		}
	}
}

// Each check is used by a claim: the table holds nothing that nobody asks for.
func TestEveryCheckIsUsed(t *testing.T) {
	claims := load(t)
	for name := range checks() {
		if name != checkExample && !slices.ContainsFunc(claims, func(c Claim) bool { return c.Check == name }) {
			t.Errorf("check %q is used by no claim", name)
		}
	}
}

// The documented law draws from the cold rows of the published table.
func TestTheLawDocumentedIsTheTable(t *testing.T) {
	table, err := Documented()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := platform.Documented().Values, table.Before[pairSize:]; !slices.Equal(got, want) {
		t.Errorf("law documented = %v, want the table's %v", got, want)
	}
}

const goodClaim = `[{"id":"x","statement":"s","source":"s","pattern":"fc-ramp","laws":["uniform"],"check":"ramp-p99-ratio","limits":{"ratio_min":2},"documented":"d","tolerance":"t","why":"w"}]`

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"a good claim", "", "", ""},
		{"a limit for one law", `"ratio_min":2`, `"ratio_min":2,"ratio_min@uniform":3`, ""},
		{"an unknown field", `"laws"`, `"lows"`, `claims.json:1: json: unknown field "lows"`},
		{"an unknown check", "ramp-p99-ratio", "ramp-p98-ratio", `claim "x": there is no check "ramp-p98-ratio"`},
		{"a missing limit", `"ratio_min":2`, ``, `check "ramp-p99-ratio" needs the limit "ratio_min"`},
		{"a limit that is not used", `"ratio_min":2`, `"ratio_min":2,"ratio_max":3`, `does not use the limit "ratio_max"`},
		{"a limit for a law that the claim is not for", `"ratio_min":2`, `"ratio_min":2,"ratio_min@documented":3`, `limit "ratio_min@documented" is for a law that is not among ["uniform"]`},
		{"a negative limit", `"ratio_min":2`, `"ratio_min":-2`, `limit "ratio_min" is -2`},
		{"no reason", `"why":"w"`, `"why":" "`, `why is empty`},
		{"a pattern that is not documented", "fc-ramp", "ramp", `pattern "ramp" is not documented`},
		{"a driver", `"laws"`, `"driver":"virtual","laws"`, ""},
		{"an unknown driver", `"laws"`, `"driver":"simulated","laws"`, `driver "simulated": must be virtual, wire or empty`},
		{"an id that is there twice", "]", "," + goodClaim[1:], `id "x" is there twice`},
		{"text after the list", "}]", "}]\n{}", `claims.json:2: text after its end`},
		{"not JSON", goodClaim, "[{]", "claims.json:1: invalid character"},
	} {
		src := strings.Replace(goodClaim, c.from, c.to, 1)
		if c.name == "an id that is there twice" {
			src = goodClaim[:len(goodClaim)-1] + c.to
		}
		claims, err := Parse("claims.json", []byte(src))
		if c.want == "" && (err != nil || len(claims) != 1) || c.want != "" && (!errors.Is(err, ErrClaim) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: Parse = %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// A limit for one law goes before the one for all.
func TestLimitByLaw(t *testing.T) {
	c := Claim{Limits: map[string]float64{"a_ms": 1.5, "a_ms@documented": 2}}
	if u, d := c.ms("a_ms", "uniform"), c.ms("a_ms", "documented"); u != 1500000 || d != 2000000 {
		t.Errorf("limits = %v, %v, want 1.5ms, 2ms", u, d)
	}
}

func TestSelect(t *testing.T) {
	claims := load(t)
	got, err := Select(claims, []string{"FR-1", "fc-quota"})
	if err != nil || len(got) != 2 || got[0].ID != "fc-quota" || got[1].ID != "FR-1" {
		t.Errorf("Select = %v, %v, want fc-quota and FR-1 in the order of the claims", got, err)
	}
	if got, err := Select(claims, nil); len(got) != len(claims) || err != nil {
		t.Errorf("Select of no id = %d claims, %v, want all", len(got), err)
	}
	if _, err := Select(claims, []string{"FR-1", "no-such-claim"}); !errors.Is(err, ErrClaim) || !strings.Contains(err.Error(), `"no-such-claim"`) {
		t.Errorf("Select of an unknown id = %v, want an ErrClaim that names it", err)
	}
}

func TestParseTable(t *testing.T) {
	for name, src := range map[string]string{
		"not JSON":              "{",
		"no table":              "{}",
		"columns of other size": `{"burst_table_ms":{"before":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18],"after":[1]}}`,
	} {
		if got, err := parseTable([]byte(src)); err == nil {
			t.Errorf("%s: parseTable = %v, want an error", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(goodClaim))
	f.Add(claimsJSON)
	f.Fuzz(func(t *testing.T, src []byte) {
		claims, err := Parse("fuzz", src)
		if err != nil {
			return
		}
		for _, r := range Check(claims, Evidence{Law: "uniform"}) { // no evidence: nothing may agree
			if r.Verdict == Agrees || r.Verdict == Disagrees {
				t.Fatalf("%s = %s without evidence", r.Claim.ID, r.Verdict)
			}
		}
	})
}
