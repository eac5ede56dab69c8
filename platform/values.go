package platform

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// DefaultValueLimit is the number of values that a file of an empirical law has at most.
const DefaultValueLimit = 1_000_000

// LoadLaw is ParseLaw that also takes "empirical:@FILE", a file with one duration per line, read by readFile.
func LoadLaw(text string, readFile func(path string) ([]byte, error)) (Law, error) {
	path, isFile := strings.CutPrefix(text, "empirical:@")
	if !isFile {
		return ParseLaw(text)
	}
	src, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("law %q: %w: give a readable file: %w", text, ErrLaw, err)
	}
	return ParseValues(path, src, DefaultValueLimit)
}

// ParseValues reads an empirical law from text: one duration per line, such as 1933.43ms; empty lines and what follows a
// # do not count. The law is named after the file. Errors are file:line:column: what; what to do, and wrap ErrLaw; more
// values than the limit are one too.
func ParseValues(file string, src []byte, limit int) (Empirical, error) {
	e := Empirical{Label: "empirical:@" + file}
	line := 0
	for raw := range bytes.Lines(src) {
		line++
		text, _, _ := strings.Cut(string(raw), "#")
		value := strings.TrimSpace(text)
		if value == "" {
			continue
		}
		column := strings.Index(text, value) + 1
		if len(e.Values) == limit {
			return Empirical{}, fmt.Errorf("%s:%d:%d: %w: more than %d values; shorten the file", file, line, column, ErrLaw, limit)
		}
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return Empirical{}, fmt.Errorf("%s:%d:%d: %w: %q is no duration from 0 on; write one per line, as in 1933.43ms",
				file, line, column, ErrLaw, value)
		}
		e.Values = append(e.Values, d)
	}
	if len(e.Values) == 0 {
		return Empirical{}, fmt.Errorf("%s:1:1: %w: the file has no values; write one duration per line, as in 1933.43ms", file, ErrLaw)
	}
	return e, nil
}
