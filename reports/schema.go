package reports

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed schema/*.json
var schemaFiles embed.FS

// Schemas returns the ids of the published JSON Schemas.
func Schemas() []string { return []string{VerifySchema, RunSchema, SeedsSchema, CompareSchema} }

// Schema returns the JSON Schema (draft 2020-12) with the given id, such as "loadgen.verify/1".
func Schema(id string) ([]byte, error) {
	for _, known := range Schemas() {
		if known == id {
			kind := strings.TrimSuffix(strings.TrimPrefix(id, "loadgen."), "/1")
			return schemaFiles.ReadFile("schema/" + kind + ".json")
		}
	}
	return nil, fmt.Errorf("schema %q: unknown; take one of %s", id, strings.Join(Schemas(), ", "))
}
