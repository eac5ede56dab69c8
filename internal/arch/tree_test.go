package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// module is the path of the module, the prefix of its packages' import paths.
const module = "coldwave"

// file is one parsed source file.
type file struct {
	path  string // slash-separated, from the root
	pkg   string // directory, the name of the package in the table
	test  bool
	lines int
	set   *token.FileSet
	ast   *ast.File
}

// finding is one breach of one rule.
type finding struct {
	rule string
	path string
	line int // 0: the file as a whole
	text string
}

func (f finding) String() string {
	if f.line == 0 {
		return fmt.Sprintf("%s: [%s] %s", f.path, f.rule, f.text)
	}
	return fmt.Sprintf("%s:%d: [%s] %s", f.path, f.line, f.rule, f.text)
}

// parse reads every Go file of the module below root, without testdata, hidden directories and nested modules.
func parse(root fs.FS) ([]*file, error) {
	var files []*file
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(root, name):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		f, err := parseFile(root, name)
		files = append(files, f)
		return err
	})
	return files, err
}

func skipped(root fs.FS, dir string) bool {
	if dir == "." {
		return false
	}
	if base := path.Base(dir); base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	return err == nil
}

func parseFile(root fs.FS, name string) (*file, error) {
	src, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &file{
		path:  name,
		pkg:   path.Dir(name),
		test:  strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(src, []byte("\n")),
		set:   set,
		ast:   tree,
	}, nil
}

func (f *file) line(p token.Pos) int { return f.set.Position(p).Line }

// imports calls use with the path of each import.
func (f *file) imports(use func(importPath string, at token.Pos)) {
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			use(p, spec.Pos())
		}
	}
}

// selectors calls use for each NAME of importPath.NAME, under whatever name the file imports it.
func (f *file) selectors(importPath string, use func(name string, at token.Pos)) {
	local := f.localName(importPath)
	if local == "" {
		return
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == local {
			use(sel.Sel.Name, sel.Pos())
		}
		return true
	})
}

// calls lists the calls of plain functions with a fitting name.
func (f *file) calls(fits func(name string) bool) []*ast.CallExpr {
	var found []*ast.CallExpr
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if id, ok := c.Fun.(*ast.Ident); ok && fits(id.Name) {
				found = append(found, c)
			}
		}
		return true
	})
	return found
}

// localName is the name under which the file knows an import; empty: it does not import it.
func (f *file) localName(importPath string) string {
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != importPath {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		base := path.Base(importPath)
		if isVersion(base) {
			base = path.Base(path.Dir(importPath))
		}
		return base
	}
	return ""
}

// isVersion says whether a path element is a major version such as v2.
func isVersion(element string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(element, "v"))
	return strings.HasPrefix(element, "v") && err == nil && n > 1
}
