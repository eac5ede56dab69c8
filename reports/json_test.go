package reports

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestJSONGolden(t *testing.T) {
	golden(t, "verify.json", verificationJSON(t, fixtureVerification()))
	golden(t, "run.json", singleJSON(t, fixtureSingle()))
}

func TestJSONKeepsHostileTextsLiterally(t *testing.T) {
	for _, payload := range hostile {
		var doc struct {
			ID     string
			Claims []struct{ Measured string }
		}
		if err := json.Unmarshal(verificationJSON(t, poisoned(payload)), &doc); err != nil {
			t.Fatalf("payload %q: %v", payload, err)
		}
		want := string(bytes.ToValidUTF8([]byte(payload), []byte("\ufffd")))
		if payload != "\x00\xff\xfe" && (doc.ID != want || doc.Claims[0].Measured != want) {
			t.Errorf("payload %q came back as %q", payload, doc.ID)
		}
	}
}

// F26: a document that is printed on a terminal holds no raw control character of the data.
func TestJSONHoldsNoControlCharacterOfTheData(t *testing.T) {
	for _, payload := range append(hostile, "\U000e0041tag") {
		doc := string(verificationJSON(t, poisoned(payload)))
		if i := strings.IndexFunc(doc, func(r rune) bool { return acts(r) && r != '\n' }); i >= 0 {
			t.Errorf("payload %q: the document holds %q", payload, doc[i:i+8])
		}
	}
}

func TestJSONKeepsTheWholeSeed(t *testing.T) {
	s := fixtureSingle()
	s.Run.Seed = math.MaxUint64
	if b := singleJSON(t, s); !bytes.Contains(b, []byte(`"seed": 18446744073709551615`)) {
		t.Errorf("the largest seed is not in the document")
	}
}

func TestJSONWritesNothingWhenTheWriterFails(t *testing.T) {
	if err := VerificationJSON(&full{100}, fixtureVerification()); err == nil {
		t.Error("VerificationJSON to a full disk: no error")
	}
}
