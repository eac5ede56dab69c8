package hdr

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// relative is what three significant digits promise: the value is at most this part of itself above the exact one.
const relative = 1e-3

func TestRank(t *testing.T) {
	for _, c := range []struct {
		name string
		q    float64
		n    int64
		want int64
	}{
		{"0.07·100 is 7 although floating point gives more", 0.07, 100, 7},
		{"0.29·100 is 29 although floating point gives less", 0.29, 100, 29},
		{"p99 of 100 is the second largest", 0.99, 100, 99},
		{"p99 of 99 is the largest", 0.99, 99, 99},
		{"p99 of one value is that value", 0.99, 1, 1},
		{"p50 of two is the smaller", 0.5, 2, 1},
		{"p50 of three is the middle", 0.5, 3, 2},
		{"0 is the smallest", 0, 9, 1},
		{"1 is the largest", 1, 9, 9},
		{"above 1 counts as 1", 2, 9, 9},
		{"below 0 counts as 0", -1, 9, 1},
		{"not a number counts as 0", math.NaN(), 9, 1},
		{"p99.9 of a million", 0.999, 1_000_000, 999_000},
		{"the largest count", 1, math.MaxInt64, math.MaxInt64},
	} {
		if got := Rank(c.q, c.n); got != c.want {
			t.Errorf("%s: Rank(%v, %d) = %d, want %d", c.name, c.q, c.n, got, c.want)
		}
	}
}

// dataSet draws up to 3,000 durations from one of five shapes, among them the two humps of cold and warm.
func dataSet(r *rand.Rand) []time.Duration {
	out := make([]time.Duration, 1+r.IntN(3000))
	shape := r.IntN(5)
	for i := range out {
		ns := 0.0
		switch shape {
		case 0:
			ns = r.Float64() * 3e9
		case 1:
			ns = math.Exp(18 + 2*r.NormFloat64())
		case 2:
			ns = 105e6 + 15e6*r.Float64() + float64(r.IntN(10)/9)*1.9e9
		case 3:
			ns = float64(r.IntN(20))
		case 4:
			ns = 1e8
		}
		out[i] = min(time.Duration(ns), 59*time.Second)
	}
	return out
}

func of(t testing.TB, limit time.Duration, values []time.Duration) *Histogram {
	t.Helper()
	h := New(limit)
	for _, v := range values {
		if err := h.Record(v); err != nil {
			t.Fatalf("Record(%v): %v", v, err)
		}
	}
	return h
}

// 100 random data sets: every quantile lies within 10⁻³ of the exact order statistic, and the totals are exact.
func TestQuantilesAreCloseToTheOrderStatistics(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for set := range 100 {
		values := dataSet(r)
		h := of(t, time.Minute, values)
		slices.Sort(values)
		for _, q := range []float64{0, 0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
			want := values[Rank(q, int64(len(values)))-1]
			got, ok := h.Quantile(q)
			if !ok || got.Beyond || !isClose(got.At, want) {
				t.Errorf("set %d, n %d: Quantile(%v) = %v, %v, want %v + 0.1 %%", set, len(values), q, got, ok, want)
			}
		}
		checkTotals(t, h, values)
	}
}

func isClose(got, exact time.Duration) bool {
	return got >= exact && float64(got-exact) <= relative*float64(exact)
}

// The rule above refuses what two significant digits would give, and a quantile of the rank below.
func TestTheToleranceBites(t *testing.T) {
	for _, got := range []time.Duration{time.Second + 2*time.Millisecond, time.Second - 1} {
		if isClose(got, time.Second) {
			t.Errorf("isClose(%v, 1s) = true, want false", got)
		}
	}
}

func checkTotals(t *testing.T, h *Histogram, sorted []time.Duration) {
	t.Helper()
	sum := new(big.Int)
	for _, v := range sorted {
		sum.Add(sum, big.NewInt(int64(v)))
	}
	low, _ := h.Min()
	high, _ := h.Max()
	if n := int64(len(sorted)); h.Count() != n || low != sorted[0] || high != sorted[n-1] || h.Sum().Cmp(sum) != 0 {
		t.Errorf("count, min, max, sum = %d, %v, %v, %v, want %d, %v, %v, %v", h.Count(), low, high, h.Sum(), n, sorted[0], sorted[n-1], sum)
	}
	want := new(big.Int).Div(sum, big.NewInt(int64(len(sorted))))
	if mean, _ := h.Mean(); int64(mean) != want.Int64() {
		t.Errorf("mean = %d, want %v", mean, want)
	}
}

// merge(a, b) = histogram(a + b), bucket for bucket, with all exact totals.
func TestMergeIsTheHistogramOfBoth(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		a, b := dataSet(r), dataSet(r)
		limit := []time.Duration{time.Minute, 50 * time.Millisecond}[r.IntN(2)] // the second makes most values overflow
		merged := of(t, limit, a)
		if err := merged.Merge(of(t, limit, b)); err != nil {
			t.Fatal(err)
		}
		both := append(slices.Clone(a), b...)
		whole := of(t, limit, both)
		if !merged.buckets.Equals(whole.buckets) || merged.over != whole.over {
			t.Fatalf("merge of %d and %d values differs from the histogram of all", len(a), len(b))
		}
		slices.Sort(both)
		checkTotals(t, merged, both)
	}
}

func TestMergeRefuses(t *testing.T) {
	h := of(t, time.Second, []time.Duration{1})
	full := New(time.Second)
	if err := full.RecordN(5, math.MaxInt64); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		from *Histogram
		want error
	}{
		{"another range would move values between inside and overflow", New(time.Minute), ErrRange},
		{"counts that do not fit", full, ErrFull},
	} {
		if err := h.Merge(c.from); !errors.Is(err, c.want) || h.Count() != 1 {
			t.Errorf("%s: Merge = %v, count %d, want %v, count 1", c.name, err, h.Count(), c.want)
		}
	}
	if err := New(time.Second).Merge(New(time.Second)); err != nil {
		t.Errorf("Merge of empty ones = %v, want nil", err)
	}
}

// A slow target beyond the range: nothing vanishes, and quantiles there are limits, not values.
func TestOverflowIsCounted(t *testing.T) {
	values := append(slices.Repeat([]time.Duration{100 * time.Millisecond}, 97), 1500*time.Millisecond, 1600*time.Millisecond, 1700*time.Millisecond)
	h := of(t, time.Second, values)
	if h.Count() != 100 || h.Overflow() != 3 {
		t.Errorf("count, overflow = %d, %d, want 100, 3", h.Count(), h.Overflow())
	}
	for q, want := range map[float64]string{0.98: ">= 1s", 0.99: ">= 1s", 1: "1.7s"} {
		if v, _ := h.Quantile(q); v.String() != want {
			t.Errorf("Quantile(%v) = %v, want %s", q, v, want)
		}
	}
	if v, _ := h.Quantile(0.97); v.Beyond || !isClose(v.At, 100*time.Millisecond) {
		t.Errorf("Quantile(0.97) = %v, want 100ms", v)
	}
	checkTotals(t, h, values)
}

func TestTheLimitItselfIsInside(t *testing.T) {
	for _, limit := range []time.Duration{MinLimit, 2047, 2048, 4096, time.Second, time.Hour, math.MaxInt64} {
		h := of(t, limit, []time.Duration{limit, limit})
		if v, _ := h.Quantile(0.5); h.Overflow() != 0 || v.At != limit {
			t.Errorf("limit %v: overflow %d, median %v, want 0 and the limit", limit, h.Overflow(), v)
		}
	}
}

// The maximum is the maximum, not the upper edge of its bucket, and no percentile lies above it.
func TestMaximumIsExact(t *testing.T) {
	h := of(t, time.Minute, []time.Duration{59_999_999_999, 59_999_999_998})
	high, _ := h.Max()
	p50, _ := h.Quantile(0.5)
	if high != 59_999_999_999 || p50.At > high {
		t.Errorf("max, p50 = %d, %d, want 59999999999 and no more", high, p50.At)
	}
}

// 100 million values of 1000 s: the sum exceeds 64 bits, the mean does not change.
func TestSumExceeds64Bits(t *testing.T) {
	h := New(time.Hour)
	if err := h.RecordN(1000*time.Second, 100_000_000); err != nil {
		t.Fatal(err)
	}
	if mean, _ := h.Mean(); mean != 1000*time.Second || h.Sum().String() != "100000000000000000000" {
		t.Errorf("mean, sum = %v, %v, want 1000s, 10^20", mean, h.Sum())
	}
}

func TestNothingRecordedHasNoValue(t *testing.T) {
	h := New(time.Second)
	if err := h.RecordN(5, 0); err != nil {
		t.Fatal(err)
	}
	_, quantile := h.Quantile(0.5)
	_, low := h.Min()
	_, high := h.Max()
	_, mean := h.Mean()
	if quantile || low || high || mean || h.Count() != 0 {
		t.Errorf("an empty histogram has quantile %v, min %v, max %v, mean %v, want none", quantile, low, high, mean)
	}
}

func TestRecordRefuses(t *testing.T) {
	h := New(time.Second)
	for _, c := range []struct {
		name string
		d    time.Duration
		n    int64
		want error
	}{
		{"a negative duration", -1, 1, ErrNegative},
		{"a negative number of times", 1, -1, ErrNegative},
	} {
		if err := h.RecordN(c.d, c.n); !errors.Is(err, c.want) || h.Count() != 0 {
			t.Errorf("%s: RecordN = %v, count %d, want %v, count 0", c.name, err, h.Count(), c.want)
		}
	}
	if err := errors.Join(h.RecordN(1, math.MaxInt64), h.Record(1)); !errors.Is(err, ErrFull) || h.Count() != math.MaxInt64 {
		t.Errorf("one more than 2^63−1: %v, count %d, want ErrFull and the count kept", err, h.Count())
	}
}

func BenchmarkMerge(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	h, from := New(time.Minute), of(b, time.Minute, dataSet(r))
	b.ReportAllocs()
	for b.Loop() {
		if err := h.Merge(from); err != nil {
			b.Fatal(err)
		}
	}
}
