package record

import (
	"errors"
	"fmt"

	"coldwave/internal/clock"
)

// ErrAccount is the error of records that do not add up.
var ErrAccount = errors.New("accounting mismatch")

// Account checks that the records account for each of the scheduled arrivals exactly once: one record for each seq in
// [0, scheduled), each with one outcome, so that scheduled = sent + dropped and sent is the sum of all outcomes but
// dropped. It also refuses records that contradict themselves. The error wraps ErrAccount and names the first arrival
// that is wrong.
func Account(records []Record, scheduled int) error {
	if scheduled < 0 {
		return fmt.Errorf("%w: %d scheduled arrivals", ErrAccount, scheduled)
	}
	seen := make([]bool, scheduled)
	for i := range records {
		r := &records[i]
		if r.Seq < 0 || r.Seq >= int64(scheduled) {
			return fmt.Errorf("%w: record of seq %d, but only 0 to %d were scheduled", ErrAccount, r.Seq, scheduled-1)
		}
		if seen[r.Seq] {
			return fmt.Errorf("%w: seq %d has two records", ErrAccount, r.Seq)
		}
		seen[r.Seq] = true
		if err := r.Check(); err != nil {
			return err
		}
	}
	return missing(seen, len(records))
}

// Count returns how many records have each outcome. Records with an outcome that does not exist are not counted.
func Count(records []Record) (n [Outcomes]int) {
	for i := range records {
		if o := records[i].Outcome; o < Outcomes {
			n[o]++
		}
	}
	return n
}

// Check says whether the record contradicts itself. The error wraps ErrAccount.
func (r *Record) Check() error {
	switch {
	case r.Outcome >= Outcomes:
		return fmt.Errorf("%w: seq %d has outcome %d, which does not exist", ErrAccount, r.Seq, r.Outcome)
	case r.Outcome == Dropped && r.Sent != clock.Never:
		return fmt.Errorf("%w: seq %d counts as dropped (%s) but was sent at %v", ErrAccount, r.Seq, r.Cause, r.Sent)
	case r.Outcome != Dropped && r.Status != 0 && r.Sent == clock.Never:
		return fmt.Errorf("%w: seq %d has status %d but was never sent", ErrAccount, r.Seq, r.Status)
	}
	return nil
}

func missing(seen []bool, records int) error {
	for seq, ok := range seen {
		if !ok {
			return fmt.Errorf("%w: %d arrivals scheduled, %d recorded; the first without a record is seq %d", ErrAccount, len(seen), records, seq)
		}
	}
	return nil
}
