package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// plain is what the second, independent decoder sees: its own reading of the published V2 format, sharing no code with
// the library.
type plain struct {
	offset  int32
	digits  int32
	lowest  int64
	highest int64
	counts  []int64
}

func decodePlain(t *testing.T, payload string) plain {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(payload)
	if err != nil {
		t.Fatal(err)
	}
	if cookie := binary.BigEndian.Uint32(raw); cookie != 0x1c849314 {
		t.Fatalf("cookie of the compressed form = %#x, want 0x1c849314", cookie)
	}
	if n := binary.BigEndian.Uint32(raw[4:]); int(n) != len(raw)-8 {
		t.Fatalf("length of the compressed form = %d, want %d", n, len(raw)-8)
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[8:]))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if cookie := binary.BigEndian.Uint32(body); cookie != 0x1c849313 {
		t.Fatalf("cookie = %#x, want 0x1c849313", cookie)
	}
	word := func(at int) int64 { return int64(binary.BigEndian.Uint64(body[at:])) }
	if n := binary.BigEndian.Uint32(body[4:]); int(n) != len(body)-40 {
		t.Fatalf("length of the counts = %d, want %d", n, len(body)-40)
	}
	return plain{
		offset: int32(binary.BigEndian.Uint32(body[8:])), digits: int32(binary.BigEndian.Uint32(body[12:])),
		lowest: word(16), highest: word(24), counts: decodeCounts(body[40:]),
	}
}

// decodeCounts reads ZigZag LEB128 numbers (at most nine bytes, the ninth whole): k > 0 is a count, −k stands for k zeros.
func decodeCounts(b []byte) (counts []int64) {
	for len(b) > 0 {
		var u uint64
		for shift := 0; ; shift += 7 {
			c := b[0]
			b = b[1:]
			if shift == 56 {
				u |= uint64(c) << 56
				break
			}
			u |= uint64(c&0x7f) << shift
			if c < 0x80 {
				break
			}
		}
		k := int64(u>>1) ^ -int64(u&1)
		if k < 0 {
			counts = append(counts, make([]int64, -k)...)
			continue
		}
		counts = append(counts, k)
	}
	return counts
}

// lowEdge returns the smallest value of bucket i for the lowest value 1 and three digits: 2048 steps of 1, then 1024
// steps for each doubling.
func lowEdge(i int) int64 {
	if i < 2048 {
		return int64(i)
	}
	double := i/1024 - 1
	return int64(1024+i%1024) << double
}

func TestSecondDecoderAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 20 {
		values := dataSet(r)
		payload, err := of(t, time.Minute, values).encode()
		if err != nil {
			t.Fatal(err)
		}
		got := decodePlain(t, string(payload))
		if got.offset != 0 || got.digits != 3 || got.lowest != 1 || got.highest != int64(time.Minute) {
			t.Fatalf("header = offset %d, digits %d, lowest %d, highest %d, want 0, 3, 1, 1 min", got.offset, got.digits, got.lowest, got.highest)
		}
		if diff := cmp.Diff(countByHand(values), nonZero(got.counts)); diff != "" {
			t.Fatalf("counts by smallest value of the bucket (-want +got):\n%s", diff)
		}
	}
}

func countByHand(values []time.Duration) map[int64]int64 {
	out := map[int64]int64{}
	for _, v := range values {
		step := int64(1)
		for int64(v)/step >= 2048 {
			step *= 2
		}
		out[int64(v)/step*step]++
	}
	return out
}

func nonZero(counts []int64) map[int64]int64 {
	out := map[int64]int64{}
	for i, n := range counts {
		if n > 0 {
			out[lowEdge(i)] = n
		}
	}
	return out
}

// sample is one value for a log.
type sample struct {
	At    time.Duration
	Tag   string
	Value time.Duration
}

func writeLog(w io.Writer, head Head, samples []sample) error {
	l := NewLog(head)
	for _, s := range samples {
		if err := l.Add(s.At, s.Tag, s.Value); err != nil {
			return err
		}
	}
	return l.Write(w)
}

func someSamples() []sample {
	r := rand.New(rand.NewPCG(5, 5))
	samples := make([]sample, 3000)
	for i := range samples {
		tag := []string{"cold", "queued", "warm"}[r.IntN(3)]
		samples[i] = sample{At: time.Duration(r.Int64N(7e9)), Tag: tag, Value: time.Duration(r.Int64N(3e9))}
	}
	return samples
}

// Every interval and tag has one line that counts its samples and no others, in order of time.
func TestLogRoundTrip(t *testing.T) {
	samples := someSamples()
	var b bytes.Buffer
	if err := writeLog(&b, Head{Comment: "run=1"}, samples); err != nil {
		t.Fatal(err)
	}
	left := len(samples)
	last := Interval{From: -1}
	for got, err := range ReadLog(&b) {
		if err != nil {
			t.Fatal(err)
		}
		if got.From < last.From || got.From == last.From && got.Tag <= last.Tag || got.Length != time.Second {
			t.Errorf("line of %s at %v + %v after %s at %v", got.Tag, got.From, got.Length, last.Tag, last.From)
		}
		checkLine(t, got, samples)
		left -= int(got.Counts.Count())
		last = got
	}
	if left != 0 {
		t.Errorf("%d samples are in no line, want 0", left)
	}
}

func checkLine(t *testing.T, got Interval, samples []sample) {
	t.Helper()
	var want []time.Duration
	for _, s := range samples {
		if s.Tag == got.Tag && s.At >= got.From && s.At < got.From+got.Length {
			want = append(want, s.Value)
		}
	}
	slices.Sort(want)
	n := len(want)
	p50, _ := got.Counts.Quantile(0.5)
	if got.Counts.Count() != int64(n) || !isClose(p50.At, want[(n+1)/2-1]) {
		t.Errorf("%s at %v: n %d, p50 %v, want %d, %v", got.Tag, got.From, got.Counts.Count(), p50, n, want[(n+1)/2-1])
	}
	if exact := float64(want[n-1]) / 1e6; got.MaxMS < exact-0.001 || got.MaxMS > exact+0.001 {
		t.Errorf("%s at %v: max %v ms, want %v", got.Tag, got.From, got.MaxMS, exact)
	}
}

// The head, as other tools will read it.
func TestLogIsThisText(t *testing.T) {
	var b bytes.Buffer
	head := Head{Comment: "coldwave 0.1.0\nrun=01JX", Start: time.UnixMilli(1767225600250)}
	if err := writeLog(&b, head, []sample{{At: 2500 * time.Millisecond, Tag: "cold", Value: 940031 * time.Microsecond}}); err != nil {
		t.Fatal(err)
	}
	want := "#[coldwave 0.1.0 run=01JX]\n#[Histogram log format version 1.3]\n#[Units: values=ns]\n" +
		"#[StartTime: 1767225600.250 (seconds since epoch), 2026-01-01T00:00:00Z]\n" +
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\nTag=cold,2.000,1.000,940.031,HISTF"
	if got := b.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 6 {
		t.Errorf("WriteLog = %q, want it to begin with %q and to have 6 lines", got, want)
	}
}

// A virtual run has no wall time, so its log says none.
func TestLogWithoutWallTime(t *testing.T) {
	var b bytes.Buffer
	if err := writeLog(&b, Head{}, nil); err != nil || strings.Contains(b.String(), "StartTime:") {
		t.Errorf("WriteLog of nothing = %v, %q, want no StartTime", err, b.String())
	}
}

func TestWriteLogRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		in   sample
		want error
	}{
		{"no tag", sample{}, ErrTag},
		{"a comma ends a field", sample{Tag: "a,b"}, ErrTag},
		{"a line break ends a line", sample{Tag: "a\nb"}, ErrTag},
		{"before the start", sample{Tag: "a", At: -1}, ErrNegative},
		{"a negative value", sample{Tag: "a", Value: -1}, ErrNegative},
		{"an interval without a number", sample{Tag: "a", At: (math.MaxInt32 + 1) * time.Second}, ErrLog},
	} {
		if err := writeLog(io.Discard, Head{}, []sample{c.in}); !errors.Is(err, c.want) {
			t.Errorf("%s: WriteLog = %v, want %v", c.name, err, c.want)
		}
	}
}

func TestReadLogErrors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"too few fields", "#x\n\n1,2,3\n", "line 3: 3 fields"},
		{"time that is no number", "x,1,1,HISTF\n", `line 1: field 1: "x"`},
		{"time that is not finite", "1,NaN,1,HISTF\n", `line 1: field 2: "NaN"`},
		{"payload that is no Base64", "Tag=a,1,1,1,!\n", "line 1: illegal base64"},
		{"payload that is cut off", "1,1,1,HISTFAAA\n", "line 1: "},
	} {
		var err error
		for _, err = range ReadLog(strings.NewReader(c.in)) {
			if err == nil {
				t.Errorf("%s: ReadLog gave an interval", c.name)
			}
		}
		if !errors.Is(err, ErrLog) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: ReadLog = %v, want an ErrLog with %q", c.name, err, c.want)
		}
	}
}

// A log of another tool, with a tag, a start time and a maximum.
func TestReadLogOfAnother(t *testing.T) {
	const log = "#[Histogram log format version 1.3]\n" +
		"Tag=cold,0.250,1.000,940.031,HISTFAAAADV42pJpmSzMwMBwigECmKE0I4i4NnkJg/0HiMDhYCZOMOQekvRdPyZVJmUwBgQAAP//R6cMZg==\n"
	for got, err := range ReadLog(strings.NewReader(log)) {
		if err != nil {
			t.Fatal(err)
		}
		if got.Tag != "cold" || got.From != 250*time.Millisecond || got.Counts.Count() == 0 {
			t.Errorf("ReadLog = %+v, want cold at 250 ms with values", got)
		}
	}
}

func FuzzReadLog(f *testing.F) {
	var b bytes.Buffer
	if err := writeLog(&b, Head{}, someSamples()[:5]); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Fuzz(func(t *testing.T, in string) {
		for got, err := range ReadLog(strings.NewReader(in)) {
			if err == nil && (got.From < 0 || got.Counts.Count() < 0) {
				t.Fatalf("ReadLog(%q) = %+v", in, got)
			}
		}
	})
}
