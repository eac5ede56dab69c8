package reports

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestEveryFormatWritesBothResults(t *testing.T) {
	var names []string
	for _, f := range Formats() {
		if slices.Contains(names, f.Name) || !strings.HasPrefix(f.Extension, ".") || f.MediaType == "" {
			t.Errorf("format %q, extension %q, media type %q: not usable", f.Name, f.Extension, f.MediaType)
		}
		names = append(names, f.Name)
		var v, s bytes.Buffer
		if err := f.Verification(&v, fixtureVerification()); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		if err := f.Single(&s, fixtureSingle()); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		for what, b := range map[string]*bytes.Buffer{"5 of 6 claims agree": &v, "fc-burst": &s} {
			if !strings.Contains(b.String(), what) {
				t.Errorf("%s: %q is not in it", f.Name, what)
			}
		}
		if strings.Contains(v.String()+s.String(), "NaN(") {
			t.Errorf("%s holds NaN", f.Name)
		}
	}
}

// The same result gives the same bytes: nothing depends on the order of a map.
func TestEveryFormatIsStable(t *testing.T) {
	for _, f := range Formats() {
		var first []byte
		for range 5 {
			var b bytes.Buffer
			if err := f.Verification(&b, fixtureVerification()); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = b.Bytes()
			}
			if !bytes.Equal(first, b.Bytes()) {
				t.Errorf("%s differs from one time to the next", f.Name)
			}
		}
	}
}
