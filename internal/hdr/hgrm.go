package hdr

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// ErrHgrm is the error of a percentile text that cannot be read.
var ErrHgrm = errors.New("malformed percentile text")

// ticks is the number of lines for each halving of the distance to 100 %, as in the Java tools.
const ticks = 5

// Point is one line of a percentile text.
type Point struct {
	Value    float64 // in the unit of the text
	Quantile float64 // in [0, 1]
	Count    int64   // of values up to this one
}

// WriteHgrm writes the distribution as percentile text in the layout of the Java tools, in milliseconds. The last line
// and the footer have the exact maximum, mean and count; values beyond the range are part of the last line.
func WriteHgrm(w io.Writer, h *Histogram) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	for _, p := range h.points() {
		if p.Quantile == 1 {
			fmt.Fprintf(out, "%12.3f %2.12f %10d\n", p.Value, p.Quantile, p.Count)
			continue
		}
		fmt.Fprintf(out, "%12.3f %2.12f %10d %14.2f\n", p.Value, p.Quantile, p.Count, 1/(1-p.Quantile))
	}
	mean, _ := h.Mean()
	fmt.Fprintf(out, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", millis(mean), h.buckets.StdDev()/1e6)
	fmt.Fprintf(out, "#[Max     = %12.3f, Total count    = %12d]\n", millis(h.max), h.count)
	fmt.Fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n", bucketsFor(h.limit), subBuckets)
	fmt.Fprint(out, "#[Units: ms]\n")
	if h.over > 0 {
		fmt.Fprintf(out, "#[Overflow: %d values above %.3f]\n", h.over, millis(h.limit))
	}
	return out.Flush()
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }

// subBuckets is the number of linear steps in one bucket: the power of two from 2·10^Digits up.
const subBuckets = 2048

func bucketsFor(limit time.Duration) int {
	return max(bits.Len64(uint64(limit))-bits.Len64(subBuckets-1), 0) + 1
}

// points returns the lines of the text: quantiles that come ever closer to 1, each with the value that reaches it.
func (h *Histogram) points() []Point {
	if h.count == 0 {
		return nil
	}
	var out []Point
	steps := h.steps()
	for level := 0.0; level < 1; level += nextTick(level) {
		rank := Rank(level, h.count)
		for steps[0].Count < rank {
			steps = steps[1:]
		}
		out = append(out, Point{Value: steps[0].Value, Quantile: level, Count: steps[0].Count})
		if len(steps) == 1 {
			break // the largest value is reached: what follows would repeat it
		}
	}
	return append(out, Point{Value: millis(h.max), Quantile: 1, Count: h.count})
}

// nextTick returns the distance to the next level: a fifth of the last halving of what is missing to 1.
func nextTick(level float64) float64 {
	halvings := math.Floor(math.Log2(1/(1-level))) + 1
	return 1 / (ticks * math.Exp2(halvings))
}

// steps returns the cumulative counts at each value that occurs, those beyond the range as the last one.
func (h *Histogram) steps() []Point {
	var out []Point
	var count int64
	for _, bar := range h.buckets.Distribution() {
		if bar.Count > 0 {
			count += bar.Count
			out = append(out, Point{Value: millis(min(time.Duration(bar.To), h.max, h.limit)), Count: count})
		}
	}
	if h.over > 0 {
		out = append(out, Point{Value: millis(h.max), Count: h.count})
	}
	return out
}

// ReadHgrm reads percentile text of the Java, C, Go and vegeta layouts: three or four columns, comments and headers
// skipped. Errors wrap ErrHgrm and name the line.
func ReadHgrm(r io.Reader) ([]Point, error) {
	var out []Point
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' || letter(text[0]) {
			continue
		}
		p, err := parsePoint(strings.Fields(text))
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrHgrm, n, err)
		}
		out = append(out, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHgrm, err)
	}
	return out, nil
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func parsePoint(fields []string) (Point, error) {
	if len(fields) != 3 && len(fields) != 4 {
		return Point{}, fmt.Errorf("%d columns, want 3 or 4", len(fields))
	}
	value, err1 := strconv.ParseFloat(fields[0], 64)
	quantile, err2 := strconv.ParseFloat(fields[1], 64)
	count, err3 := strconv.ParseInt(fields[2], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return Point{}, err
	}
	if !(value >= 0) || !(quantile >= 0 && quantile <= 1) || count < 0 {
		return Point{}, fmt.Errorf("value %v, percentile %v, count %d: out of range", value, quantile, count)
	}
	return Point{value, quantile, count}, nil
}
