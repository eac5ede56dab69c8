package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// rule is one check of one file. It calls report with a line (0: the whole file) for each breach.
type rule struct {
	name  string
	check func(f *file, report func(line int, format string, args ...any))
}

var rules = []rule{
	{"table", checkTable},
	{"lines", checkLines},
	{"pairs", checkPairs},
	{"cmd", checkCmd},
	{"modules", checkModules},
	{"pure-imports", checkPureImports},
	{"pure-time", checkPureTime},
	{"pure-goroutines", checkPureGoroutines},
	{"global-rand", checkGlobalRand},
	{"test-sleep", checkTestSleep},
	{"function-length", checkFunctionLength},
	{"file-length", checkFileLength},
	{"vague-name", checkVagueName},
	{"init", checkInit},
	{"left-open", checkLeftOpen},
}

// check applies every rule to every file.
func check(files []*file) []finding {
	var found []finding
	for _, f := range files {
		for _, r := range rules {
			r.check(f, func(line int, format string, args ...any) {
				found = append(found, finding{rule: r.name, path: f.path, line: line, text: fmt.Sprintf(format, args...)})
			})
		}
	}
	return found
}

// layer is the index of the line that has the package, or -1.
func layer(pkg string) int {
	return slices.IndexFunc(layers, func(l line) bool { return slices.Contains(l.packages, pkg) })
}

func pure(f *file) bool {
	n := layer(f.pkg)
	return !f.test && n >= 0 && layers[n].pure
}

// below says whether an import path is root or lies below it.
func below(importPath, root string) bool {
	return importPath == root || strings.HasPrefix(importPath, root+"/")
}

// own calls use for each import of a package of the module.
func own(f *file, use func(pkg string, line int)) {
	f.imports(func(p string, at token.Pos) {
		if pkg, ok := strings.CutPrefix(p, module+"/"); ok {
			use(pkg, f.line(at))
		}
	})
}

func checkTable(f *file, report func(int, string, ...any)) {
	if layer(f.pkg) < 0 && !slices.Contains(apart, f.pkg) {
		report(0, "package %s is not in the table: add it to the table in internal/arch/layers_test.go", f.pkg)
	}
}

func checkLines(f *file, report func(int, string, ...any)) {
	from := layer(f.pkg)
	if f.test {
		return // a test may import any line
	}
	own(f, func(pkg string, at int) {
		to := layer(pkg)
		switch {
		case slices.Contains(apart, f.pkg) || slices.Contains(apart, pkg):
			report(at, "%s imports %s: a package apart neither imports nor is imported", f.pkg, pkg)
		case from < 0 || to < 0:
			// The rule "table" tells of the missing package in its own files.
		case to == from:
			report(at, "%s imports %s: packages on one line never import each other", f.pkg, pkg)
		case to > from:
			report(at, "%s (line %d) imports %s (line %d): a line imports only lines above it", f.pkg, from, pkg, to)
		}
	})
}

func checkPairs(f *file, report func(int, string, ...any)) {
	if f.test {
		return
	}
	own(f, func(pkg string, at int) {
		for _, p := range forbidden {
			if f.pkg == p.from && below(pkg, p.to) {
				report(at, "%s imports %s: never, because %s", f.pkg, pkg, p.why)
			}
		}
	})
}

func checkCmd(f *file, report func(int, string, ...any)) {
	own(f, func(pkg string, at int) {
		if below(pkg, "cmd") {
			report(at, "%s imports %s: nothing imports a command, tests included", f.pkg, pkg)
		}
	})
}

func checkModules(f *file, report func(int, string, ...any)) {
	if f.test {
		return
	}
	f.imports(func(p string, at token.Pos) {
		if first, _, _ := strings.Cut(p, "/"); first == module || !strings.Contains(first, ".") {
			return // our own, or the standard library
		}
		users, listed := usersOf(p)
		switch {
		case !listed:
			report(f.line(at), "module package %s is not listed: add it to modules with the package that needs it", p)
		case !slices.Contains(users, f.pkg):
			report(f.line(at), "%s imports %s: only %s may", f.pkg, p, strings.Join(users, ", "))
		}
	})
}

// usersOf gives the packages that may import p, by the longest listed path that holds it.
func usersOf(p string) (users []string, listed bool) {
	longest := ""
	for _, m := range modules {
		if below(p, m.path) && len(m.path) > len(longest) {
			longest, users, listed = m.path, m.users, true
		}
	}
	return users, listed
}

func checkPureImports(f *file, report func(int, string, ...any)) {
	if !pure(f) {
		return
	}
	f.imports(func(p string, at token.Pos) {
		if slices.Contains(harmless, p) {
			return
		}
		if i := slices.IndexFunc(impure, func(root string) bool { return below(p, root) }); i >= 0 {
			report(f.line(at), "%s imports %s: a pure package does no input and output", f.pkg, p)
		}
	})
}

func checkPureTime(f *file, report func(int, string, ...any)) {
	if !pure(f) {
		return
	}
	f.selectors("time", func(name string, at token.Pos) {
		if slices.Contains(wallTime, name) {
			report(f.line(at), "%s uses time.%s: a pure package is told the time", f.pkg, name)
		}
	})
}

func checkPureGoroutines(f *file, report func(int, string, ...any)) {
	if !pure(f) {
		return
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			report(f.line(g.Pos()), "%s starts a goroutine: a pure package has no schedule of its own", f.pkg)
		}
		return true
	})
}

func checkGlobalRand(f *file, report func(int, string, ...any)) {
	if unseeded[f.path] != "" {
		return
	}
	for _, p := range []string{"math/rand", "math/rand/v2"} {
		f.selectors(p, func(name string, at token.Pos) {
			if ast.IsExported(name) && !slices.Contains(seeded, name) && !isRandType(name) {
				report(f.line(at), "rand.%s draws from the global source: use a named stream of internal/rng", name)
			}
		})
	}
}

func isRandType(name string) bool {
	return slices.Contains([]string{"Rand", "Source", "PCG", "ChaCha8", "Zipf"}, name)
}

// checkTestSleep lets a test sleep where time is virtual: in a file that imports testing/synctest, and inside a call of a
// helper that says in its name that it runs its argument in a bubble.
func checkTestSleep(f *file, report func(int, string, ...any)) {
	if !f.test || f.localName("testing/synctest") != "" {
		return
	}
	bubbles := f.calls(func(name string) bool { return strings.Contains(strings.ToLower(name), "bubble") })
	f.selectors("time", func(name string, at token.Pos) {
		inside := slices.ContainsFunc(bubbles, func(c *ast.CallExpr) bool { return c.Pos() <= at && at < c.End() })
		if name == "Sleep" && !inside {
			report(f.line(at), "a test sleeps for real: use virtual time or testing/synctest")
		}
	})
}

func checkFunctionLength(f *file, report func(int, string, ...any)) {
	if f.test {
		return // a table with a sentence per row is long without being complex
	}
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > longestFunction {
			report(f.line(fn.Pos()), "function %s has %d lines, at most %d", fn.Name.Name, n, longestFunction)
		}
	}
}

func checkFileLength(f *file, report func(int, string, ...any)) {
	if f.lines > longestFile {
		report(0, "%d lines, at most %d: split by what the parts do; data of tests goes to testdata", f.lines, longestFile)
	}
}

func checkVagueName(f *file, report func(int, string, ...any)) {
	name := strings.TrimSuffix(f.ast.Name.Name, "_test")
	for _, v := range vague {
		if name == v || path.Base(f.pkg) == v {
			report(f.line(f.ast.Name.Pos()), "package %s: name it after what it holds", v)
		}
	}
}

func checkInit(f *file, report func(int, string, ...any)) {
	for _, d := range f.ast.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			report(f.line(fn.Pos()), "func init: register in one explicit table instead")
		}
	}
}

// openMark is a mark of unfinished work at the start of a sentence of a comment.
var openMark = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)

func checkLeftOpen(f *file, report func(int, string, ...any)) {
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if m := openMark.FindString(c.Text); m != "" {
				report(f.line(c.Pos()), "%s in a comment: finish it, or file it where work is listed", m)
			}
		}
	}
}
