package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"coldwave/analysis"
	"coldwave/internal/clock"
)

// schemaNode is the part of JSON Schema that our schemas use. Unknown words are refused, so that a schema cannot ask for
// something that this test does not check.
type schemaNode struct {
	Schema      string                 `json:"$schema"`
	ID          string                 `json:"$id"`
	Title       string                 `json:"title"`
	Description string                 `json:"description"`
	Defs        map[string]*schemaNode `json:"$defs"`
	Ref         string                 `json:"$ref"`
	Type        any                    `json:"type"`
	Const       any                    `json:"const"`
	Enum        []any                  `json:"enum"`
	Required    []string               `json:"required"`
	Properties  map[string]*schemaNode `json:"properties"`
	Extra       json.RawMessage        `json:"additionalProperties"`
	Items       *schemaNode            `json:"items"`
	Minimum     *float64               `json:"minimum"`
}

func parseSchema(t *testing.T, id string) *schemaNode {
	t.Helper()
	b, err := Schema(id)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var n schemaNode
	if err := d.Decode(&n); err != nil {
		t.Fatalf("schema %s: %v", id, err)
	}
	if n.ID != id {
		t.Fatalf("schema %s: $id is %q", id, n.ID)
	}
	return &n
}

// problems lists where v breaks the schema n of document root.
func problems(root, n *schemaNode, path string, v any) []string {
	if n.Ref != "" {
		n = root.Defs[strings.TrimPrefix(n.Ref, "#/$defs/")]
	}
	var all []string
	if n.Type != nil && !slices.ContainsFunc(typesOf(n), func(name string) bool { return hasType(v, name) }) {
		return []string{fmt.Sprintf("%s: %v is no %v", path, v, n.Type)}
	}
	if n.Const != nil && v != n.Const || n.Enum != nil && !slices.Contains(n.Enum, v) {
		all = append(all, fmt.Sprintf("%s: %v is not %v%v", path, v, n.Const, n.Enum))
	}
	if x, err := asNumber(v); err == nil && n.Minimum != nil && x < *n.Minimum {
		all = append(all, fmt.Sprintf("%s: %v is below %v", path, v, *n.Minimum))
	}
	if m, ok := v.(map[string]any); ok {
		all = append(all, memberProblems(root, n, path, m)...)
	}
	if a, ok := v.([]any); ok && n.Items != nil {
		for i, x := range a {
			all = append(all, problems(root, n.Items, fmt.Sprintf("%s[%d]", path, i), x)...)
		}
	}
	return all
}

func memberProblems(root, n *schemaNode, path string, m map[string]any) []string {
	var all []string
	for _, name := range n.Required {
		if _, ok := m[name]; !ok {
			all = append(all, path+"."+name+": missing")
		}
	}
	for name, x := range m {
		child := n.Properties[name]
		if child == nil && string(n.Extra) == "false" {
			all = append(all, path+"."+name+": unknown")
		}
		if child == nil && len(n.Extra) > 0 && n.Extra[0] == '{' {
			child = &schemaNode{}
			if err := json.Unmarshal(n.Extra, child); err != nil {
				all = append(all, err.Error())
			}
		}
		if child != nil {
			all = append(all, problems(root, child, path+"."+name, x)...)
		}
	}
	return all
}

func typesOf(n *schemaNode) []string {
	if s, ok := n.Type.(string); ok {
		return []string{s}
	}
	var names []string
	for _, x := range n.Type.([]any) {
		names = append(names, x.(string))
	}
	return names
}

func hasType(v any, name string) bool {
	switch x := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case json.Number:
		return name == "number" || name == "integer" && !strings.ContainsAny(x.String(), ".eE")
	case []any:
		return name == "array"
	}
	return name == "object"
}

func asNumber(v any) (float64, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, fmt.Errorf("%v is no number", v)
	}
	return n.Float64()
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
		for _, p := range problems(root, root, "$", decode(t, row.doc)) {
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
		{"a duration has a fraction", `"elapsed_ns": 71200000000`, `"elapsed_ns": 7.12e10`},
		{"a verdict that does not exist", `"verdict": "agrees"`, `"verdict": "passed"`},
		{"another schema's document", `"loadgen.verify/1"`, `"loadgen.run/1"`},
		{"a limit that is a text", `"high_ms": 200`, `"high_ms": "200"`},
	} {
		bad := bytes.Replace(good, []byte(row.old), []byte(row.now), 1)
		if bytes.Equal(bad, good) {
			t.Fatalf("%s: %q is not in the document", row.why, row.old)
		}
		if len(problems(root, root, "$", decode(t, bad))) == 0 {
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
