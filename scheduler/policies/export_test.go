package policies

import "coldwave/scheduler"

// Reprint reads a value of a parameter and prints it again, for tests of what no policy has.
func Reprint(p Param, text string) (string, bool) {
	n, err := p.parse(text)
	if err != nil {
		return "", false
	}
	return p.Type.format(n), true
}

// Guide returns the policy of docs/WRITE_A_POLICY.md, which stands in no table, and what makes it with its defaults.
func Guide() (Entry, func() scheduler.Policy) {
	return guideMine, func() scheduler.Policy {
		v := make(values)
		for _, p := range guideMine.Params {
			v[p.Name], _ = p.parse(p.Default)
		}
		return guideMine.make(v)
	}
}
