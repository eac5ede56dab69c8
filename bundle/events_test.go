package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"coldwave/analysis"
	"coldwave/record"
	"coldwave/reports"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func events(t *testing.T, run *analysis.Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteEvents(&b, run, each(run.Records)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEventsGolden(t *testing.T) {
	out := fixture(3, 60)
	out.Run.Records[5].Outcome = record.Rejected
	out.Run.Summary = analysis.Summarize(analysis.Input{Schedule: out.Run.Schedule, Records: out.Run.Records, Instances: out.Run.Instances})
	got := events(t, &out.Run)
	const golden = "testdata/events.ndjson"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Events are in order of time and add up: each instance starts once, and all refused and dropped arrivals are counted.
func TestEventsAddUp(t *testing.T) {
	out := fixture(4, 2000)
	for i := range out.Run.Records {
		if i%7 == 0 {
			out.Run.Records[i].Outcome = record.Rejected
		}
	}
	want, last := record.Count(out.Run.Records), Event{}
	counts, kinds := map[string]int64{}, map[string]int{}
	for e, err := range ReadEvents(bytes.NewReader(events(t, &out.Run))) {
		if err != nil {
			t.Fatal(err)
		}
		if e.At < last.At {
			t.Errorf("%+v comes after %+v", e, last)
		}
		if last = e; e.N != nil {
			counts[e.Kind] += *e.N
		}
		kinds[e.Kind]++
	}
	if counts[Rejected] != int64(want[record.Rejected]) || counts[Dropped] != int64(want[record.Dropped]) || counts[RunEnd] != 2000 {
		t.Errorf("counts %v, want those of %v", counts, want)
	}
	if kinds[RunStart] != 1 || kinds[InstanceStart] != 3 || kinds[InstanceReady] != 2 || kinds[InstanceStop] != 2 || last.Kind != RunEnd {
		t.Errorf("kinds %v, the last %q", kinds, last.Kind)
	}
}

func TestRunEndSaysHowItEnded(t *testing.T) {
	for want, code := range map[string]string{EndComplete: analysis.WarnDropped, EndStopped: analysis.WarnStopped, EndRecovered: analysis.WarnRecovered} {
		run := analysis.Run{Summary: analysis.Summary{Warnings: []analysis.Warning{{Code: code, Text: "text"}}}}
		if got := events(t, &run); !strings.Contains(string(got), `"event":"run_end","n":0,"code":"`+want+`"`) {
			t.Errorf("with the warning %q:\n%s\nwant the end %q", code, got, want)
		}
	}
}

// Every line obeys the published schema, by a validator that is not ours; a wrong line does not.
func TestEventsObeyTheSchema(t *testing.T) {
	schema := compiled(t, reports.EventSchema)
	good := events(t, &analysis.Run{Records: randomRecords(1, 100), Instances: fixture(1, 1).Run.Instances})
	for line := range strings.Lines(string(good)) {
		if err := schema.Validate(value(t, line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, bad := range []string{`{"at_ns":1}`, `{"at_ns":-1,"event":"wave"}`, `{"at_ns":1,"event":"wavy"}`, `{"at_ns":1,"event":"wave","x":1}`} {
		if schema.Validate(value(t, bad)) == nil {
			t.Errorf("the schema accepts %s", bad)
		}
	}
}

func compiled(t *testing.T, id string) *jsonschema.Schema {
	t.Helper()
	text, err := reports.Schema(id)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:schema", value(t, string(text))); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("mem:schema")
}

func value(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestReadEventsRefuses(t *testing.T) {
	for _, row := range []struct{ why, text, want string }{
		{"no JSON", "{\"at_ns\":1,\"event\":\"wave\"}\nwave\n", "line 2"},
		{"no kind", "{\"at_ns\":1}\n", `line 1: no "event"`},
		{"a line without end", strings.Repeat("x", maxEvent+1), "line 1"},
	} {
		var last error
		for _, err := range ReadEvents(strings.NewReader(row.text)) {
			last = err
		}
		if !errors.Is(last, ErrEvents) || !strings.Contains(last.Error(), row.want) {
			t.Errorf("%s: %v, want ErrEvents with %s", row.why, last, row.want)
		}
	}
	for e, err := range ReadEvents(strings.NewReader(`{"at_ns":1,"event":"deployed","version":2}`)) {
		if err != nil || e.Kind != "deployed" {
			t.Errorf("an event of a later version: %+v, %v, want it without an error", e, err)
		}
	}
}

func FuzzReadEvents(f *testing.F) {
	f.Add([]byte(`{"at_ns":1,"event":"wave","wave":0,"n":2}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for e, err := range ReadEvents(bytes.NewReader(b)) {
			if err == nil {
				if _, err := json.Marshal(e); err != nil || e.Kind == "" {
					t.Errorf("read %+v, %v", e, err)
				}
			}
		}
	})
}

// Nodes are taken before the start that takes them, and reclaimed after the stop that empties them.
func TestEventsOfNodes(t *testing.T) {
	out := fixture(5, 3)
	in := out.Run.Instances
	in[1].Node, in[2].Node, in[2].Cached = 4, 4, true
	out.Run.Nodes = []record.Node{{ID: 4, Taken: in[1].Started, Reclaimed: in[1].Stopped}}
	var got []string
	for _, line := range strings.Split(string(events(t, &out.Run)), "\n") {
		if strings.Contains(line, `"node`) || strings.Contains(line, `"instance_st`) {
			got = append(got, line)
		}
	}
	want := []string{
		`{"at_ns":1,"event":"instance_start","instance":1,"request":"run-0"}`,
		`{"at_ns":5000000000,"event":"node_take","node":4}`,
		`{"at_ns":5000000000,"event":"instance_start","instance":2,"node":4,"request":"run-1"}`,
		`{"at_ns":5000000000,"event":"instance_start","instance":3,"node":4,"code":"cached"}`,
		`{"at_ns":7000000000,"event":"instance_stop","instance":2,"code":"failed"}`,
		`{"at_ns":7000000000,"event":"instance_stop","instance":3}`,
		`{"at_ns":7000000000,"event":"node_reclaim","node":4}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
