package experiment

import (
	"context"
	"slices"
	"strings"
	"testing"

	"coldwave/references"
	"coldwave/reports"
)

func suiteOf(t *testing.T, name string) references.Suite {
	t.Helper()
	s, err := references.LoadSuite(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// played runs a suite in virtual time, with another policy or other parameters if there are any.
func played(t *testing.T, s references.Suite, policy string, claims ...string) reports.Verification {
	t.Helper()
	out, err := Verify{ID: "test", Suite: s, Policy: policy, Claims: claims, Seed: 1, Virtual: true}.Run(context.Background(), func(Progress) {})
	if err != nil {
		t.Fatalf("suite %s with %s: %v", s.Name, policy, err)
	}
	return out
}

// virtualSuites are all suites whose scenes are made for virtual time.
func virtualSuites(t *testing.T) (all []references.Suite) {
	t.Helper()
	for _, name := range references.SuiteNames() {
		if s := suiteOf(t, name); s.Driver == "virtual" {
			all = append(all, s)
		}
	}
	return all
}

// Every worked example that a run can show agrees.
func TestSuitesAgree(t *testing.T) {
	for _, s := range virtualSuites(t) {
		out := played(t, s, "")
		for _, r := range out.Claims {
			if r.Verdict != references.Agrees {
				t.Errorf("%s %s: %s: %s: loadgen verify --virtual --suite %s %s", s.Name, r.Claim.ID, r.Verdict, r.Reason, s.Name, r.Claim.ID)
			}
		}
		if out.Suite == nil || out.Suite.Name != s.Name || len(out.Runs) != len(s.Scenes) {
			t.Errorf("%s: %d runs of %d scenes, suite %v", s.Name, len(out.Runs), len(s.Scenes), out.Suite)
		}
	}
}

// wrongValues are values that are not the documented ones, with examples that must tell.
var wrongValues = []struct{ suite, policy, claims string }{
	{"cloudrun", "cloudrun:concurrency_target=0.7", "CR-d CR-e CR-f CR-i CR-l CR-m CR-n CR-aa"},
	{"cloudrun", "cloudrun:concurrency_target=0.5", "CR-h CR-j CR-k CR-ab"},
	{"cloudrun", "cloudrun:concurrency_target=0.95", "CR-g"},
	{"cloudrun", "cloudrun:cold_start=4s", "CR-s CR-u CR-v CR-w"},
	{"cloudrun", "cloudrun:start_rate=1", "CR-t CR-ak"},
	{"cloudrun", "cloudrun:service_time=1500ms", "CR-x CR-y"},
	{"cloudrun", "cloudrun:service_time=2001ms", "CR-z"},
	{"cloudrun", "cloudrun:metric_tick=7s", "CR-ac CR-ak CR-al"},
	{"cloudrun", "cloudrun:idle_timeout=14m", "CR-ab CR-ad"},
	{"cloudrun", "cloudrun:reserve=0.7", "CR-ab CR-ac CR-al"},
	{"cloudrun", "cloudrun:replace=2", "CR-am"},
	{"hpa", "hpa:tolerance=0.2", "HPA-b HPA-l"},
	{"hpa", "hpa:up_percent=50", "HPA-i"},
	{"hpa", "hpa:behavior=true", "HPA-h HPA-k"},
	{"hpa", "hpa:down_percent=20", "HPA-j"},
	{"hpa", "hpa:down_window=270s", "HPA-k"},
	{"knative", "knative:utilization=0.4", "KN-a KN-b KN-d KN-f KN-j KN-doubling"},
	{"knative", "knative:panic_threshold=300", "KN-d KN-e"},
	{"knative", "knative:panic_threshold=150", "KN-f"},
	{"knative", "knative:max_scale_down=4", "KN-c"},
	{"knative", "knative:scale_down_delay=4m", "KN-j"},
	{"knative", "knative:grace=60s", "KN-r"},
	{"knative", "knative:stable_window=50s", "KN-r"},
	{"knative", "knative:panic_window=20", "KN-doubling"},
	{"knative", "knative:pod_queue=9", "KN-s"},
	{"lambda", "lambda:scaling_rate=900", "LA-a LA-b LA-c LA-d LA-e"},
	{"lambda", "lambda:account_concurrency=1001", "LA-e"},
	{"lambda", "lambda:provisioned=40", "LA-f"},
	{"lambda", "lambda:request_rate=9", "LA-g"},
	{"openwhisk", "openwhisk:concurrent=4", "OW-e OW-i"},
	{"openwhisk", "openwhisk:action_timeout=61s", "OW-f"},
	{"openwhisk", "openwhisk:prewarm_threshold=1", "OW-g"},
	{"openwhisk", "openwhisk:pause_grace=9s", "OW-h"},
	{"keepalive", "keepalive:idle_timeout=21m", "AZ-e"},
	{"keepalive", "hybrid-histogram:cv=2.03", "AZ-b"},
	{"keepalive", "hybrid-histogram:cv=100", "AZ-a AZ-b AZ-d"},
	{"keepalive", "hybrid-histogram:predict_last=0", "AZ-c"},
	{"keepalive", "hybrid-histogram:standard_keep_alive=3h", "AZ-b AZ-c AZ-f"},
}

// A wrong value of a parameter makes the examples disagree that are about it, and each example can disagree.
func TestWrongValuesDisagree(t *testing.T) {
	refuted := map[string]bool{}
	for _, w := range wrongValues {
		claims := strings.Fields(w.claims)
		bad := ids(played(t, suiteOf(t, w.suite), w.policy, claims...), references.Disagrees)
		for _, id := range claims {
			refuted[w.suite+" "+id] = true
			if !slices.Contains(bad, id) {
				t.Errorf("%s with %s: %s agrees; those that disagree: %v", w.suite, w.policy, id, bad)
			}
		}
	}
	for _, s := range virtualSuites(t) {
		for _, c := range s.Claims {
			if !refuted[s.Name+" "+c.ID] {
				t.Errorf("%s %s: no wrong value makes it disagree", s.Name, c.ID)
			}
		}
	}
}
