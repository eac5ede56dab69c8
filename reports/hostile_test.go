package reports

import (
	"coldwave/analysis"
	"coldwave/references"
)

// hostile are texts that act in one output or another when they are not escaped.
var hostile = []string{
	`</script><script>window.pwned=1</script>`,
	`<img src=x onerror="window.pwned=1">`,
	`<form id=f action=//example.invalid></form><script>f.submit()</script>`,
	`"><svg onload=window.pwned=1>`,
	`' onmouseover='window.pwned=1`,
	`javascript:window.pwned=1`,
	`<title>`, `/api/<id>`, `--><script>window.pwned=1</script><!--`,
	`]]><script>window.pwned=1</script>`,
	`</title><script>window.pwned=1</script>`,
	`</style><script>window.pwned=1</script>`,
	`{{.Meta.Command}}`, `{{template "page"}}`,
	"\x1b[2J\x1b]0;owned\x07", "line\r\nFAIL 0 of 28", "\u202egnp.exe", "\u2028alert(1)\u2029", "\x00\xff\xfe", "\u009b31m",
	`=HYPERLINK("http://example.invalid")`, `<!--`, `<base href=//example.invalid>`, `<meta http-equiv=refresh content=0>`,
}

// poisoned is a verification with payload in every field that is a text.
func poisoned(payload string) Verification {
	v := fixtureVerification()
	v.Meta = poisonedMeta(v.Meta, payload)
	v.ID, v.Driver, v.Law = payload, payload, payload
	for i := range v.Claims {
		c := &v.Claims[i]
		c.Measured, c.Reason = payload, payload
		c.Claim = references.Claim{
			ID: payload, Statement: payload, Source: payload, Pattern: payload, Laws: []string{payload}, Check: payload,
			Limits: map[string]float64{payload: 1}, Documented: payload, Tolerance: payload, Why: payload,
			WhyLaws: payload, Command: payload,
		}
	}
	v.Claims[0].Verdict = references.Verdict(payload)
	v.Claims[1].Verdict = references.Disagrees
	for i := range v.Runs {
		poisonRun(&v.Runs[i], payload)
	}
	v.Runs[1].Policy += "2"
	v.Runs[3].Policy += "3"
	return v
}

func poisonedSingle(payload string) Single {
	s := fixtureSingle()
	s.Meta = poisonedMeta(s.Meta, payload)
	poisonRun(&s.Run, payload)
	return s
}

func poisonedMeta(m Meta, payload string) Meta {
	m.Tool, m.Version, m.Commit, m.Go, m.OS, m.Command = payload, payload, payload, payload, payload, payload
	return m
}

func poisonRun(r *analysis.Run, payload string) {
	r.ID, r.Pattern, r.Policy, r.Law, r.Target, r.Driver, r.Hash = payload, payload, payload, payload, payload, payload, payload
	r.Host.Busy, r.Host.Reason = true, payload
	r.Summary.Warnings = []analysis.Warning{{Code: payload, Text: payload}}
	for i := range r.Records {
		r.Records[i].Cause, r.Records[i].Server.Instance = payload, payload
	}
	for i := range r.Instances {
		r.Instances[i].Cause = payload
	}
}
