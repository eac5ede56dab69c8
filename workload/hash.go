package workload

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
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
// pre and post in ns.
func (s *Schedule) Hash() string {
	w := hasher{sum: sha256.New()}
	w.text(hashVersion)
	f := s.Function
	w.text(f.Name)
	w.text(f.Runtime)
	w.words(f.MemoryBytes, f.PackageBytes, int64(f.Body), int64(f.Concurrency))
	w.words(int64(s.Length), int64(len(s.Arrivals)))
	for i := range s.Arrivals {
		a := &s.Arrivals[i]
		w.words(a.Seq, int64(a.At), int64(a.Wave), int64(a.Demand.Exec), int64(a.Demand.Pre), int64(a.Demand.Post))
	}
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
