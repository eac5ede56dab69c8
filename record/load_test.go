package record

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseLoad(t *testing.T) {
	cpu := int64(250)
	want := Load{Age: 1000, CPU: &cpu, InFlight: 2, Concurrency: 80, Served: 7, Memory: 5, MemoryPeak: 9}
	text := `{"age_ns":1000,"cpu_ns":250,"in_flight":2,"concurrency":80,"served":7,"memory_bytes":5,"memory_peak_bytes":9,"new":1}`
	if got, err := ParseLoad([]byte(text)); err != nil || !cmp.Equal(got, want) {
		t.Errorf("ParseLoad = %+v, %v, want %+v", got, err, want)
	}
	if got, err := ParseLoad([]byte(`{"cpu_ns":null}`)); err != nil || got.CPU != nil {
		t.Errorf("without CPU: %+v, %v, want none", got, err)
	}
	for _, bad := range []string{"", "ok", "[1]", `{"age_ns":-1}`, `{"cpu_ns":-1}`, `{"in_flight":-1}`, `{"cpu_ns":1.5}`,
		`{"x":"` + strings.Repeat("x", LoadBytes) + `"}`} {
		if _, err := ParseLoad([]byte(bad)); !errors.Is(err, ErrLoad) {
			t.Errorf("ParseLoad(%.20q) = %v, want ErrLoad", bad, err)
		}
	}
}

// FuzzParseLoad: what is read has no negative number, and reads back.
func FuzzParseLoad(f *testing.F) {
	f.Add([]byte(`{"age_ns":1000,"cpu_ns":250,"in_flight":2}`))
	f.Add([]byte(`{"cpu_ns":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := ParseLoad(text)
		if err != nil {
			if !errors.Is(err, ErrLoad) {
				t.Errorf("ParseLoad(%q) = %v, want ErrLoad", text, err)
			}
			return
		}
		if l.Age < 0 || l.CPU != nil && *l.CPU < 0 || l.Memory < 0 {
			t.Errorf("ParseLoad(%q) = %+v", text, l)
		}
		again, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := ParseLoad(again); err != nil || !cmp.Equal(back, l) {
			t.Errorf("ParseLoad(%s) = %+v, %v, want %+v", again, back, err, l)
		}
	})
}
