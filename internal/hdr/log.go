package hdr

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
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

// Head is what a log says about itself.
type Head struct {
	Comment  string        // one line, such as "coldwave 0.1.0 run=01JX pattern=fc-ramp"
	Start    time.Time     // wall time of the start; zero: none, as in virtual runs
	Interval time.Duration // length of an interval; 0: DefaultInterval
}

// Log collects values until it is written: 16 bytes a value, in any order.
type Log struct {
	head    Head
	tags    []string
	byTag   map[string]int32
	values  []logged
	longest time.Duration
}

// logged is one value: its interval and tag make its line.
type logged struct {
	value    time.Duration
	interval int32
	tag      int32 // index of tags
}

// NewLog returns an empty log.
func NewLog(head Head) *Log {
	if head.Interval <= 0 {
		head.Interval = DefaultInterval
	}
	return &Log{head: head, byTag: map[string]int32{}}
}

// Add takes a value that was known at an instant since the start of the log, under a tag such as "cold". Errors wrap
// ErrTag or ErrNegative; a value so late that its interval has no number of 31 bits is ErrLog.
func (l *Log) Add(at time.Duration, tag string, value time.Duration) error {
	t, known := l.byTag[tag]
	if !known {
		if tag == "" || strings.ContainsFunc(tag, func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f }) {
			return fmt.Errorf("%w: %q", ErrTag, tag)
		}
		t = int32(len(l.tags))
		l.tags, l.byTag[tag] = append(l.tags, tag), t
	}
	if at < 0 || value < 0 {
		return fmt.Errorf("%w: value %v at %v", ErrNegative, value, at)
	}
	if at/l.head.Interval > math.MaxInt32 {
		return fmt.Errorf("%w: a value at %v", ErrLog, at)
	}
	l.longest = max(l.longest, value)
	l.values = append(l.values, logged{value, int32(at / l.head.Interval), t})
	return nil
}

// Write writes the log in format 1.3: for each interval and tag, in this order, one line with a V2 payload, in
// nanoseconds. Intervals without a value have no line. The range fits the largest value, so nothing overflows.
func (l *Log) Write(w io.Writer) error {
	rank := l.ranks()
	slices.SortFunc(l.values, func(a, b logged) int {
		return cmp.Or(cmp.Compare(a.interval, b.interval), cmp.Compare(rank[a.tag], rank[b.tag]))
	})
	out := bufio.NewWriter(w)
	writeHead(out, l.head)
	for left := l.values; len(left) > 0; {
		n := sameLine(left)
		if err := l.writeInterval(out, left[:n]); err != nil {
			return err
		}
		left = left[n:]
	}
	return out.Flush()
}

// ranks returns the place of each tag in alphabetical order.
func (l *Log) ranks() []int {
	sorted := slices.Sorted(slices.Values(l.tags))
	rank := make([]int, len(l.tags))
	for i, tag := range l.tags {
		rank[i], _ = slices.BinarySearch(sorted, tag)
	}
	return rank
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

// sameLine returns how many of the leading values belong to the first one's interval and tag.
func sameLine(sorted []logged) int {
	first := sorted[0]
	n := slices.IndexFunc(sorted, func(v logged) bool { return v.interval != first.interval || v.tag != first.tag })
	if n < 0 {
		return len(sorted)
	}
	return n
}

func (l *Log) writeInterval(w io.Writer, values []logged) error {
	h := New(l.longest)
	for _, v := range values {
		if err := h.Record(v.value); err != nil {
			return err
		}
	}
	payload, err := h.encode()
	if err != nil {
		return err
	}
	from := time.Duration(values[0].interval) * l.head.Interval
	_, err = fmt.Fprintf(w, "Tag=%s,%.3f,%.3f,%.3f,%s\n", l.tags[values[0].tag], from.Seconds(), l.head.Interval.Seconds(), float64(h.max)/1e6, payload)
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
