package reports

import (
	"fmt"
	"strings"

	"coldwave/docs/schema"
)

// EventSchema is the id of the schema of one line of events.ndjson.
const EventSchema = "loadgen.event/1"

// Schemas returns the ids of the published JSON Schemas.
func Schemas() []string {
	return []string{VerifySchema, RunSchema, SeedsSchema, CompareSchema, SweepSchema, RunsSchema, PlanSchema, EventSchema}
}

// Schema returns the JSON Schema (draft 2020-12) with the given id, such as "loadgen.verify/1".
func Schema(id string) ([]byte, error) {
	for _, known := range Schemas() {
		if known == id {
			kind := strings.TrimSuffix(strings.TrimPrefix(id, "loadgen."), "/1")
			return schema.Files.ReadFile(kind + ".json")
		}
	}
	return nil, fmt.Errorf("schema %q: unknown; take one of %s", id, strings.Join(Schemas(), ", "))
}
