package policies

// Reprint reads a value of a parameter and prints it again, for tests of what no policy has.
func Reprint(p Param, text string) (string, bool) {
	n, err := p.parse(text)
	if err != nil {
		return "", false
	}
	return p.Type.format(n), true
}
