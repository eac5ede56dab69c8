package platform

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrQuantity is wrapped by every error about the text of an amount of something.
var ErrQuantity = errors.New("no such amount")

// parseDecimal reads digits, and up to so many more behind a point, as a whole number of that last place.
func parseDecimal(text string, places int) (int64, error) {
	whole, fraction, pointed := strings.Cut(text, ".")
	if len(fraction) > places || pointed && fraction == "" || whole == "" {
		return 0, strconv.ErrSyntax
	}
	digits := whole + fraction + strings.Repeat("0", places-len(fraction))
	n, err := strconv.ParseUint(digits, 10, 63)
	return int64(n), err
}

// ParseCPUs reads a number of CPUs in thousandths: "2", "0.5", or "500m". Errors wrap ErrQuantity.
func ParseCPUs(text string) (int64, error) {
	number, isMilli := strings.CutSuffix(text, "m")
	places := 3
	if isMilli {
		places = 0
	}
	n, err := parseDecimal(number, places)
	if err != nil || n > MaxMilliCPUs {
		return 0, fmt.Errorf("%w: %q CPUs: write them as in 2, 0.5 or 500m, at most %d", ErrQuantity, text, MaxMilliCPUs/1000)
	}
	return n, nil
}

// FormatCPUs is the inverse of ParseCPUs.
func FormatCPUs(milli int64) string {
	return strconv.FormatFloat(float64(milli)/1000, 'f', -1, 64)
}

// units are the units of memory, the longest text of equal ends first.
var units = [...]struct {
	text  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30},
	{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
}

// ParseMemory reads an amount of memory in bytes: "512Mi", "3GB", "65536". Errors wrap ErrQuantity.
func ParseMemory(text string) (int64, error) {
	for _, u := range units {
		number, found := strings.CutSuffix(text, u.text)
		if !found {
			continue
		}
		n, err := parseDecimal(number, 0)
		if err != nil || n > MaxMemory/u.bytes {
			break
		}
		return n * u.bytes, nil
	}
	return 0, fmt.Errorf("%w: memory %q: write it as in 512Mi, 3GB or 65536, at most %d bytes", ErrQuantity, text, int64(MaxMemory))
}

// ParsePeak reads periodic peaks of background work: "0.5:2s/30s" is half a CPU for two seconds every 30 seconds. Errors
// wrap ErrQuantity.
func ParsePeak(text string) (Background, error) {
	cpus, times, found := strings.Cut(text, ":")
	length, every, both := strings.Cut(times, "/")
	if !found || !both {
		return Background{}, badPeak(text)
	}
	milli, err := ParseCPUs(cpus)
	if err != nil {
		return Background{}, fmt.Errorf("peak %q: %w", text, err)
	}
	b := Background{Peak: milli}
	var errs [2]error
	b.For, errs[0] = time.ParseDuration(length)
	b.Every, errs[1] = time.ParseDuration(every)
	if errors.Join(errs[:]...) != nil || b.For <= 0 || b.Every < b.For || milli == 0 {
		return Background{}, badPeak(text)
	}
	return b, nil
}

// peakText is what ParsePeak reads; empty: there are none.
func (b Background) peakText() string {
	if b.For == 0 {
		return ""
	}
	return FormatCPUs(b.Peak) + ":" + b.For.String() + "/" + b.Every.String()
}

func badPeak(text string) error {
	return fmt.Errorf("%w: peak %q: write it as in 0.5:2s/30s, half a CPU for 2s every 30s", ErrQuantity, text)
}
