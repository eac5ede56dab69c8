package reports

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
)

func TestAxisMapsValuesToPlaces(t *testing.T) {
	for _, row := range []struct {
		why  string
		axis axis
		v    float64
		want px
	}{
		{"the beginning", linear(0, 10, 100, 200), 0, 100},
		{"the middle", linear(0, 10, 100, 200), 5, 150},
		{"upwards on the screen", linear(0, 10, 200, 100), 10, 100},
		{"beyond the end lies on it", linear(0, 10, 100, 200), 99, 200},
		{"no extent is no division by zero", linear(3, 3, 100, 200), 3, 100},
		{"each factor of ten is as long", logarithmic(1, 100, 0, 100), 10, 50},
		{"nothing to show", logarithmic(0, 0, 0, 100), 1, 0},
	} {
		if got := row.axis.at(row.v); math.Abs(float64(got-row.want)) > 1e-9 {
			t.Errorf("%s: at(%v) = %v, want %v", row.why, row.v, got, row.want)
		}
	}
}

func TestTicksAreRoundNumbers(t *testing.T) {
	for _, row := range []struct {
		why  string
		axis axis
		want []float64
	}{
		{"six waves", linear(0, 60, 0, 1), []float64{0, 10, 20, 30, 40, 50, 60}},
		{"begins between two ticks", linear(49.75, 53.05, 0, 1), []float64{50, 50.5, 51, 51.5, 52, 52.5, 53}},
		{"ends go out to 1, 2, 5", logarithmic(105, 2979, 0, 1), []float64{100, 200, 500, 1000, 2000, 5000}},
		{"many powers of ten leave room for no others", logarithmic(1, 1e6, 0, 1), []float64{1, 10, 100, 1e3, 1e4, 1e5, 1e6}},
	} {
		got := row.axis.ticks(8)
		if diff := cmp.Diff(row.want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.why, diff)
		}
	}
}

func TestTickLabels(t *testing.T) {
	for ms, want := range map[float64]string{0: "0 ms", 0.6000000001: "600 us", 100: "100 ms", 1500: "1.5 s"} {
		if got := tickTime(ms); got != want {
			t.Errorf("tickTime(%v) = %q, want %q", ms, got, want)
		}
	}
}

// unpack is the script's reading of the columns, in Go.
func unpack(t *testing.T, columns string, n int) (at, response []float64, seq []int64, kind []byte) {
	t.Helper()
	packed, err := base64.StdEncoding.DecodeString(columns)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil || len(raw) != 13*n {
		t.Fatalf("%d bytes, want %d (%v)", len(raw), 13*n, err)
	}
	var now, s int64
	for i := range n {
		now += int64(binary.LittleEndian.Uint32(raw[4*i:]))
		s += int64(int32(binary.LittleEndian.Uint32(raw[4*(2*n+i):])))
		at, seq = append(at, float64(now)/1e6), append(seq, s)
		response = append(response, float64(binary.LittleEndian.Uint32(raw[4*(n+i):]))/1e3)
	}
	return at, response, seq, raw[12*n:]
}

func TestScatterKeepsEveryRequest(t *testing.T) {
	run := modelRun("fc-burst", "fc-race", burstSizes, 7)
	run.Records[5].Outcome = record.Timeout
	p := pairs([]analysis.Run{run})[0]
	s, err := scatterOf(p, p.Cells[0], 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	at, response, seq, kind := unpack(t, s.Columns, s.N)
	if s.N != len(run.Records) {
		t.Fatalf("%d points, want %d", s.N, len(run.Records))
	}
	for i := range run.Records {
		r := &run.Records[i]
		if at[i] != inSeconds(r.Intended) || math.Abs(response[i]-inMillis(r.Response())) > 0.001 || seq[i] != r.Seq {
			t.Errorf("point %d = %v s, %v ms, request %d; want %v, %v, %d", i, at[i], response[i], seq[i], r.Intended, r.Response(), r.Seq)
		}
		if want := pointCode(r); kind[i] != want {
			t.Errorf("point %d has code %d, want %d", i, kind[i], want)
		}
	}
	if kind[5] != failedPoint {
		t.Errorf("a timeout has code %d, want %d", kind[5], failedPoint)
	}
}

func TestScatterLeavesOutWhatWasNeverSent(t *testing.T) {
	run := modelRun("p", "fc-race", []int{3}, 1)
	run.Records[0].Outcome = record.Dropped
	run.Records[1].Done = clock.Never
	if got := len(plotted(&run)); got != 1 {
		t.Errorf("%d points, want 1", got)
	}
}

func TestBothSidesShareTheirAxes(t *testing.T) {
	v := fixtureVerification()
	for _, p := range pairs(v.Runs) {
		a, errA := scatterOf(p, p.Cells[0], 0, 1000)
		b, errB := scatterOf(p, p.Cells[1], 0, 1000)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if a.YMin != b.YMin || a.YMax != b.YMax || a.XMax != b.XMax {
			t.Errorf("%s: axes %v–%v × %v and %v–%v × %v differ", p.Pattern, a.YMin, a.YMax, a.XMax, b.YMin, b.YMax, b.XMax)
		}
	}
}

func TestThinningKeepsWhatIsRare(t *testing.T) {
	run := modelRun("p", "fc-race", []int{50}, 1)
	for len(run.Records) < 10_000 {
		r := run.Records[0]
		r.Server.Start, r.Outcome = record.Warm, record.OK
		r.Done = r.Intended.Add(time.Duration(100+len(run.Records)%20) * time.Millisecond)
		run.Records = append(run.Records, r)
	}
	rare := func(all []*record.Record) (n int) {
		for _, r := range all {
			if r.Server.Start != record.Warm || r.Response() >= time.Second {
				n++
			}
		}
		return n
	}
	all := plotted(&run)
	kept := thin(all, 2000)
	if len(kept) > 2600 || len(kept) < 1500 {
		t.Errorf("%d of %d kept, want about 2000", len(kept), len(all))
	}
	if rare(kept) != rare(all) {
		t.Errorf("%d rare requests kept, want all %d", rare(kept), rare(all))
	}
	if got := len(thin(all, len(all))); got != len(all) {
		t.Errorf("%d kept within the limit, want all", got)
	}
}

func TestThinnedChartSaysSo(t *testing.T) {
	var b bytes.Buffer
	s := fixtureSingle()
	if err := SingleHTML(&b, s, Limits{Points: 25}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "points are drawn: the fast warm ones are thinned out") {
		t.Error("the page does not say that points are missing")
	}
}

// The curve of n requests ends at q = 1 − 1/n: nearest rank knows no more.
func TestPercentileCurveEndsWithItsSample(t *testing.T) {
	p := panel{&drawing{}, linear(0, 3, 0, 300), linear(0, 100, 100, 0)}
	for _, n := range []int{1, 2, 10, 100} {
		sample := make([]time.Duration, n)
		for i := range sample {
			sample[i] = time.Duration(i+1) * time.Millisecond
		}
		points := p.curve(sample)
		end := points[len(points)-1]
		if want := px(100 * math.Log10(float64(n))); math.Abs(float64(end.x-want)) > 1e-6 {
			t.Errorf("n=%d: the curve ends at %v, want %v", n, end.x, want)
		}
		if want := p.y.at(float64(n)); end.y != want {
			t.Errorf("n=%d: it ends at the height %v, want the maximum's %v", n, end.y, want)
		}
	}
}

func TestLongPercentileCurveKeepsItsTail(t *testing.T) {
	p := panel{&drawing{}, linear(0, 6, 0, 600), linear(0, 1, 1, 0)}
	points := p.curve(make([]time.Duration, 1_000_000))
	if len(points) > 2*curvePoints {
		t.Errorf("%d points, want about %d", len(points), curvePoints)
	}
	if end := points[len(points)-1].x; math.Abs(float64(end)-600) > 1e-6 {
		t.Errorf("the curve ends at %v, want 600", end)
	}
}

func TestLevelsAddUp(t *testing.T) {
	run := modelRun("fc-burst", "fc-race", burstSizes, 1)
	end := clock.Instant(run.Schedule.Length)
	all := levelsOf(livesOf(&run), end)
	if got := [...]int{peak(all.starting), peak(all.busy), peak(all.idle), peak(all.waiting)}; got != [...]int{18, 2, 20, 18} {
		t.Errorf("peaks of starting, busy, idle and waiting = %v, want 18, 2, 20, 18", got)
	}
	for name, sums := range map[string][]level{"starting": all.starting, "busy": all.busy, "waiting": all.waiting} {
		if last := sums[len(sums)-1].n; last != 0 {
			t.Errorf("%d %s at the end, want 0", last, name)
		}
		for _, s := range sums {
			if s.n < 0 {
				t.Errorf("%d %s at %v", s.n, name, s.at)
			}
		}
	}
}

// The enlarged part shows the largest wave until its starts are ready, and not the wave after it.
func TestEnlargedPartHoldsTheLargestWave(t *testing.T) {
	run := modelRun("fc-burst", "fc-race", burstSizes, 1)
	near := around(&run, span{0, clock.Instant(70 * time.Second)})
	if near.from != clock.Instant(29750*time.Millisecond) {
		t.Errorf("begins at %v, want 29.75s", near.from)
	}
	for _, i := range run.Instances[2:] {
		if i.Ready > near.to {
			t.Errorf("ends at %v, before instance %d is ready at %v", near.to, i.ID, i.Ready)
		}
	}
	if near.to >= clock.Instant(40*time.Second) {
		t.Errorf("ends at %v, in the next wave", near.to)
	}
	if got := around(&analysis.Run{}, span{0, 5}); got != (span{0, 5}) {
		t.Errorf("without waves = %v, want the whole run", got)
	}
}

func TestEndLabelsDoNotOverlap(t *testing.T) {
	var l labelColumn
	for _, y := range []px{200, 198, 100, 197} {
		l.add(point{500, y}, side{Name: "x"})
	}
	d := &drawing{}
	l.draw(d, axis{from: 200, to: 0})
	for i, a := range d.Shapes {
		for _, b := range d.Shapes[:i] {
			if gap := math.Abs(float64(a.Y - b.Y)); gap < 12 {
				t.Errorf("two labels are %v apart", gap)
			}
		}
	}
}

func TestBusyCountsInstancesAndNotExecutions(t *testing.T) {
	s := func(from, to int) span { return span{clock.Instant(from), clock.Instant(to)} }
	for _, row := range []struct {
		why  string
		jobs []span
		want []span
	}{
		{"never", nil, nil},
		{"one after the other", []span{s(10, 20), s(30, 40)}, []span{s(10, 20), s(30, 40)}},
		{"clocks differ, so neighbours overlap", []span{s(10, 21), s(20, 30)}, []span{s(10, 30)}},
		{"one within another", []span{s(10, 40), s(20, 30)}, []span{s(10, 40)}},
		{"not before it was ready and not after the end", []span{s(2, 8), s(90, 200)}, []span{s(5, 8), s(90, 100)}},
		{"nothing is left of it", []span{s(1, 4)}, nil},
	} {
		l := life{Instance: record.Instance{Ready: 5, Stopped: clock.Never}}
		for _, j := range row.jobs {
			l.jobs = append(l.jobs, job{span: j})
		}
		got := l.busy(100)
		if diff := cmp.Diff(row.want, got, cmp.AllowUnexported(span{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.why, diff)
		}
	}
}
