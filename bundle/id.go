package bundle

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// NewID returns a run id that sorts by time: "20260102T150405Z-3f9a2c". The random part keeps runs of one second apart;
// it is a name and no part of any result.
func NewID(now time.Time) string {
	return fmt.Sprintf("%s-%06x", now.UTC().Format("20060102T150405Z"), rand.Uint32()&0xffffff) //nolint:forbidigo // a name, not a draw
}
