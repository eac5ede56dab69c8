// Package arch holds the architecture as tests: the table of packages and of what each may import, and the rules of style
// that a compiler does not check. The tests parse the source files themselves; each rule is also shown a tree that breaks
// it (testdata/planted) and must find exactly what is planted there.
//
// To add a package, add it to the table in layers_test.go.
package arch
