package references

// checks is the table of all checks. A claim names one of them.
func checks() map[string]check {
	both := []Role{Before, After}
	before, after := both[:1], both[1:]
	meanLimits := []string{"mean_min_ms", "mean_max_ms"}
	p99Limits := []string{"p99_min_ms", "p99_max_ms"}
	ladderLimits := []string{"exec_ms", "overhead_min_ms", "overhead_max_ms", "slot_slack_ms", "wire_ms"}
	stepLimits := []string{"step_min_ms", "step_max_ms", "median_min_ms", "median_max_ms", "outlier_count"}
	pairLimits := []string{"pair_max_ms", "outlier_count"}
	rowLimits := []string{"shift_ms", "residual_ms", "wire_ms", "slot_slack_ms", "last_max_ms"}
	return map[string]check{
		"host":         {limits: []string{"overshoot_max_ms"}, judge: host},
		"stated":       {judge: stated},
		"pattern":      {limits: []string{"gap_ms", "quick_gap_ms"}, roles: both, judge: pattern},
		"counts":       {limits: []string{"ramp_starts", "burst_starts"}, roles: both, labels: true, judge: counts},
		"halves":       {roles: both, labels: true, judge: halves},
		"burst-before": {limits: []string{"idle_count"}, roles: before, labels: true, judge: burstBefore},
		"quota": {
			limits: []string{"quota", "before_served", "before_rejected", "after_served", "after_rejected", "burst_starts"},
			roles:  both, quota: true, judge: quota,
		},
		"mean-before":     {limits: meanLimits, roles: before, timing: true, judge: mean},
		"mean-after":      {limits: join(meanLimits, []string{"wave_mean_max_ms"}), roles: after, timing: true, judge: mean},
		"p99-before":      {limits: join(p99Limits, []string{"large_count", "large_p99_min_ms"}), roles: before, timing: true, judge: waveP99},
		"p99-after":       {limits: p99Limits, roles: after, timing: true, judge: waveP99},
		"ramp-before":     {limits: join(meanLimits, p99Limits, []string{"large_count", "large_p99_min_ms"}), roles: before, timing: true, judge: all(mean, waveP99)},
		"ramp-after":      {limits: join(meanLimits, p99Limits, []string{"wave_mean_max_ms"}), roles: after, timing: true, judge: all(mean, waveP99)},
		"ramp-p99-ratio":  {limits: []string{"ratio_min"}, roles: both, timing: true, judge: rampRatio},
		"burst-p99-ratio": {limits: []string{"ratio_min"}, roles: both, timing: true, judge: burstRatio},
		"ladder":          {limits: ladderLimits, roles: after, timing: true, judge: ladder},
		"steps":           {limits: stepLimits, roles: after, timing: true, judge: steps},
		"pairs":           {limits: pairLimits, roles: after, timing: true, judge: pairs},
		"levels":          {limits: join(ladderLimits, stepLimits, pairLimits[:1]), roles: after, timing: true, judge: all(ladder, steps, pairs)},
		"cold-range":      {limits: []string{"min_ms", "max_ms"}, roles: before, timing: true, labels: true, judge: coldRange},
		"warm-range":      {limits: []string{"min_ms", "max_ms"}, roles: both, timing: true, labels: true, judge: warmRange},
		"rows-before":     {limits: []string{"shift_ms", "residual_ms", "wire_ms", "cold_slack_ms"}, roles: before, timing: true, labels: true, judge: rowsBefore},
		"rows-after":      {limits: rowLimits, roles: after, timing: true, judge: rowsAfter},
		"last-pair":       {limits: []string{"shift_ms", "last_max_ms"}, roles: after, timing: true, judge: lastPair},
		"documented-run": {
			limits: join(rowLimits, []string{"ramp_mean_min_ms", "ramp_mean_max_ms", "burst_mean_min_ms", "burst_mean_max_ms"}),
			roles:  both, timing: true, judge: documentedRun,
		},
		"twin":       {limits: []string{"early_max_ms", "late_max_ms"}, roles: both, timing: true, labels: true, judge: twin},
		checkExample: {may: []string{"early_max_ms", "late_max_ms"}, judge: example},
		"online":     {limits: []string{"cold_ms", "window_ms", "spike_ratio_min", "after_max_ms", "after_share_max"}, roles: both, timing: true, judge: online},
	}
}

// checkExample is the check of all worked examples.
const checkExample = "example"

func join(lists ...[]string) (out []string) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}
