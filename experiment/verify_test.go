package experiment

import (
	"context"
	"slices"
	"strings"
	"testing"

	"coldwave/platform"
	"coldwave/references"
	"coldwave/reports"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
)

func virtual(t *testing.T, law string, seed uint64, change func(*Verify)) reports.Verification {
	t.Helper()
	profile, err := platform.ProfileFor(law)
	if err != nil {
		t.Fatal(err)
	}
	v := Verify{ID: "test", Before: "fc-bound", After: "fc-race", Profile: profile, Seed: seed, Virtual: true}
	if change != nil {
		change(&v)
	}
	out, err := v.Run(context.Background(), func(Progress) {})
	if err != nil {
		t.Fatalf("law %s, seed %d: %v", law, seed, err)
	}
	return out
}

// ids lists the claims with the verdict.
func ids(out reports.Verification, verdict references.Verdict) []string {
	var found []string
	for _, r := range out.Claims {
		if r.Verdict == verdict {
			found = append(found, r.Claim.ID)
		}
	}
	return found
}

// forgetful is fc-race with a planted bug: an instance that becomes free does not look at the requests that wait.
type forgetful struct{ scheduler.Policy }

func (f forgetful) Handle(c *scheduler.Control, ev scheduler.Event) {
	if ev.Kind != scheduler.Done {
		f.Policy.Handle(c, ev)
	}
}

func TestAPlantedBugIsNamed(t *testing.T) {
	out := virtual(t, "uniform", 1, func(v *Verify) {
		v.MakePolicy = func(role references.Role) (scheduler.Policy, error) {
			if role == references.Before {
				return policies.New("fc-bound")
			}
			inner, err := policies.New("fc-race")
			return forgetful{inner}, err
		}
	})
	got := strings.Join(ids(out, references.Disagrees), " ")
	for _, id := range []string{"fc-ramp-after-mean", "fc-burst-after", "fc-burst-p99-change", "FR-2", "FR-6", "FR-7", "FR-11"} {
		if !strings.Contains(got, id) {
			t.Errorf("claim %s did not disagree with a policy that forgets who waits; those that did: %s", id, got)
		}
	}
}

// The old scheduling fails the claims about the new one, and the new one those about the old one.
func TestRolesAreJudgedByTheirOwnClaims(t *testing.T) {
	swapped := virtual(t, "uniform", 1, func(v *Verify) { v.Before, v.After = v.After, v.Before })
	bad := ids(swapped, references.Disagrees)
	for _, id := range []string{"fc-ramp-before-mean", "fc-ramp-after-mean", "FR-7", "FR-10"} {
		if !slices.Contains(bad, id) {
			t.Errorf("with the policies swapped claim %s did not disagree; those that did: %v", id, bad)
		}
	}
}

// FC-10: 2 warm, quota 10, 20 at once: 10 served and 10 turned away before, 20 served after, 8 starts in both.
func TestQuotaClaimRunsItsOwnCells(t *testing.T) {
	out := virtual(t, "uniform", 1, func(v *Verify) { v.Claims = []string{"fc-quota"} })
	if got := ids(out, references.Agrees); !slices.Equal(got, []string{"fc-quota"}) || len(out.Runs) != 2 {
		t.Errorf("verify fc-quota: %v agree, %d runs; want fc-quota alone on 2 runs", got, len(out.Runs))
	}
}

func TestClaimsChooseTheCells(t *testing.T) {
	for _, c := range []struct {
		claims []string
		want   string
	}{
		{nil, "fc-ramp/fc-bound fc-ramp/fc-race fc-burst/fc-bound fc-burst/fc-race"},
		{[]string{"fc-ramp-after-mean"}, "fc-ramp/fc-bound fc-ramp/fc-race"},
		{[]string{"FR-2"}, "fc-burst/fc-bound fc-burst/fc-race"},
		{[]string{"fc-online"}, "fc-online-25/fc-bound fc-online-25/fc-race fc-online/fc-bound fc-online/fc-race"},
		{[]string{"FR-12", "FR-8"}, "fc-ramp/fc-bound fc-ramp/fc-race fc-burst/fc-bound fc-burst/fc-race " +
			"fc-online-25/fc-bound fc-online-25/fc-race fc-online/fc-bound fc-online/fc-race"},
		{[]string{"FR-2", "fc-quota"}, "fc-burst/fc-bound fc-burst/fc-race fc-burst/fc-bound fc-burst/fc-race"},
	} {
		v := Verify{Before: "fc-bound", After: "fc-race", Profile: platform.Default(), Claims: c.claims}
		claims, err := v.claims()
		if err != nil {
			t.Fatal(err)
		}
		cells, err := v.cells(claims)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, cell := range cells {
			names = append(names, cell.Name())
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("cells for %v: %s, want %s", c.claims, got, c.want)
		}
	}
}

// In virtual time every claim is judged, also those with cells of their own and those that are exact.
func TestVirtualTimeRunsEverything(t *testing.T) {
	for _, quick := range []bool{false, true} {
		out := virtual(t, "uniform", 1, func(v *Verify) { v.Quick = quick })
		got := ids(out, references.Agrees)
		for _, id := range []string{"fc-quota", "fc-online", "FR-12", "FA-3", "FA-6", "FA-7", "FA-11"} {
			if !slices.Contains(got, id) {
				t.Errorf("quick %v: %s does not agree; those that do: %v", quick, id, got)
			}
		}
		if len(out.Runs) != 10 {
			t.Errorf("quick %v: %d runs, want 10: four of the main job, two with a quota, four of the online user", quick, len(out.Runs))
		}
		for _, r := range out.Runs {
			if online := strings.HasPrefix(r.Pattern, "fc-online"); online != (r.Law == "constant:2.35s") || online && r.Schedule.Length.Seconds() != 45 {
				t.Errorf("quick %v: %s has the law %s and lasts %v", quick, r.ID, r.Law, r.Schedule.Length)
			}
		}
	}
	out := virtual(t, "documented", 1, nil)
	for _, id := range []string{"FA-8", "FA-9", "FR-12"} {
		if got := ids(out, references.Agrees); !slices.Contains(got, id) {
			t.Errorf("law documented: %s does not agree; those that do: %v", id, got)
		}
	}
}

// A pattern that was chosen leaves the claims about others without runs, also in virtual time.
func TestChosenPatternsOnly(t *testing.T) {
	out := virtual(t, "uniform", 1, func(v *Verify) { v.Patterns = []string{"fc-burst"} })
	if len(out.Runs) != 4 { // with the quota's
		t.Errorf("%d runs of fc-burst alone, want 4", len(out.Runs))
	}
	for _, r := range out.Runs {
		if r.Pattern != "fc-burst" {
			t.Errorf("%s was run, want fc-burst only", r.ID)
		}
	}
}

// On the wire the exact claims are judged only if they are asked for.
func TestWireClaims(t *testing.T) {
	all, err := Verify{}.claims()
	named, errNamed := Verify{Claims: []string{"FA-3"}}.claims()
	if err != nil || errNamed != nil {
		t.Fatal(err, errNamed)
	}
	if slices.ContainsFunc(all, func(c references.Claim) bool { return c.Driver == "virtual" }) {
		t.Error("claims of a run on the wire hold some that need virtual time")
	}
	if !slices.ContainsFunc(all, func(c references.Claim) bool { return c.ID == "FR-8" }) || len(named) != 1 {
		t.Errorf("want FR-8 among all %d, and FA-3 alone if it is named, got %d", len(all), len(named))
	}
}

func TestUnknownClaimIsRefused(t *testing.T) {
	v := Verify{Before: "fc-bound", After: "fc-race", Profile: platform.Default(), Claims: []string{"fc-nothing"}, Virtual: true}
	if _, err := v.Run(context.Background(), func(Progress) {}); err == nil || !strings.Contains(err.Error(), "fc-nothing") {
		t.Errorf("verify fc-nothing = %v, want an error that names it", err)
	}
}

// An illegal decision must end the run, not give a number.
type illegal struct{}

func (illegal) Handle(c *scheduler.Control, ev scheduler.Event) {
	if ev.Kind == scheduler.Arrival {
		c.Assign(ev.Req, 99)
	}
}
