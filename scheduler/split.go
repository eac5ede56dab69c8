package scheduler

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"coldwave/internal/rng"
)

// Latest stands in a split for whichever revision was deployed last. A split without it is fixed: it stays as it is when
// another revision is deployed (CR-30).
const Latest = "latest"

// MaxRevisions is how many revisions of a service may exist at once.
const MaxRevisions = 64

// Share is the part of the traffic that one revision gets.
type Share struct {
	Revision string // its name, or Latest
	Percent  int    // 0 … 100
}

// Split is how traffic is split over revisions. The shares of a valid one add up to 100.
type Split []Share

// ErrSplit is wrapped by the error of a split that cannot be.
var ErrSplit = errors.New("bad traffic split")

// ParseSplit reads "v1=90,v2=10"; a name alone has all of it. The error wraps ErrSplit.
func ParseSplit(text string) (Split, error) {
	if !strings.Contains(text, "=") && !strings.Contains(text, ",") {
		text += "=100"
	}
	var s Split
	for item := range strings.SplitSeq(text, ",") {
		name, percent, ok := strings.Cut(item, "=")
		n, err := strconv.Atoi(strings.TrimSuffix(percent, "%"))
		if !ok || err != nil {
			return nil, fmt.Errorf("%w %.80q: %.40q: write NAME=PERCENT, as in v1=90,v2=10", ErrSplit, text, item)
		}
		s = append(s, Share{Revision: name, Percent: n})
	}
	return s, s.Validate()
}

// Validate returns an error that wraps ErrSplit unless the names differ and the percentages add up to 100.
func (s Split) Validate() error {
	sum := 0
	for k, share := range s {
		switch {
		case !nameOK(share.Revision) && share.Revision != Latest:
			return fmt.Errorf("%w %q: %w", ErrSplit, s, errName(share.Revision))
		case share.Percent < 0 || share.Percent > 100:
			return fmt.Errorf("%w %q: %d percent: must lie in 0 … 100", ErrSplit, s, share.Percent)
		case s[:k].has(share.Revision):
			return fmt.Errorf("%w %q: revision %q comes twice", ErrSplit, s, share.Revision)
		}
		sum += share.Percent
	}
	if sum != 100 || len(s) > MaxRevisions {
		return fmt.Errorf("%w %q: the shares add up to %d percent, want 100 of at most %d revisions", ErrSplit, s, sum, MaxRevisions)
	}
	return nil
}

func (s Split) has(name string) bool {
	for _, share := range s {
		if share.Revision == name {
			return true
		}
	}
	return false
}

// String is the inverse of ParseSplit.
func (s Split) String() string {
	var parts []string
	for _, share := range s {
		parts = append(parts, share.Revision+"="+strconv.Itoa(share.Percent))
	}
	return strings.Join(parts, ",")
}

// wheel picks revisions in the proportion of their percentages.
type wheel struct {
	seed  rng.Key
	parts []part
}

type part struct {
	rev     RevisionID
	percent int
	credit  int
}

// turn returns the next revision by smooth weighted round robin: of each hundred picks in a row every revision has exactly
// its percentage, spread as evenly as can be (U-22). Ties go to the revision that stands first.
func (w *wheel) turn() RevisionID {
	best := 0
	for k := range w.parts {
		p := &w.parts[k]
		p.credit += p.percent
		if p.credit > w.parts[best].credit {
			best = k
		}
	}
	w.parts[best].credit -= 100
	return w.parts[best].rev
}

// of returns the revision of a key: the same one as long as the split stays, and when a share grows only as many keys
// move as it grows (U-22).
func (w *wheel) of(key string) RevisionID {
	at, _ := bits.Mul64(uint64(rng.NewKey(uint64(w.seed), key)), 100)
	for k := range w.parts {
		if at < uint64(w.parts[k].percent) {
			return w.parts[k].rev
		}
		at -= uint64(w.parts[k].percent)
	}
	return w.parts[len(w.parts)-1].rev // unreachable: they add up to 100
}

// percent returns the share of a revision.
func (w *wheel) percent(rev RevisionID) int {
	n := 0
	for k := range w.parts {
		if w.parts[k].rev == rev {
			n += w.parts[k].percent
		}
	}
	return n
}
