package arch

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// ruleID is the id of a documented rule, as code and data cite it.
var ruleID = regexp.MustCompile(`\b(?:FC|FA|FR|U|LG|HD|AS|RP|RT|TR|NQ|ST|SE|CR|LA|AZ|KN|HPA|PS|BI)-[0-9]+\b`)

// shortID is an id that could be a name in code too, so it is looked for in comments only.
var shortID = regexp.MustCompile(`\b[RF][0-9]{1,2}\b`)

// definedID is an id in the first column of a table below docs, which is where it is defined.
var definedID = regexp.MustCompile(`(?m)^\| ((?:[A-Z]{1,3}-|[RF])[0-9]+) \|`)

// link is a link of Markdown to a file of the repository, without what follows a #.
var link = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)

// TestCitedRulesAreDocumented keeps the project readable by itself: an id in the code leads to its wording.
func TestCitedRulesAreDocumented(t *testing.T) {
	for _, f := range undefinedIDs(t, os.DirFS(root)) {
		t.Error(f)
	}
}

// TestLinksLeadSomewhere checks the links between the pages of the documentation.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, f := range deadLinks(t, os.DirFS(root)) {
		t.Error(f)
	}
}

func TestPlantedDocs(t *testing.T) {
	tree := fstest.MapFS{
		"docs/policies/fc.md": {Data: []byte("| FC-1 | one at a time |\n| x | U-2 is not defined by being named |\n")},
		"docs/reliability.md": {Data: []byte("| R4 | one on the wire |\n")},
		"README.md":           {Data: []byte("[rules](docs/policies/fc.md#rules) [gone](docs/gone.md) [out](https://example.org/x)\n")},
		"sim/s.go":            {Data: []byte("// Package sim obeys FC-1, FC-12, R4, R5 and CPU-2.\npackage sim\n\nconst rule, R6 = \"U-2\", 1\n")},
		"claims/c.json":       {Data: []byte(`{"id": "FR-99", "why": "as FC-1"}`)},
		"sim/testdata/x.md":   {Data: []byte("[gone](gone.md)\n")},
	}
	if diff := cmp.Diff([]string{
		"sim/s.go: cites FC-12, which no table below docs defines",
		"sim/s.go: cites R5, which no table below docs defines",
		"sim/s.go: cites U-2, which no table below docs defines",
		"claims/c.json: cites FR-99, which no table below docs defines",
	}, undefinedIDs(t, tree)); diff != "" {
		t.Errorf("undefinedIDs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"README.md: link to docs/gone.md, which does not exist"}, deadLinks(t, tree)); diff != "" {
		t.Errorf("deadLinks (-want +got):\n%s", diff)
	}
}

// undefinedIDs lists the rule ids that code and data cite and no table below docs defines.
func undefinedIDs(t *testing.T, tree fs.FS) []string {
	defined := map[string]bool{}
	walk(t, tree, "docs", ".md", func(_ string, text []byte) {
		for _, m := range definedID.FindAllSubmatch(text, -1) {
			defined[string(m[1])] = true
		}
	})
	var found []string
	cited := func(name string, text []byte) {
		if strings.HasPrefix(name, "internal/arch/") {
			return // its planted ids are undefined on purpose
		}
		ids := append(ruleID.FindAllString(string(text), -1), shortIDs(tree, name)...)
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			if !defined[id] {
				found = append(found, name+": cites "+id+", which no table below docs defines")
			}
		}
	}
	for _, ext := range []string{".go", ".json", ".yaml"} {
		walk(t, tree, ".", ext, cited)
	}
	return found
}

// shortIDs lists the ids that the comments of a Go file cite; other files have none.
func shortIDs(tree fs.FS, name string) []string {
	if path.Ext(name) != ".go" {
		return nil
	}
	f, err := parseFile(tree, name)
	if err != nil {
		return nil // TestTree tells of it
	}
	var ids []string
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			ids = append(ids, shortID.FindAllString(c.Text, -1)...)
		}
	}
	return ids
}

// deadLinks lists the links of Markdown files to files that do not exist.
func deadLinks(t *testing.T, tree fs.FS) []string {
	var found []string
	walk(t, tree, ".", ".md", func(name string, text []byte) {
		for _, m := range link.FindAllSubmatch(text, -1) {
			target := path.Join(path.Dir(name), string(m[1]))
			if _, err := fs.Stat(tree, target); err != nil {
				found = append(found, name+": link to "+target+", which does not exist")
			}
		}
	})
	return found
}

// walk calls use for each file below dir whose name ends in ext, without testdata and hidden directories.
func walk(t *testing.T, tree fs.FS, dir, ext string, use func(name string, text []byte)) {
	t.Helper()
	err := fs.WalkDir(tree, dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir && skipped(tree, name):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ext:
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		use(name, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
