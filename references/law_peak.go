package references

// peakAlive judges the most instances that started or served at once in the window.
func peakAlive(v view) (string, findings) { return v.total("alive at most", v.peak(Alive)) }

// peakPresent judges the same with those that drain.
func peakPresent(v view) (string, findings) {
	return v.total("alive or draining at most", v.peak(Present))
}

func (v view) peak(what What) (n int) {
	for _, e := range v.Events {
		if e.What == what && v.sees(e.At) {
			n = max(n, e.Count)
		}
	}
	return n
}
