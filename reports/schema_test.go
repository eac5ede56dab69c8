package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"coldwave/analysis"
	"coldwave/internal/clock"
)

// parseSchema compiles a published schema with a validator that is not ours.
func parseSchema(t *testing.T, id string) *jsonschema.Schema {
	t.Helper()
	b, err := Schema(id)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("schema %s: %v", id, err)
	}
	if got := doc.(map[string]any)["$id"]; got != id {
		t.Fatalf("schema %s: $id is %q", id, got)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:"+id, doc); err != nil {
		t.Fatalf("schema %s: %v", id, err)
	}
	s, err := c.Compile("mem:" + id)
	if err != nil {
		t.Fatalf("schema %s: %v", id, err)
	}
	return s
}

// problems lists where v breaks the schema.
func problems(s *jsonschema.Schema, v any) []string {
	var bad *jsonschema.ValidationError
	if err := s.Validate(v); !errors.As(err, &bad) {
		return nil
	}
	return strings.Split(bad.Error(), "\n")
}

func decode(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	if d.More() {
		t.Fatal("more than one document")
	}
	return v
}

func verificationJSON(t *testing.T, v Verification) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := VerificationJSON(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func singleJSON(t *testing.T, s Single) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := SingleJSON(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDocumentsObeyTheirSchemas(t *testing.T) {
	nan := fixtureSingle()
	nan.Run.Summary.Windows = []analysis.Window{{From: clock.Never, TPS: math.NaN()}, {TPS: math.Inf(1)}}
	limits := fixtureVerification()
	limits.Claims[0].Claim.Limits = map[string]float64{"nan": math.NaN(), "inf": math.Inf(-1)}
	for _, row := range []struct {
		why    string
		schema string
		doc    []byte
	}{
		{"a verification", VerifySchema, verificationJSON(t, fixtureVerification())},
		{"a verification of nothing", VerifySchema, verificationJSON(t, Verification{})},
		{"limits that JSON cannot hold", VerifySchema, verificationJSON(t, limits)},
		{"a run", RunSchema, singleJSON(t, fixtureSingle())},
		{"a run without a request (RT-05)", RunSchema, singleJSON(t, Single{})},
		{"a run whose rates are no numbers", RunSchema, singleJSON(t, nan)},
	} {
		root := parseSchema(t, row.schema)
		for _, p := range problems(root, decode(t, row.doc)) {
			t.Errorf("%s: %s", row.why, p)
		}
	}
}

func TestSchemaRefusesWrongDocuments(t *testing.T) {
	root := parseSchema(t, VerifySchema)
	good := verificationJSON(t, fixtureVerification())
	for _, row := range []struct{ why, old, now string }{
		{"a field is missing", `"quick": false,`, ``},
		{"a field is unknown", `"quick": false,`, `"quick": false, "quik": false,`},
		{"a number became a text", `"tries": 1`, `"tries": "1"`},
		{"a count is negative", `"tries": 1`, `"tries": -1`},
		{"a duration has a fraction", `"elapsed_ns": 71200000000`, `"elapsed_ns": 71200000000.5`},
		{"a verdict that does not exist", `"verdict": "agrees"`, `"verdict": "passed"`},
		{"another schema's document", `"loadgen.verify/1"`, `"loadgen.run/1"`},
		{"a limit that is a text", `"high_ms": 200`, `"high_ms": "200"`},
	} {
		bad := bytes.Replace(good, []byte(row.old), []byte(row.now), 1)
		if bytes.Equal(bad, good) {
			t.Fatalf("%s: %q is not in the document", row.why, row.old)
		}
		if len(problems(root, decode(t, bad))) == 0 {
			t.Errorf("%s: the schema accepts it", row.why)
		}
	}
}

func TestUnknownSchemaIsAnError(t *testing.T) {
	_, err := Schema("loadgen.run/2")
	if err == nil || !strings.Contains(err.Error(), `"loadgen.run/2"`) {
		t.Errorf("Schema(loadgen.run/2) = %v, want an error that names it", err)
	}
}
