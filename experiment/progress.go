package experiment

import "time"

// Progress is a snapshot of a run that is on, cheap enough to take several times a second.
type Progress struct {
	Try     int // from 1
	Stage   string
	Elapsed time.Duration // since the epoch of the first cell; negative before it
	Total   time.Duration // planned
	Cells   []CellProgress

	Runs, RunsDone int64 // in virtual time, where there are many; 0: there are cells
}

// CellProgress is the state of one cell.
type CellProgress struct {
	Name                  string
	Waves, WavesSent      int // 0 waves: the pattern has none
	Scheduled, Sent       int64
	InFlight, Done        int64
	Failed                int64 // ended otherwise than ok
	Alive, Starting, Idle int
	Queued                int
}
