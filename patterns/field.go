package patterns

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"coldwave/internal/spell"
)

// fields are the keys of a text. Its readers return a zero value after the first problem and keep that one.
type fields struct {
	order   []string
	nodes   map[string]field
	problem *Error
}

type field struct {
	key   ast.Node
	value ast.Node
}

func (f *fields) has(key string) bool {
	_, ok := f.nodes[key]
	return ok
}

// note keeps the first problem, with the place of the key's value.
func (f *fields) note(e *Error) {
	if f.problem == nil && e != nil {
		f.problem = at(f.nodes[e.Key].value, e)
	}
}

// fail keeps a problem of a key that is there.
func (f *fields) fail(key, do, what string, args ...any) { f.note(wrong(key, do, what, args...)) }

// needs keeps a problem if the key is there without the other one.
func (f *fields) needs(key, other string) {
	if !f.has(other) {
		f.fail(key, fmt.Sprintf("add %s or leave %s out", other, key), "%s needs %s", key, other)
	}
}

// only keeps a problem for the first key that the kind does not have.
func (f *fields) only(k Kind) {
	for _, key := range f.order {
		if key != "kind" && !slices.Contains(k.Keys, key) && f.problem == nil {
			f.problem = at(f.nodes[key].key, wrong(key, fmt.Sprintf("the keys of %s are %s", k.Name, strings.Join(k.Keys, ", ")),
				"unknown key %q%s", key, spell.Hint(key, k.Keys)))
		}
	}
}

// place gives an error of Check the place of its key, or of the kind if the key is not there.
func (f *fields) place(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	node := f.nodes["kind"].value
	if f.has(e.Key) {
		node = f.nodes[e.Key].value
	}
	if list, ok := node.(*ast.SequenceNode); ok && e.Item >= 0 && e.Item < len(list.Values) {
		node = list.Values[e.Item]
	}
	return at(node, e)
}

// scalar returns the value of a key. A missing key has the place of the kind.
func (f *fields) scalar(key string) ast.Node {
	if f.problem != nil {
		return nil
	}
	if !f.has(key) {
		f.problem = at(f.nodes["kind"].value, wrong(key, "add it", "key %s is missing", key))
		return nil
	}
	return f.nodes[key].value
}

// text returns the value of a key as a text; want says what it should be.
func (f *fields) text(key, want string) string {
	switch n := f.scalar(key).(type) {
	case nil:
		return ""
	case *ast.StringNode:
		return n.Value
	case *ast.IntegerNode:
		return n.Token.Value
	case *ast.FloatNode:
		return n.Token.Value
	default:
		f.fail(key, "write a "+want, "%s is %s and must be a %s", key, nounOf(n), want)
		return ""
	}
}

func (f *fields) rate(key string) Rate {
	text := f.text(key, "rate such as 100/s")
	if f.problem != nil {
		return Rate{}
	}
	r, problem := parseRate(key, text)
	f.note(problem)
	return r
}

func (f *fields) duration(key string) time.Duration {
	text := f.text(key, "duration such as 10s")
	if f.problem != nil {
		return 0
	}
	d, problem := parseDuration(key, text)
	if problem == nil && d <= 0 {
		problem = within(key, d, 0)
	}
	f.note(problem)
	return d
}

// number returns a whole number. Whether it is in range is for Check to say.
func (f *fields) number(key string) int64 {
	node := f.scalar(key)
	if node == nil {
		return 0
	}
	n, problem := whole(key, node)
	f.note(problem)
	if problem == nil && n < 1 && key == "requests" {
		f.note(between(key, n, 1, n)) // in a pattern, 0 means that the key is not there
	}
	return n
}

// count is number for what fits in an int.
func (f *fields) count(key string) int {
	n := f.number(key)
	if f.problem == nil && int64(int(n)) != n {
		f.note(above(key, n, int(^uint(0)>>1)))
	}
	return int(n)
}

// counts returns a list of whole numbers.
func (f *fields) counts(key string) []int {
	node := f.scalar(key)
	if node == nil {
		return nil
	}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		f.fail(key, fmt.Sprintf("write a list, as in %s: [1, 2, 4]", key), "%s is %s and must be a list of whole numbers", key, nounOf(node))
		return nil
	}
	values := make([]int, 0, len(list.Values))
	for i, item := range list.Values {
		n, problem := whole(key, item)
		if problem == nil && int64(int(n)) != n {
			problem = above(key, n, int(^uint(0)>>1))
		}
		if problem != nil {
			problem.Item = i
			f.problem = at(item, problem)
			return nil
		}
		values = append(values, int(n))
	}
	return values
}

// durations returns a list of durations from 0 on.
func (f *fields) durations(key string) []time.Duration {
	node := f.scalar(key)
	if node == nil {
		return nil
	}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		f.fail(key, fmt.Sprintf("write a list, as in %s: [0s, 10s]", key), "%s is %s and must be a list of durations", key, nounOf(node))
		return nil
	}
	values := make([]time.Duration, 0, len(list.Values))
	for i, item := range list.Values {
		text, ok := item.(*ast.StringNode)
		problem := wrong(key, "write it as in 10s, 250ms or 1m30s", "%s: %s is no duration", key, oneLine(describe(item)))
		var d time.Duration
		if ok {
			d, problem = parseDuration(key, text.Value)
		}
		if problem != nil {
			problem.Item = i
			f.problem = at(item, problem)
			return nil
		}
		values = append(values, d)
	}
	return values
}

// whole reads a whole number of 64 bits. A leading 0 is refused: YAML reads 010 as 8, which nobody means.
func whole(key string, node ast.Node) (int64, *Error) {
	if n, ok := node.(*ast.IntegerNode); ok && !leadingZero(n.Token.Value) {
		switch v := n.Value.(type) {
		case int64:
			return v, nil
		case uint64:
			if v <= 1<<63-1 {
				return int64(v), nil
			}
		}
	}
	return 0, wrong(key, "write digits only, as in 20", "%s: %s is no whole number in range", key, oneLine(describe(node)))
}

func leadingZero(digits string) bool {
	digits = strings.TrimLeft(digits, "+-")
	return len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9'
}

// describe is the value of a word or a number, or what stands in its place.
func describe(node ast.Node) string {
	switch node.Type() {
	case ast.StringType, ast.IntegerType, ast.FloatType, ast.BoolType:
		return fmt.Sprintf("%q", node.GetToken().Value)
	default:
		return nounOf(node)
	}
}

// nounOf is what a person calls the node.
func nounOf(node ast.Node) string {
	switch node.Type() {
	case ast.NullType:
		return "empty"
	case ast.SequenceType:
		return "a list"
	case ast.MappingType, ast.MappingValueType:
		return "a mapping"
	case ast.StringType, ast.LiteralType:
		return "a text"
	case ast.IntegerType, ast.FloatType, ast.InfinityType, ast.NanType:
		return "a number"
	case ast.BoolType:
		return "a truth value"
	case ast.AnchorType, ast.AliasType:
		return "a reference"
	case ast.MergeKeyType, ast.MappingKeyType:
		return "a special key"
	default:
		return "a " + strings.ToLower(node.Type().YAMLName())
	}
}
