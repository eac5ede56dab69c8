package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"coldwave/internal/clock"
)

// ErrBinary is the error of bytes that are no record.
var ErrBinary = errors.New("malformed binary record")

// Bits of what a binary record holds.
const (
	hasSent = 1 << iota
	hasFirstByte
	hasDone
	hasServer
	allBits = hasSent | hasFirstByte | hasDone | hasServer
)

// AppendBinary appends the record in a compact form, some 40 bytes, that DecodeBinary reads. It is for files that live no
// longer than a run: another version may write another form.
func AppendBinary(b []byte, r *Record) []byte {
	bits := byte(0)
	if r.Sent != clock.Never {
		bits |= hasSent
	}
	if r.FirstByte != clock.Never {
		bits |= hasFirstByte
	}
	if r.Done != clock.Never {
		bits |= hasDone
	}
	if r.Server != (Server{}) {
		bits |= hasServer
	}
	b = append(b, bits, byte(r.Outcome))
	for _, v := range [...]int64{r.Seq, int64(r.Wave), int64(r.Intended), int64(r.Status), int64(r.Attempt), r.BytesIn, r.BytesOut} {
		b = binary.AppendVarint(b, v)
	}
	b = appendString(b, r.Cause)
	for i, at := range [...]clock.Instant{r.Sent, r.FirstByte, r.Done} {
		if bits&(hasSent<<i) != 0 {
			b = binary.AppendVarint(b, int64(at.Sub(r.Intended)))
		}
	}
	if bits&hasServer == 0 {
		return b
	}
	s := &r.Server
	b = append(b, byte(s.Start), byte(s.StartBy), byte(s.Source))
	for _, d := range [...]time.Duration{s.Queue, s.Init, s.Exec} {
		b = binary.AppendVarint(b, int64(d))
	}
	return appendString(appendString(b, s.Instance), s.Revision)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// DecodeBinary reads the record at the begin of b and returns what follows it. The error wraps ErrBinary.
func DecodeBinary(b []byte) (r Record, rest []byte, err error) {
	d := decoder{left: b}
	bits, outcome := d.byte(), d.byte()
	r = Record{Outcome: Outcome(outcome), Sent: clock.Never, FirstByte: clock.Never, Done: clock.Never}
	r.Seq, r.Wave, r.Intended = d.number(), int32(d.within(math.MinInt32, math.MaxInt32)), clock.Instant(d.number())
	r.Status, r.Attempt = int(d.within(math.MinInt32, math.MaxInt32)), int32(d.within(math.MinInt32, math.MaxInt32))
	r.BytesIn, r.BytesOut, r.Cause = d.number(), d.number(), d.string()
	for i, at := range [...]*clock.Instant{&r.Sent, &r.FirstByte, &r.Done} {
		if bits&(hasSent<<i) != 0 {
			*at = r.Intended.Add(time.Duration(d.number()))
		}
	}
	if bits&hasServer != 0 {
		s := &r.Server
		s.Start, s.StartBy, s.Source = StartKind(d.byte()), StartBy(d.byte()), Source(d.byte())
		s.Queue, s.Init, s.Exec = time.Duration(d.number()), time.Duration(d.number()), time.Duration(d.number())
		s.Instance, s.Revision = d.string(), d.string()
	}
	d.check(bits <= allBits && r.Outcome < Outcomes && r.Server.Start < StartKinds && r.Server.StartBy < StartBys && r.Server.Source < Sources)
	if d.bad {
		return Record{}, b, fmt.Errorf("%w of %d bytes", ErrBinary, len(b))
	}
	return r, d.left, nil
}

// decoder reads from left until something is bad.
type decoder struct {
	left []byte
	bad  bool
}

func (d *decoder) check(ok bool) {
	if !ok {
		d.bad, d.left = true, nil
	}
}

func (d *decoder) byte() byte {
	if d.check(len(d.left) > 0); d.bad {
		return 0
	}
	v := d.left[0]
	d.left = d.left[1:]
	return v
}

func (d *decoder) number() int64 {
	v, n := binary.Varint(d.left)
	if d.check(n > 0); d.bad {
		return 0
	}
	d.left = d.left[n:]
	return v
}

func (d *decoder) within(low, high int64) int64 {
	v := d.number()
	d.check(v >= low && v <= high)
	return v
}

func (d *decoder) string() string {
	length, n := binary.Uvarint(d.left)
	if d.check(n > 0 && length <= uint64(len(d.left)-n)); d.bad {
		return ""
	}
	s := string(d.left[n : n+int(length)])
	d.left = d.left[n+int(length):]
	return s
}
