package patterns

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"coldwave/internal/spell"
)

// Parse reads a pattern: one YAML mapping with a kind and the keys of that kind, and nothing else. The name stands in
// the errors, which are an *Error each: unknown, missing and repeated keys, wrong types, values out of range, and
// values above the default limits (ErrLimit).
func Parse(name string, src []byte) (Pattern, error) { return Limits{}.Parse(name, src) }

// Parse is Parse under these limits.
func (l Limits) Parse(name string, src []byte) (Pattern, error) {
	p, err := l.parse(src)
	if err == nil {
		return p, nil
	}
	var wrong *Error
	if errors.As(err, &wrong) {
		wrong.File = name
	}
	return nil, err
}

func (l Limits) parse(src []byte) (Pattern, error) {
	if limit := l.or().Source; len(src) > limit {
		return nil, above("text", fmt.Sprintf("of %d bytes", len(src)), fmt.Sprintf("%d bytes", limit))
	}
	f, problem := readFields(src)
	if problem != nil {
		return nil, problem
	}
	k, problem := f.kind()
	if problem != nil {
		return nil, problem
	}
	f.only(k)
	p := k.build(f)
	if f.problem != nil {
		return nil, f.problem
	}
	if err := p.Check(l); err != nil {
		return nil, f.place(err)
	}
	return p, nil
}

// byteOrderMark is what some editors write before UTF-8.
const byteOrderMark = "\ufeff"

// readFields reads the text as one mapping.
func readFields(src []byte) (*fields, *Error) {
	tokens := lexer.Tokenize(strings.TrimPrefix(string(src), byteOrderMark))
	if deep := TooDeep(tokens); deep != nil {
		return nil, locate(wrong("", "write a kind and its keys, such as "+Kinds()[0].Example, "the text is nested too deep"), deep)
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, syntax(err)
	}
	var body ast.Node
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			return nil, at(d.Body, wrong("", "keep one", "a second document begins here"))
		}
		body = d.Body
	}
	if body == nil {
		return nil, &Error{Line: 1, Column: 1, What: "the pattern is empty", Do: "write a kind and its keys, such as " + Kinds()[0].Example}
	}
	mapping, ok := body.(ast.MapNode)
	if !ok {
		return nil, at(body, wrong("", "write a kind and its keys, such as "+Kinds()[0].Example, "the pattern is %s", nounOf(body)))
	}
	f := &fields{nodes: map[string]field{}}
	for it := mapping.MapRange(); it.Next(); {
		key, ok := it.Key().(*ast.StringNode)
		if !ok {
			return nil, at(it.Key(), wrong("", "write a plain word", "a key cannot be %s", nounOf(it.Key())))
		}
		f.order = append(f.order, key.Value)
		f.nodes[key.Value] = field{key: key, value: it.Value()}
	}
	return f, nil
}

// deepest is far more nesting than any pattern needs. The time of the YAML parser is the square of the depth.
const deepest = 16

// TooDeep returns the token that opens one flow, or one list within a line, too many.
func TooDeep(tokens token.Tokens) *token.Token {
	flows, lists, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, lists = t.Position.Line, 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flows++
		case token.MappingEndType, token.SequenceEndType:
			flows--
		case token.SequenceEntryType:
			lists++
		default: // the others open nothing
		}
		if flows > deepest || lists > deepest {
			return t
		}
	}
	return nil
}

// syntax turns an error of the YAML parser into ours. It has the message, the cause and its place in one line.
func syntax(err error) *Error {
	var y yaml.Error
	if !errors.As(err, &y) {
		return &Error{Line: 1, Column: 1, What: oneLine(err.Error()), Do: "write it as YAML", Err: err}
	}
	e := &Error{Line: 1, Column: 1, What: oneLine(y.GetMessage()), Do: "write it as YAML, one key to a line"}
	if strings.Contains(e.What, "already defined") {
		e.Do = "give each key once"
	}
	return locate(e, y.GetToken())
}

// oneLine keeps text of another library from breaking a line or a terminal.
func oneLine(text string) string {
	quoted := fmt.Sprintf("%q", strings.Join(strings.Fields(text), " "))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// locate stores the place of a token.
func locate(e *Error, t *token.Token) *Error {
	if t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, t.Position.Column
	}
	return e
}

func at(n ast.Node, e *Error) *Error { return locate(e, n.GetToken()) }

// kind looks the kind up.
func (f *fields) kind() (Kind, *Error) {
	names := make([]string, 0, len(Kinds()))
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	list := "the kinds are " + strings.Join(names, ", ")
	if !f.has("kind") {
		e := &Error{Line: 1, Column: 1, What: "key kind is missing", Do: list}
		if len(f.order) > 0 {
			at(f.nodes[f.order[0]].key, e)
		}
		return Kind{}, e
	}
	name := f.text("kind", "word")
	if f.problem != nil {
		return Kind{}, f.problem
	}
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
	}
	return Kind{}, at(f.nodes["kind"].value, wrong("kind", list, "unknown kind %q%s", name, spell.Hint(name, names)))
}
