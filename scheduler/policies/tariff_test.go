package policies

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/analysis"
)

// TestTariffs is the table of docs/policies/billing.md.
func TestTariffs(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		why, spec string
		least     int
		want      *analysis.Tariff
	}{
		{"BI-1, BI-2, BI-3, CR-17", "cloudrun", 2, &analysis.Tariff{Platform: "Cloud Run", Kept: 2,
			ByRequest:  &analysis.Meter{Basis: analysis.Stretches, StartUps: true, Round: 100 * ms},
			ByInstance: &analysis.Meter{Basis: analysis.Lives, Round: 100 * ms}}},
		{"BI-4, BI-5", "lambda", 0, &analysis.Tariff{Platform: "AWS Lambda", ReservedRound: 5 * time.Minute,
			ByRequest: &analysis.Meter{Basis: analysis.Executions, StartUps: true, Round: ms}}},
		{"BI-6", "lambda:provisioned=7", 3, &analysis.Tariff{Platform: "AWS Lambda", Reserved: 7, ReservedRound: 5 * time.Minute,
			ByRequest: &analysis.Meter{Basis: analysis.Executions, StartUps: true, Round: ms}}},
		{"BI-7", "fc-race:idle_timeout=60s", 0, &analysis.Tariff{Platform: "Function Compute",
			ByRequest: &analysis.Meter{Basis: analysis.Executions, Round: ms}}},
		{"BI-8", "keepalive", 0, &analysis.Tariff{Platform: "Azure Functions",
			ByRequest: &analysis.Meter{Basis: analysis.Executions, Round: ms, Least: 100 * ms}}},
		{"software bills nothing", "knative", 0, nil},
		{"software bills nothing", "hpa", 0, nil},
		{"a number of instances is no platform", "fixed", 0, nil},
		{"no such policy", "cloudrum", 0, nil},
		{"no such parameter", "lambda:provided=7", 0, nil},
	} {
		if diff := cmp.Diff(tt.want, TariffOf(tt.spec, tt.least)); diff != "" {
			t.Errorf("%s: TariffOf(%q, %d) (-want +got):\n%s", tt.why, tt.spec, tt.least, diff)
		}
	}
}
