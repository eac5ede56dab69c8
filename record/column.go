package record

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"coldwave/internal/clock"
)

// column is one column of a table of records.
type column struct {
	name     string
	required bool
	write    func(b []byte, r *Record) []byte
	read     func(r *Record, cell string) error
}

// Blank is what a row of a table is read into: what absent columns leave.
func Blank() Record {
	return Record{Wave: -1, Sent: clock.Never, FirstByte: clock.Never, Done: clock.Never, Attempt: 1}
}

// columns in the order of reading: an instant that is written as a difference comes after what it differs from.
var columns = [...]column{
	number("seq", true, func(r *Record) *int64 { return &r.Seq }),
	number("wave", false, func(r *Record) *int32 { return &r.Wave }),
	number("intended_ns", true, func(r *Record) *clock.Instant { return &r.Intended }),
	since("send_lag_ns", false, func(r *Record) (at, from *clock.Instant) { return &r.Sent, &r.Intended }),
	since("response_ns", true, func(r *Record) (at, from *clock.Instant) { return &r.Done, &r.Intended }),
	{name: "service_ns", write: writeService, read: checkService},
	since("ttfb_ns", false, func(r *Record) (at, from *clock.Instant) { return &r.FirstByte, &r.Sent }),
	number("status", false, func(r *Record) *int { return &r.Status }),
	enum("outcome", true, ParseOutcome, func(r *Record) *Outcome { return &r.Outcome }),
	text("outcome_cause", func(r *Record) *string { return &r.Cause }),
	enum("start_kind", false, ParseStartKind, func(r *Record) *StartKind { return &r.Server.Start }),
	enum("start_source", false, ParseSource, func(r *Record) *Source { return &r.Server.Source }),
	enum("start_by", false, ParseStartBy, func(r *Record) *StartBy { return &r.Server.StartBy }),
	text("instance_id", func(r *Record) *string { return &r.Server.Instance }),
	told("queue_ns", func(r *Record) *time.Duration { return &r.Server.Queue }),
	told("init_ns", func(r *Record) *time.Duration { return &r.Server.Init }),
	told("exec_ns", func(r *Record) *time.Duration { return &r.Server.Exec }),
	number("bytes_in", false, func(r *Record) *int64 { return &r.BytesIn }),
	number("bytes_out", false, func(r *Record) *int64 { return &r.BytesOut }),
	number("attempt", false, func(r *Record) *int32 { return &r.Attempt }),
	text("revision", func(r *Record) *string { return &r.Server.Revision }),
}

type integer interface{ ~int | ~int32 | ~int64 }

func number[T integer](name string, required bool, field func(*Record) *T) column {
	return column{name, required,
		func(b []byte, r *Record) []byte { return strconv.AppendInt(b, int64(*field(r)), 10) },
		func(r *Record, cell string) error { return parseInteger(cell, field(r)) },
	}
}

// since is an instant, written as the time since another one; empty: never.
func since(name string, required bool, field func(*Record) (at, from *clock.Instant)) column {
	return column{name, required,
		func(b []byte, r *Record) []byte {
			at, from := field(r)
			if *at == clock.Never || *from == clock.Never {
				return b
			}
			return strconv.AppendInt(b, int64(at.Sub(*from)), 10)
		},
		func(r *Record, cell string) error {
			if cell == "" {
				return nil
			}
			at, from := field(r)
			if *from == clock.Never {
				return fmt.Errorf("%q: of a request that was never sent", cell)
			}
			var d time.Duration
			err := parseInteger(cell, &d)
			*at = from.Add(d)
			return err
		},
	}
}

// told is a duration that the target told; all of them are empty if it told nothing.
func told(name string, field func(*Record) *time.Duration) column {
	return column{name, false,
		func(b []byte, r *Record) []byte {
			if !r.Server.Told() {
				return b
			}
			return strconv.AppendInt(b, int64(*field(r)), 10)
		},
		func(r *Record, cell string) error {
			if cell == "" {
				return nil
			}
			return parseInteger(cell, field(r))
		},
	}
}

func enum[T fmt.Stringer](name string, required bool, parse func(string) (T, bool), field func(*Record) *T) column {
	return column{name, required,
		func(b []byte, r *Record) []byte { return append(b, (*field(r)).String()...) },
		func(r *Record, cell string) error {
			v, ok := parse(cell)
			if !ok {
				return fmt.Errorf("%q is not known", cell)
			}
			*field(r) = v
			return nil
		},
	}
}

func text(name string, field func(*Record) *string) column {
	return column{name, false,
		func(b []byte, r *Record) []byte { return appendText(b, *field(r)) },
		func(r *Record, cell string) error {
			*field(r) = strings.Clone(strings.TrimPrefix(cell, "'"))
			return nil
		},
	}
}

func writeService(b []byte, r *Record) []byte {
	if r.Sent == clock.Never || r.Done == clock.Never {
		return b
	}
	return strconv.AppendInt(b, int64(r.Service()), 10)
}

// checkService reads nothing: the service time follows from the other two, so a difference means damaged data.
func checkService(r *Record, cell string) error {
	if want := string(writeService(nil, r)); cell != want {
		return fmt.Errorf("%q: response_ns − send_lag_ns is %q", cell, want)
	}
	return nil
}

func parseInteger[T integer](cell string, into *T) error {
	v, err := strconv.ParseInt(cell, 10, 64)
	if err != nil || int64(T(v)) != v {
		return fmt.Errorf("%q is no whole number of that size", cell)
	}
	*into = T(v)
	return nil
}

// appendText writes a quoted cell that no spreadsheet takes for a formula. A leading apostrophe is doubled, so that
// reading can always take one away.
func appendText(b []byte, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, '"')
	if strings.ContainsRune("=+-@'＝＋－＠", first(s)) {
		b = append(b, '\'')
	}
	for _, c := range s {
		switch {
		case c == '"':
			b = append(b, `""`...)
		case unicode.IsControl(c):
			b = append(b, "\uFFFD"...)
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return append(b, '"')
}

func first(s string) rune {
	c, _ := utf8.DecodeRuneInString(s)
	return c
}
