package reports

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// What was read writes the same document again, so nothing of it was lost.
func TestReadSingleIsTheInverse(t *testing.T) {
	full, virtual := fixtureSingle(), fixtureSingle()
	twin := Single{Meta: full.Meta, Run: fixtureVerification().Runs[0]}
	twin.Run.Tariff = nil
	full.Gates, virtual.Gates = nil, nil
	full.Run.Tariff, virtual.Run.Tariff = nil, nil
	full.Run.Epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	virtual.Run.Driver = virtualDriver
	for _, row := range []struct {
		why string
		in  Single
	}{
		{"a run on the wire", full},
		{"a run in virtual time", virtual},
		{"a run with a twin", twin},
		{"a run without a request", Single{}},
	} {
		first := singleJSON(t, row.in)
		got, err := ReadSingle(bytes.NewReader(first))
		if err != nil {
			t.Errorf("%s: %v", row.why, err)
			continue
		}
		if second := singleJSON(t, got); !bytes.Equal(first, second) {
			t.Errorf("%s: what was read writes another document:\n%s\n%s", row.why, first, second)
		}
	}
}

func TestReadSingleRefuses(t *testing.T) {
	fixture := fixtureSingle()
	fixture.Run.Epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	good := string(singleJSON(t, fixture))
	for _, row := range []struct{ why, doc, want string }{
		{"nothing", "", "unexpected end"},
		{"half a document", good[:len(good)/2], "unexpected end"},
		{"another kind of document", strings.Replace(good, RunSchema, VerifySchema, 1), `schema "loadgen.verify/1", want "loadgen.run/1"`},
		{"an outcome that does not exist", strings.Replace(good, `"http_error"`, `"http_eror"`, 1), `outcome "http_eror"`},
		{"a start kind that does not exist", strings.Replace(good, `"cold_wait"`, `"coldwait"`, 1), `start kind "coldwait"`},
		{"no time", strings.Replace(good, `"epoch": "2`, `"epoch": "x2`, 1), "epoch"},
	} {
		_, err := ReadSingle(strings.NewReader(row.doc))
		if !errors.Is(err, ErrDocument) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: ReadSingle = %v, want ErrDocument with %s", row.why, err, row.want)
		}
	}
}
