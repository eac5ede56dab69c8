package patterns

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"coldwave/internal/spell"
)

// Documented and ready-made patterns. The first line of each is its summary.
//
//go:embed *.yaml
var embedded embed.FS

// Entry is one embedded pattern.
type Entry struct {
	Name    string // what Load takes
	Summary string // one line, with the source
	Text    string // the file
	Pattern Pattern
}

// All lists the embedded patterns by name. An embedded file that does not parse is a bug and panics; the tests of this
// package read them all.
func All() []Entry {
	files, err := embedded.ReadDir(".")
	if err != nil {
		panic(err) // the directory is part of the program
	}
	entries := make([]Entry, 0, len(files))
	for _, f := range files {
		src, err := embedded.ReadFile(f.Name())
		if err != nil {
			panic(err)
		}
		p, err := Parse(f.Name(), src)
		if err != nil {
			panic(err)
		}
		summary, _, _ := strings.Cut(strings.TrimPrefix(string(src), "# "), "\n")
		entries = append(entries, Entry{Name: strings.TrimSuffix(f.Name(), ".yaml"), Summary: summary, Text: string(src), Pattern: p})
	}
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries
}

// Names lists the names of the embedded patterns.
func Names() []string {
	var names []string
	for _, e := range All() {
		names = append(names, e.Name)
	}
	return names
}

// Load returns the embedded pattern of that name, else the one in the file of that path, read by readFile (nil: there are
// no files). A word that is neither is an *Error with the nearest name.
func Load(nameOrPath string, readFile func(path string) ([]byte, error)) (Pattern, error) {
	return Limits{}.Load(nameOrPath, readFile)
}

// Load is Load under these limits.
func (l Limits) Load(nameOrPath string, readFile func(path string) ([]byte, error)) (Pattern, error) {
	for _, e := range All() {
		if e.Name == nameOrPath {
			return checked(e.Pattern, l)
		}
	}
	var src []byte
	err := fs.ErrNotExist
	if readFile != nil {
		src, err = readFile(nameOrPath)
	}
	switch {
	case err == nil:
		return l.Parse(nameOrPath, src)
	case path.Ext(nameOrPath) == "" && !strings.ContainsAny(nameOrPath, `/\`):
		return nil, &Error{
			Item: -1, What: fmt.Sprintf("unknown pattern %q%s", nameOrPath, spell.Hint(nameOrPath, Names())),
			Do: "the patterns are " + strings.Join(Names(), ", ") + ", or give the path of a file", Err: err,
		}
	}
	return nil, &Error{
		Item: -1, What: fmt.Sprintf("pattern %q cannot be read: %s", nameOrPath, oneLine(err.Error())),
		Do: "give a readable file, or one of " + strings.Join(Names(), ", "), Err: err,
	}
}
