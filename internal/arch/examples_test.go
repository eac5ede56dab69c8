package arch

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// exampleID is the id of a worked example in the first column of a table of docs/policies, which is where it is defined.
var exampleID = regexp.MustCompile(`(?m)^\| ((?:CR|HPA|KN|LA|OW|AZ)-[a-z]{1,2}) \|`)

// untested are examples that are documented ahead of what they are about, with the reason.
var untested = map[string]string{}

// TestEveryExampleIsTested: each worked example of a policy is in the name, in a row or in the script of a test, and either a run
// is judged by it in a suite or the suite says why not and which test holds it.
func TestEveryExampleIsTested(t *testing.T) {
	e := readExamples(t, os.DirFS(root))
	for _, f := range e.problems(untested) {
		t.Error(f)
	}
	if n := len(e.documented); n < 92 {
		t.Errorf("%d worked examples are documented, want 92 or more", n)
	}
	t.Logf("%d worked examples, %d of them tested, %d judged on runs, %d left to tests", len(e.documented), len(e.tested), len(e.claimed), len(e.left))
}

// examples is what the tree says of the worked examples.
type examples struct {
	documented []string
	tested     map[string]bool   // in a string or the comment of a test of the scheduler, or in a script
	claimed    map[string]bool   // in a suite
	left       map[string]string // in a suite: the test that holds it instead
	functions  map[string]string // text of each test function of the scheduler
}

func readExamples(t *testing.T, tree fs.FS) examples {
	t.Helper()
	e := examples{tested: map[string]bool{}, claimed: map[string]bool{}, left: map[string]string{}, functions: map[string]string{}}
	walk(t, tree, "docs/policies", ".md", func(_ string, text []byte) {
		for _, m := range exampleID.FindAllSubmatch(text, -1) {
			e.documented = append(e.documented, string(m[1]))
		}
	})
	slices.Sort(e.documented)
	e.documented = slices.Compact(e.documented)
	walk(t, tree, "scheduler", ".go", func(name string, text []byte) {
		if strings.HasSuffix(name, "_test.go") {
			e.readTests(t, tree, name, text)
		}
	})
	if _, err := fs.Stat(tree, "scheduler/policies/testdata"); err == nil {
		walk(t, tree, "scheduler/policies/testdata", ".txt", func(_ string, text []byte) { e.mark(string(text)) })
	}
	walk(t, tree, "references", ".json", func(name string, text []byte) {
		if strings.HasSuffix(name, "-examples.json") {
			e.readSuite(t, name, text)
		}
	})
	return e
}

var anyExample = regexp.MustCompile(`\b[A-Z]{2,3}-[a-z]{1,2}\b`)

func (e *examples) mark(text string) {
	for _, id := range anyExample.FindAllString(text, -1) {
		e.tested[id] = true
	}
}

// readTests looks into the strings of a file and into the comments of its test functions.
func (e *examples) readTests(t *testing.T, tree fs.FS, name string, text []byte) {
	t.Helper()
	f, err := parseFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Test") {
			e.mark(fn.Doc.Text())
			e.functions[fn.Name.Name] = fn.Doc.Text() + string(text[f.set.Position(fn.Pos()).Offset:f.set.Position(fn.End()).Offset])
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			e.mark(s.Value)
		}
		return true
	})
}

func (e *examples) readSuite(t *testing.T, name string, text []byte) {
	t.Helper()
	var s struct {
		Claims []struct{ ID string }
		Left   []struct{ ID, Test string }
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, c := range s.Claims {
		e.claimed[c.ID] = true
	}
	for _, l := range s.Left {
		e.left[l.ID] = l.Test
	}
}

// problems lists what is missing. Examples of open need no test yet, and must not have one.
func (e *examples) problems(open map[string]string) (found []string) {
	bad := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, id := range e.documented {
		_, wait := open[id]
		_, left := e.left[id]
		switch {
		case wait && e.tested[id] && (left || e.claimed[id]):
			bad("%s is tested: take it out of the list of those that are not", id)
		case wait:
		case !e.tested[id]:
			bad("%s is in no test of the scheduler", id)
		case !left && !e.claimed[id]:
			bad("%s is neither a claim of a suite nor left to a test there", id)
		case left && e.claimed[id]:
			bad("%s is both a claim and left to a test", id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.left)) {
		if test := e.left[id]; !regexp.MustCompile(`\b` + id + `\b`).MatchString(e.functions[test]) {
			bad("%s is left to %s, which does not hold it", id, test)
		}
	}
	return append(found, e.gaps()...)
}

// gaps lists ids that are missing between the first and the last one of a prefix: a, b … z, aa, ab ….
func (e *examples) gaps() (found []string) {
	last := map[string]int{}
	for _, id := range e.documented {
		prefix, letters, _ := strings.Cut(id, "-")
		last[prefix] = max(last[prefix], ordinal(letters))
	}
	for _, prefix := range slices.Sorted(maps.Keys(last)) {
		for n := 1; n <= last[prefix]; n++ {
			if id := prefix + "-" + lettered(n); !slices.Contains(e.documented, id) {
				found = append(found, id+" is missing in the tables of docs/policies")
			}
		}
	}
	return found
}

func ordinal(letters string) (n int) {
	for _, c := range letters {
		n = 26*n + int(c-'a') + 1
	}
	return n
}

func lettered(n int) string {
	if n > 26 {
		return lettered((n-1)/26) + lettered((n-1)%26+1)
	}
	return string(rune('a' + n - 1))
}

func TestPlantedExamples(t *testing.T) {
	tree := fstest.MapFS{
		"docs/policies/x.md": {Data: []byte("| AZ-a | | |\n| AZ-b | | |\n| AZ-d | | |\n| AZ-e | | |\n| AZ-f | | |\n| x | AZ-c is not defined by being named |\n")},
		"scheduler/policies/x_test.go": {Data: []byte("package policies\n\n// TestX is AZ-a.\nfunc TestX(t *testing.T) { t.Log(\"AZ-b\", `AZ-e, AZ-f`) } // AZ-d\n" +
			"func TestY(t *testing.T) {}\n")},
		"references/x-examples.json": {Data: []byte(`{"claims": [{"id": "AZ-a"}, {"id": "AZ-f"}], "left": [{"id": "AZ-b", "test": "TestX"}, {"id": "AZ-f", "test": "TestY"}]}`)},
	}
	e := readExamples(t, tree)
	if diff := cmp.Diff([]string{
		"AZ-a is tested: take it out of the list of those that are not",
		"AZ-d is in no test of the scheduler",
		"AZ-e is neither a claim of a suite nor left to a test there",
		"AZ-f is both a claim and left to a test",
		"AZ-f is left to TestY, which does not hold it",
		"AZ-c is missing in the tables of docs/policies",
	}, e.problems(map[string]string{"AZ-a": "planted"})); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	for n, want := range map[int]string{1: "a", 26: "z", 27: "aa", 39: "am", 52: "az", 53: "ba"} {
		if got := lettered(n); got != want || ordinal(got) != n {
			t.Errorf("lettered(%d) = %s of ordinal %d, want %s", n, got, ordinal(got), want)
		}
	}
}
