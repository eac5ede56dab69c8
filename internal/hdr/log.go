package hdr

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
)

// Errors of histogram logs.
var (
	ErrTag = errors.New("malformed tag")           // empty, or with a comma, a space or a control character
	ErrLog = errors.New("malformed histogram log") // a log that cannot be read
)

// DefaultInterval is the length of an interval in a log.
const DefaultInterval = time.Second

// maxLine is the longest line of a log that is read, in bytes.
const maxLine = 16 << 20

// Sample is one value of a log.
type Sample struct {
	At    time.Duration // when it was known, since the start of the log; ≥ 0
	Tag   string        // such as "cold"
	Value time.Duration // ≥ 0
}

// Head is what a log says about itself.
type Head struct {
	Comment  string        // one line, such as "coldwave 0.1.0 run=01JX pattern=fc-ramp"
	Start    time.Time     // wall time of the start; zero: none, as in virtual runs
	Interval time.Duration // length of an interval; 0: DefaultInterval
}

// WriteLog writes the samples as a histogram log of format 1.3: for each interval and tag one line with a V2 payload, in
// nanoseconds. Intervals without a sample have no line. The range fits the largest sample, so nothing overflows.
func WriteLog(w io.Writer, head Head, samples []Sample) error {
	if head.Interval <= 0 {
		head.Interval = DefaultInterval
	}
	sorted, longest, err := prepare(samples, head.Interval)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	writeHead(out, head)
	for len(sorted) > 0 {
		n := sameLine(sorted, head.Interval)
		if err := writeInterval(out, sorted[:n], head.Interval, longest); err != nil {
			return err
		}
		sorted = sorted[n:]
	}
	return out.Flush()
}

func prepare(samples []Sample, interval time.Duration) (sorted []Sample, longest time.Duration, err error) {
	for _, s := range samples {
		if s.Tag == "" || strings.ContainsFunc(s.Tag, func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f }) {
			return nil, 0, fmt.Errorf("%w: %q", ErrTag, s.Tag)
		}
		if s.At < 0 || s.Value < 0 {
			return nil, 0, fmt.Errorf("%w: value %v at %v", ErrNegative, s.Value, s.At)
		}
		longest = max(longest, s.Value)
	}
	sorted = slices.Clone(samples)
	slices.SortStableFunc(sorted, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.At/interval, b.At/interval), cmp.Compare(a.Tag, b.Tag))
	})
	return sorted, longest, nil
}

func writeHead(w io.Writer, head Head) {
	if head.Comment != "" {
		fmt.Fprintf(w, "#[%s]\n", strings.Map(printable, head.Comment))
	}
	fmt.Fprint(w, "#[Histogram log format version 1.3]\n#[Units: values=ns]\n")
	if !head.Start.IsZero() {
		ms := head.Start.UnixMilli()
		fmt.Fprintf(w, "#[StartTime: %d.%03d (seconds since epoch), %s]\n", ms/1000, ms%1000, head.Start.UTC().Format(time.RFC3339))
	}
	fmt.Fprint(w, `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`+"\n")
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return ' '
	}
	return r
}

// sameLine returns how many of the leading samples belong to the first one's interval and tag.
func sameLine(sorted []Sample, interval time.Duration) int {
	first := sorted[0]
	n := slices.IndexFunc(sorted, func(s Sample) bool { return s.At/interval != first.At/interval || s.Tag != first.Tag })
	if n < 0 {
		return len(sorted)
	}
	return n
}

func writeInterval(w io.Writer, samples []Sample, length, longest time.Duration) error {
	h := New(longest)
	for _, s := range samples {
		if err := h.Record(s.Value); err != nil {
			return err
		}
	}
	payload, err := h.encode()
	if err != nil {
		return err
	}
	from := samples[0].At.Truncate(length)
	_, err = fmt.Fprintf(w, "Tag=%s,%.3f,%.3f,%.3f,%s\n", samples[0].Tag, from.Seconds(), length.Seconds(), float64(h.max)/1e6, payload)
	return err
}

// encode returns the Base64 of the compressed V2 form, after it has seen that it decodes to the same counts: a payload
// that nobody can read must not be reported as written.
func (h *Histogram) encode() ([]byte, error) {
	payload, err := h.buckets.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, fmt.Errorf("encode %d values: %w", h.count, err)
	}
	again, err := hdrhistogram.Decode(payload)
	if err != nil {
		return nil, fmt.Errorf("encode %d values: %w", h.count, err)
	}
	if !again.Equals(h.buckets) {
		return nil, fmt.Errorf("encode %d values: the encoded form has %d", h.count, again.TotalCount())
	}
	return payload, nil
}

// Interval is one line of a log. Minimum, maximum and sum of its counts are those of the buckets, not exact.
type Interval struct {
	Tag    string
	From   time.Duration // since the start of the log
	Length time.Duration
	MaxMS  float64 // of the line, in milliseconds; informative only
	Counts *Histogram
}

// ReadLog reads a histogram log with V2 payloads, line by line; it ends at the first error, which wraps ErrLog.
func ReadLog(r io.Reader) iter.Seq2[Interval, error] {
	return func(yield func(Interval, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		n := 0
		for lines.Scan() {
			n++
			text := lines.Text()
			if text == "" || text[0] == '#' || text[0] == '"' {
				continue
			}
			interval, err := parseInterval(text)
			if err != nil {
				err = fmt.Errorf("%w: line %d: %w", ErrLog, n, err)
			}
			if !yield(interval, err) || err != nil {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Interval{}, fmt.Errorf("%w: line %d: %w", ErrLog, n+1, err))
		}
	}
}

func parseInterval(line string) (Interval, error) {
	var out Interval
	if tag, ok := strings.CutPrefix(line, "Tag="); ok {
		out.Tag, line, _ = strings.Cut(tag, ",")
	}
	fields := strings.Split(line, ",")
	if len(fields) != 4 {
		return out, fmt.Errorf("%d fields, want 4", len(fields))
	}
	var numbers [3]float64
	for i := range numbers {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil || !(v >= 0 && v < 1e9) {
			return out, fmt.Errorf("field %d: %q is no number of seconds", i+1, fields[i])
		}
		numbers[i] = v
	}
	out.From, out.Length, out.MaxMS = seconds(numbers[0]), seconds(numbers[1]), numbers[2]
	var err error
	out.Counts, err = decode(fields[3])
	return out, err
}

func seconds(s float64) time.Duration { return time.Duration(s*1e3+0.5) * time.Millisecond }

func decode(payload string) (*Histogram, error) {
	buckets, err := hdrhistogram.Decode([]byte(payload))
	if err != nil {
		return nil, err
	}
	h := &Histogram{buckets: buckets, limit: time.Duration(buckets.HighestTrackableValue())}
	if buckets.TotalCount() == 0 {
		return h, nil
	}
	h.note(time.Duration(buckets.Min()), time.Duration(buckets.Max()), buckets.TotalCount())
	sum, _ := new(big.Float).Mul(big.NewFloat(buckets.Mean()), new(big.Float).SetInt64(h.count)).Int(nil)
	low := new(big.Int).And(sum, new(big.Int).SetUint64(1<<64-1)).Uint64()
	h.add(new(big.Int).Rsh(sum, 64).Uint64(), low)
	return h, nil
}
