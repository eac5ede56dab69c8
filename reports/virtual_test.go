package reports

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// In virtual time nothing of the host or of the moment is in a document: two calls on two hosts give the same bytes. On
// the wire the same facts are there.
func TestVirtualDocumentsKnowNoHost(t *testing.T) {
	elsewhere := func(m *Meta, elapsed *time.Duration) {
		m.Go, m.OS, m.CPUs, m.Began = "go9.99", "plan9/386", 64, m.Began.Add(time.Hour)
		*elapsed += time.Minute
	}
	single := func(driver string, change bool) string {
		s := fixtureSingle()
		s.Run.Driver = driver
		if change {
			elsewhere(&s.Meta, &s.Elapsed)
		}
		return string(singleJSON(t, s))
	}
	verification := func(driver string, change bool) string {
		v := fixtureVerification()
		v.Driver = driver
		if change {
			elsewhere(&v.Meta, &v.Elapsed)
			v.ID = "01JX9Z"
		}
		return string(verificationJSON(t, v))
	}
	for _, row := range []struct {
		name   string
		doc    func(driver string, change bool) string
		schema string
	}{{"run", single, RunSchema}, {"verification", verification, VerifySchema}} {
		if row.doc("virtual", false) != row.doc("virtual", true) {
			t.Errorf("%s in virtual time: another host gives another document", row.name)
		}
		if row.doc("wire", false) == row.doc("wire", true) {
			t.Errorf("%s on the wire: another host gives the same document", row.name)
		}
		if doc := row.doc("virtual", false); !strings.Contains(doc, `"elapsed_ns": null`) || !strings.Contains(doc, `"began": null`) {
			t.Errorf("%s in virtual time: no null for what the host would tell", row.name)
		}
		root := parseSchema(t, row.schema)
		for _, p := range problems(root, decode(t, []byte(row.doc("virtual", false)))) {
			t.Errorf("%s in virtual time: %s", row.name, p)
		}
	}
}

func TestQuantilesSayHowTheyWereMade(t *testing.T) {
	s := fixtureSingle()
	if doc := singleJSON(t, s); !bytes.Contains(doc, []byte(`"quantiles": "exact"`)) {
		t.Error("exact quantiles are not called so")
	}
	s.Run.Summary.Buckets = true
	if doc := singleJSON(t, s); !bytes.Contains(doc, []byte(`"quantiles": "hdr, 3 digits"`)) {
		t.Error("quantiles of buckets are not called so")
	}
	var b bytes.Buffer
	if err := SingleText(&b, s, Style{}); err != nil || !strings.Contains(b.String(), "HDR, 3 digits") {
		t.Errorf("the text does not say that quantiles are of buckets (%v)", err)
	}
}
