package scheduler

var kindNames = [...]string{"configure", "done", "failed", "stopped", "ready", "timer", "arrival", "cancel", "sample", "tick"}

// String returns the name of the kind in lower case.
func (k Kind) String() string { return nameOf(kindNames[:], int(k)) }

var doNames = [...]string{"assign", "queue", "start", "stop", "reject", "lost", "end", "mark", "take", "reclaim"}

// String returns the name of the action in lower case.
func (d Do) String() string { return nameOf(doNames[:], int(d)) }

var stateNames = [...]string{"gone", "starting", "idle", "busy", "draining", "stopping"}

// String returns the name of the state in lower case.
func (s State) String() string { return nameOf(stateNames[:], int(s)) }

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "invalid"
	}
	return names[i]
}
