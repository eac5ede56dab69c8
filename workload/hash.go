package workload

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"time"
)

// hashVersion opens the canonical form. A change of the form changes the version.
const hashVersion = "coldwave schedule 1"

// Hash returns the SHA-256, in hex, of the schedule's canonical form. Equal hashes mean that every policy faces the same
// requests at the same instants. The seed and the pattern's text are no part of it: two texts that give the same
// arrivals give the same hash.
//
// The canonical form is a sequence of 64-bit little-endian words and texts (a word with the number of bytes, then the
// bytes): text "coldwave schedule 1"; function: text name, text runtime, memory bytes, package bytes, body in ns,
// concurrency; length in ns; number of arrivals; then for each arrival seq, at in ns, wave (two's complement), exec,
// pre and post in ns. Of a demand with CPU time post is written as its complement, a negative number, and the CPU time in
// ns follows.
func (s *Schedule) Hash() string {
	w := newHasher(s.Function, s.Length, int64(len(s.Arrivals)))
	for i := range s.Arrivals {
		w.arrival(&s.Arrivals[i])
	}
	return w.hex()
}

// Hash returns the hash of the schedule that Build would make of the source, and holds no arrival: it draws them twice,
// because the canonical form begins with their number. The error is that of the stream.
func (src Source) Hash() (string, error) {
	count := src.Open()
	for _, ok := count.Next(); ok; _, ok = count.Next() {
	}
	w := newHasher(src.Function, count.Length(), count.Drawn())
	again := src.Open()
	for a, ok := again.Next(); ok; a, ok = again.Next() {
		w.arrival(&a)
	}
	return w.hex(), again.Err()
}

func newHasher(f Function, length time.Duration, arrivals int64) *hasher {
	w := &hasher{sum: sha256.New()}
	w.text(hashVersion)
	w.text(f.Name)
	w.text(f.Runtime)
	w.words(f.MemoryBytes, f.PackageBytes, int64(f.Body), int64(f.Concurrency))
	w.words(int64(length), arrivals)
	return w
}

func (w *hasher) arrival(a *Arrival) {
	d := &a.Demand
	w.words(a.Seq, int64(a.At), int64(a.Wave), int64(d.Exec), int64(d.Pre))
	if d.CPU == 0 {
		w.words(int64(d.Post))
		return
	}
	w.words(^int64(d.Post), int64(d.CPU))
}

func (w *hasher) hex() string {
	w.flush()
	return hex.EncodeToString(w.sum.Sum(nil))
}

// hasher gathers bytes in blocks: a hash call per word would take most of the time.
type hasher struct {
	sum   hash.Hash
	block [4096]byte
	used  int
}

func (w *hasher) words(values ...int64) {
	for _, v := range values {
		if w.used+8 > len(w.block) {
			w.flush()
		}
		binary.LittleEndian.PutUint64(w.block[w.used:], uint64(v))
		w.used += 8
	}
}

func (w *hasher) text(s string) {
	w.words(int64(len(s)))
	w.flush()
	w.sum.Write([]byte(s))
}

func (w *hasher) flush() {
	w.sum.Write(w.block[:w.used])
	w.used = 0
}
