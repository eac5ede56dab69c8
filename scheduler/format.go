package scheduler

import (
	"encoding/binary"
	"strconv"

	"coldwave/record"
)

// ActionSize is the length of an encoded Action in bytes.
const ActionSize = 24

// AppendAction appends the fixed encoding of a, little endian, from which logs of actions are hashed and compared.
func AppendAction(dst []byte, a Action) []byte {
	dst = append(dst, byte(a.Do), a.Code)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(a.Status))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(a.Inst))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(a.Req))
	return binary.LittleEndian.AppendUint64(dst, uint64(a.At))
}

// String prints a decision in one line without its instant: "assign r7 i3 queued", "reject r8 503", "start i4 for r7 on
// n2".
func (a Action) String() string {
	b := []byte(a.Do.String())
	word := func(s string) { b = append(append(b, ' '), s...) }
	request := func() { word("r" + strconv.FormatInt(int64(a.Req), 10)) }
	instance := func() { word("i" + strconv.Itoa(int(a.Inst))) }
	node := func() { word("n" + strconv.Itoa(int(a.Status))) }
	switch a.Do {
	case Assign:
		request()
		instance()
		word(record.StartKind(a.Code).String())
	case Queue:
		request()
	case Start:
		instance()
		if a.Req != 0 {
			word("for")
			request()
		}
		if a.Status != 0 {
			word("on")
			node()
		}
	case Stop:
		instance()
	case Mark:
		instance()
		word(strconv.Itoa(int(a.Code)))
	case Take, Reclaim:
		node()
	case Reject, Lost, End:
		request()
		word(strconv.Itoa(int(a.Status)))
	}
	return string(b)
}
