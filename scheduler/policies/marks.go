package policies

// MarkName returns the name of a mark: the codes of all policies are one set, as the reasons of starts are.
func MarkName(code uint8) string {
	if code == MarkPaused {
		return "paused"
	}
	return CRMark(code).String()
}
