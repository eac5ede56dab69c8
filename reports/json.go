package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf16"

	"coldwave/references"
)

// The schema ids of our JSON documents. A new field is free; a changed one counts the number up.
const (
	VerifySchema = "loadgen.verify/1"
	RunSchema    = "loadgen.run/1"
)

// VerificationJSON writes v as one JSON document of VerifySchema. Durations are integers in nanoseconds, instants are
// nanoseconds since the run's epoch; what has no sample is null, never zero. Its only errors are those of w.
func VerificationJSON(w io.Writer, v Verification) error {
	doc := verifyDoc{
		Schema: VerifySchema, ID: known(idFor(v.ID, v.Driver)), Tool: metaFor(v.Meta, v.Driver), Driver: v.Driver, Law: v.Law, Quick: v.Quick, Tries: v.Tries,
		Elapsed: elapsedFor(int64(v.Elapsed), v.Driver), Verdict: verdictOf(v.Claims), Claims: []claimDoc{}, Ladder: ladderDocs(v.Ladder),
		Runs: []runDoc{}, Suite: suiteOf(v),
	}
	for _, c := range v.Claims {
		doc.Claims = append(doc.Claims, claimOf(c))
	}
	if doc.Suite == nil || v.Driver != virtualDriver { // the scenes of a suite in virtual time are added up, and can be made again
		for i := range v.Runs {
			doc.Runs = append(doc.Runs, runOf(&v.Runs[i]))
		}
	}
	return encode(w, doc)
}

// SingleJSON writes r as one JSON document of RunSchema, with the units of VerificationJSON. Its only errors are those
// of w.
func SingleJSON(w io.Writer, r Single) error {
	return encode(w, singleDoc{
		Schema: RunSchema, Tool: metaFor(r.Meta, r.Run.Driver), Elapsed: elapsedFor(int64(r.Elapsed), r.Run.Driver), runDoc: runOf(&r.Run),
		Gates: gateDocs(r.Gates),
	})
}

// encode builds the whole document before it writes the first byte: half a document is worse than none.
func encode(w io.Writer, doc any) error {
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, escapeRunes(string(b))+"\n")
	return err
}

// Line writes v as one line of JSON, as strict as the documents. Its only errors are those of w, and those of values that
// JSON cannot hold.
func Line(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, escapeRunes(string(b))+"\n")
	return err
}

// escapeRunes spells characters above ASCII that act on a terminal as \u escapes. They stand only inside strings, where
// both spellings mean the same; encoding/json has dealt with the ones below.
func escapeRunes(doc string) string {
	var b strings.Builder
	for _, r := range doc {
		if r < 0x7f || !acts(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

type verifyDoc struct {
	Schema  string      `json:"schema"`
	ID      *string     `json:"id"`
	Tool    metaDoc     `json:"tool"`
	Driver  string      `json:"driver"`
	Law     string      `json:"law"`
	Quick   bool        `json:"quick"`
	Tries   int         `json:"tries"`
	Elapsed *int64      `json:"elapsed_ns"`
	Verdict verdictDoc  `json:"verdict"`
	Claims  []claimDoc  `json:"claims"`
	Ladder  []ladderDoc `json:"ladder"`
	Runs    []runDoc    `json:"runs"`
	Suite   *suiteDoc   `json:"suite,omitempty"`
}

type singleDoc struct {
	Schema  string  `json:"schema"`
	Tool    metaDoc `json:"tool"`
	Elapsed *int64  `json:"elapsed_ns"`
	runDoc
	Gates []gateDoc `json:"gates"`
}

type metaDoc struct {
	Name    string  `json:"name"`
	Version string  `json:"version"`
	Commit  *string `json:"commit"`
	Go      *string `json:"go"`
	OS      *string `json:"os"`
	CPUs    *int    `json:"cpus"`
	Began   *string `json:"began"`
	Command string  `json:"command"`
	Seed    uint64  `json:"seed"`
}

type verdictDoc struct {
	Sentence      string `json:"sentence"`
	Claims        int    `json:"claims"`
	Agrees        int    `json:"agrees"`
	Disagrees     int    `json:"disagrees"`
	Inconclusive  int    `json:"inconclusive"`
	NotComparable int    `json:"not_comparable"`
	Void          int    `json:"void"`
}

type claimDoc struct {
	ID         string              `json:"id"`
	Statement  string              `json:"statement"`
	Source     string              `json:"source"`
	Pattern    string              `json:"pattern"`
	Laws       []string            `json:"laws"`
	Documented string              `json:"documented"`
	Measured   string              `json:"measured"`
	Tolerance  string              `json:"tolerance"`
	Limits     map[string]*float64 `json:"limits"`
	Why        string              `json:"why"`
	WhyLaws    *string             `json:"why_laws"`
	Command    *string             `json:"command"`
	Verdict    string              `json:"verdict"`
	Reason     *string             `json:"reason"`
}

type ladderDoc struct {
	Row              int    `json:"row"`
	Group            int    `json:"group"`
	DocumentedBefore *int64 `json:"documented_before_ns"`
	SortedBefore     *int64 `json:"documented_before_sorted_ns"`
	MeasuredBefore   *int64 `json:"measured_before_ns"`
	DocumentedAfter  *int64 `json:"documented_after_ns"`
	SortedAfter      *int64 `json:"documented_after_sorted_ns"`
	MeasuredAfter    *int64 `json:"measured_after_ns"`
	Asserted         bool   `json:"asserted"`
}

func metaOf(m Meta) metaDoc {
	return metaDoc{Name: m.Tool, Version: m.Version, Commit: known(m.Commit), Go: known(m.Go), OS: known(m.OS), CPUs: &m.CPUs,
		Began: known(wallTime(m.Began)), Command: m.Command, Seed: m.Seed}
}

func verdictOf(claims []references.Result) verdictDoc {
	t := tallyOf(claims)
	return verdictDoc{Sentence: sentence(claims), Claims: len(claims), Agrees: t[references.Agrees],
		Disagrees: t[references.Disagrees], Inconclusive: t[references.Inconclusive],
		NotComparable: t[references.NotComparable], Void: t[references.Void]}
}

func claimOf(r references.Result) claimDoc {
	c := r.Claim
	d := claimDoc{ID: c.ID, Statement: c.Statement, Source: c.Source, Pattern: c.Pattern, Laws: append([]string{}, c.Laws...),
		Documented: c.Documented, Measured: r.Measured, Tolerance: c.Tolerance, Limits: map[string]*float64{}, Why: c.Why,
		WhyLaws: known(c.WhyLaws), Command: known(c.Command),
		Verdict: string(r.Verdict), Reason: known(r.Reason)}
	for name, x := range c.Limits {
		d.Limits[name] = finite(x)
	}
	return d
}

func ladderDocs(rows []references.LadderRow) []ladderDoc {
	docs := make([]ladderDoc, len(rows))
	for i, r := range rows {
		docs[i] = ladderDoc{Row: r.Row, Group: r.Group, DocumentedBefore: positive(r.DocumentedBefore),
			SortedBefore: positive(r.SortedBefore), MeasuredBefore: positive(r.Before), DocumentedAfter: positive(r.DocumentedAfter),
			SortedAfter: positive(r.SortedAfter), MeasuredAfter: positive(r.After), Asserted: r.Asserted}
	}
	return docs
}

// known returns nil for a text that is not known.
func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// finite returns nil for what JSON cannot hold.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
