package policies

import (
	"time"

	"coldwave/analysis"
)

// TariffOf returns how the platform of a policy bills, with least instances kept without traffic (Config.Min). It is nil
// where the platform's documents do not say, and for a spec that names no policy. The sources stand in
// docs/policies/billing.md.
func TariffOf(spec string, least int) *analysis.Tariff {
	e, v, err := parse(spec)
	if err != nil || e.bill == nil {
		return nil
	}
	t := e.bill(v, least)
	return &t
}

// cloudRunTariff has both bills of Cloud Run (CR-31): the one by request is the default (BI-1 to BI-3).
func cloudRunTariff(_ values, least int) analysis.Tariff {
	const unit = 100 * time.Millisecond
	return analysis.Tariff{
		Platform:   "Cloud Run",
		ByRequest:  &analysis.Meter{Basis: analysis.Stretches, StartUps: true, Round: unit},
		ByInstance: &analysis.Meter{Basis: analysis.Lives, Round: unit},
		Kept:       least,
	}
}

// lambdaTariff bills each execution with its initialization, and provisioned environments apart (BI-4 to BI-6).
func lambdaTariff(v values, least int) analysis.Tariff {
	return analysis.Tariff{
		Platform:  "AWS Lambda",
		ByRequest: &analysis.Meter{Basis: analysis.Executions, StartUps: true, Round: time.Millisecond},
		Reserved:  max(int(v["provisioned"]), least), ReservedRound: 5 * time.Minute,
	}
}

// fcTariff bills the executions of on-demand instances (BI-7).
func fcTariff(values, int) analysis.Tariff {
	return analysis.Tariff{Platform: "Function Compute", ByRequest: &analysis.Meter{Basis: analysis.Executions, Round: time.Millisecond}}
}

// azureTariff bills each execution, a short one as if it took a tenth of a second (BI-8).
func azureTariff(values, int) analysis.Tariff {
	return analysis.Tariff{Platform: "Azure Functions", ByRequest: &analysis.Meter{
		Basis: analysis.Executions, Round: time.Millisecond, Least: 100 * time.Millisecond,
	}}
}
