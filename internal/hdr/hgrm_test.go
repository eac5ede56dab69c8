package hdr

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Ten values, by hand: each line has the value of nearest rank and how many values are up to it.
func TestHgrmIsThisText(t *testing.T) {
	var values []time.Duration
	for i := range 9 {
		values = append(values, time.Duration(i+1)*time.Microsecond)
	}
	var b bytes.Buffer
	if err := WriteHgrm(&b, of(t, time.Second, append(values, 940*time.Millisecond))); err != nil {
		t.Fatal(err)
	}
	want := `       Value     Percentile TotalCount 1/(1-Percentile)

       0.001 0.000000000000          1           1.00
       0.001 0.100000000000          1           1.11
       0.002 0.200000000000          2           1.25
       0.003 0.300000000000          3           1.43
       0.004 0.400000000000          4           1.67
       0.005 0.500000000000          5           2.00
       0.006 0.550000000000          6           2.22
       0.006 0.600000000000          6           2.50
       0.007 0.650000000000          7           2.86
       0.007 0.700000000000          7           3.33
       0.008 0.750000000000          8           4.00
       0.008 0.775000000000          8           4.44
       0.008 0.800000000000          8           5.00
       0.009 0.825000000000          9           5.71
       0.009 0.850000000000          9           6.67
       0.009 0.875000000000          9           8.00
       0.009 0.887500000000          9           8.89
       0.009 0.900000000000          9          10.00
     940.000 0.912500000000         10          11.43
     940.000 1.000000000000         10
`
	if got, _, _ := strings.Cut(b.String(), "#["); got != want {
		t.Errorf("WriteHgrm (-want +got):\n%s", cmp.Diff(want, got))
	}
	for _, footer := range []string{"#[Mean    =       94.004, ", "#[Max     =      940.000, Total count    =           10]", "#[Buckets =           20, SubBuckets     =         2048]", "#[Units: ms]"} {
		if !strings.Contains(b.String(), footer) {
			t.Errorf("WriteHgrm has no %q:\n%s", footer, b.String())
		}
	}
}

// What is read again are quantiles within the precision, and the last line is the exact maximum and count.
func TestHgrmRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 30 {
		values := dataSet(r)
		limit := []time.Duration{time.Minute, 100 * time.Millisecond}[r.IntN(2)]
		var b bytes.Buffer
		if err := WriteHgrm(&b, of(t, limit, values)); err != nil {
			t.Fatal(err)
		}
		points, err := ReadHgrm(&b)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(values)
		checkPoints(t, points, values, limit)
	}
}

func checkPoints(t *testing.T, points []Point, sorted []time.Duration, limit time.Duration) {
	t.Helper()
	n := len(sorted)
	last := points[len(points)-1]
	if last.Quantile != 1 || last.Count != int64(n) || math.Abs(last.Value-millis(sorted[n-1])) > 0.001 {
		t.Errorf("last line = %+v, want quantile 1, count %d, value %v", last, n, sorted[n-1])
	}
	for _, p := range points {
		exact := sorted[Rank(p.Quantile, int64(n))-1]
		if over := p.Value - millis(exact); exact <= limit && (over < -0.001 || over > 0.001+relative*millis(exact)) {
			t.Errorf("n %d: value at %v = %v ms, want %v", n, p.Quantile, p.Value, exact)
		}
	}
}

func TestHgrmOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := WriteHgrm(&b, New(time.Second)); err != nil {
		t.Fatal(err)
	}
	if points, err := ReadHgrm(&b); len(points) != 0 || err != nil {
		t.Errorf("ReadHgrm = %v, %v, want no line", points, err)
	}
}

func TestHgrmSaysWhatOverflowed(t *testing.T) {
	var b bytes.Buffer
	if err := WriteHgrm(&b, of(t, time.Second, []time.Duration{1, 2 * time.Second, 3 * time.Second})); err != nil {
		t.Fatal(err)
	}
	if want := "#[Overflow: 2 values above 1000.000]"; !strings.Contains(b.String(), want) {
		t.Errorf("WriteHgrm has no %q:\n%s", want, b.String())
	}
}

func TestReadHgrmOfOthers(t *testing.T) {
	want := []Point{{20.015, 0, 1}, {940.031, 1, 100}}
	for name, in := range map[string]string{
		"Java":    "       Value     Percentile TotalCount 1/(1-Percentile)\n\n      20.015 0.000000000000          1           1.00\n     940.031 1.000000000000        100\n#[Max = 1]\n",
		"wrk2, C": "  Value   Percentile   TotalCount 1/(1-Percentile)\n\n 20.015 0.000000 1 1.00\n 940.031 1.000000 100 inf\n",
		"vegeta":  "Value(ms)  Percentile  TotalCount  1/(1-Percentile)\n20.015 0.0 1 1.0\n940.031 1.0 100 Infinity\n",
	} {
		got, err := ReadHgrm(strings.NewReader(in))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: ReadHgrm (-want +got): %v\n%s", name, err, diff)
		}
	}
	for _, in := range []string{"1 2\n", "1 2 3\n", "1 0.5 x\n", "-1 0.5 1\n", "1 0.5 1 1 1\n"} {
		if got, err := ReadHgrm(strings.NewReader(in)); !errors.Is(err, ErrHgrm) {
			t.Errorf("ReadHgrm(%q) = %v, %v, want ErrHgrm", in, got, err)
		}
	}
}
