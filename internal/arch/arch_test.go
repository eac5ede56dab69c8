package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// root is the top of the module, seen from this package's directory, where tests run.
const root = "../.."

// TestTree holds the module itself to the rules.
func TestTree(t *testing.T) {
	files, err := parse(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("parse(%s) found %d files: the root is wrong", root, len(files))
	}
	for _, f := range check(files) {
		t.Error(f)
	}
}

// TestPlanted shows each rule a tree that breaks it. The comment of the archive lists the findings, one a line, complete.
func TestPlanted(t *testing.T) {
	for _, name := range planted(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			want, tree := readPlanted(t, name)
			files, err := parse(tree)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range check(files) {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("check(%s) (-want +got):\n%s", name, diff)
			}
		})
	}
}

// TestEveryRuleIsPlanted keeps a rule that nothing can break from being added.
func TestEveryRuleIsPlanted(t *testing.T) {
	var all []string
	for _, name := range planted(t) {
		want, _ := readPlanted(t, name)
		all = append(all, want...)
	}
	for _, r := range rules {
		mark := "[" + r.name + "]"
		if !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, mark) }) {
			t.Errorf("rule %s: no archive in testdata/planted breaks it", r.name)
		}
	}
}

// TestTableIsSound finds mistakes in the data itself, which would make a rule silent.
func TestTableIsSound(t *testing.T) {
	seen := map[string]bool{}
	pureEnded := false
	for i, l := range layers {
		if l.pure && pureEnded {
			t.Errorf("line %d is pure below a line that is not", i)
		}
		pureEnded = pureEnded || !l.pure
		for _, p := range l.packages {
			if seen[p] {
				t.Errorf("package %s is in the table twice", p)
			}
			seen[p] = true
		}
	}
	for _, p := range forbidden {
		if !seen[p.from] || !seen[p.to] {
			t.Errorf("forbidden pair %s → %s names a package that is not in the table", p.from, p.to)
		}
	}
	for _, m := range modules {
		for _, u := range m.users {
			if !seen[u] {
				t.Errorf("module %s: its user %s is not in the table", m.path, u)
			}
		}
	}
}

func planted(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/planted/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("testdata/planted: %d archives, error %v", len(names), err)
	}
	return names
}

// readPlanted gives the findings that an archive expects and its files as a tree.
func readPlanted(t *testing.T, name string) (want []string, tree fs.FS) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(string(archive.Comment), "\n") {
		if l != "" && !strings.HasPrefix(l, "#") {
			want = append(want, l)
		}
	}
	files := fstest.MapFS{}
	for _, f := range archive.Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return want, files
}
