package record

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"coldwave/internal/clock"
)

func TestBinaryRoundTrip(t *testing.T) {
	records := append(anyRecords(500), Record{}, Blank(), Record{Seq: -1, Intended: clock.Never, Sent: clock.Never, FirstByte: clock.Never, Done: clock.Never})
	var b []byte
	for i := range records {
		b = AppendBinary(b, &records[i])
	}
	for i, want := range records {
		got, rest, err := DecodeBinary(b)
		if err != nil || got != want {
			t.Fatalf("record %d: DecodeBinary = %+v, %v, want %+v", i, got, err, want)
		}
		b = rest
	}
	if len(b) != 0 {
		t.Errorf("%d bytes are left, want none", len(b))
	}
}

// A record that was cut anywhere is no record.
func TestBinaryFindsEveryCut(t *testing.T) {
	for _, r := range anyRecords(50) {
		b := AppendBinary(nil, &r)
		for n := range b {
			if got, rest, err := DecodeBinary(b[:n]); !errors.Is(err, ErrBinary) || got != (Record{}) || len(rest) != n {
				t.Fatalf("%d of %d bytes: DecodeBinary = %+v, %v, want ErrBinary", n, len(b), got, err)
			}
		}
	}
}

func TestBinaryRefusesWhatDoesNotExist(t *testing.T) {
	r := anyRecord(rand.New(rand.NewPCG(3, 3)), 1)
	r.Server = Server{Start: Cold, Source: FromHeader}
	good := AppendBinary(nil, &r)
	for _, row := range []struct {
		why  string
		at   int
		byte byte
	}{{"a bit that has no meaning", 0, 0xff}, {"an outcome", 1, byte(Outcomes)}} {
		bad := slices.Clone(good)
		bad[row.at] = row.byte
		if _, _, err := DecodeBinary(bad); !errors.Is(err, ErrBinary) {
			t.Errorf("%s: DecodeBinary = %v, want ErrBinary", row.why, err)
		}
	}
	bad := r
	bad.Server.Start = StartKinds
	if _, _, err := DecodeBinary(AppendBinary(nil, &bad)); !errors.Is(err, ErrBinary) {
		t.Errorf("a start kind: DecodeBinary = %v, want ErrBinary", err)
	}
}

func FuzzDecodeBinary(f *testing.F) {
	for _, r := range anyRecords(5) {
		f.Add(AppendBinary(nil, &r))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, rest, err := DecodeBinary(b)
		if err != nil {
			return
		}
		if len(rest) >= len(b) {
			t.Fatalf("%d of %d bytes are left", len(rest), len(b))
		}
		if again, _, err := DecodeBinary(AppendBinary(nil, &r)); err != nil || again != r {
			t.Errorf("written again: %+v, %v, want %+v", again, err, r)
		}
	})
}

func BenchmarkBinary(b *testing.B) {
	records := anyRecords(1000)
	b.Run("append", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			buf = buf[:0]
			for i := range records {
				buf = AppendBinary(buf, &records[i])
			}
		}
		b.ReportMetric(float64(len(buf))/float64(len(records)), "B/record")
	})
}
