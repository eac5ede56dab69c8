// Package rng gives named random streams that all come from one seed, and draws keyed by an id.
//
// A stream is for code that draws in a fixed order (an arrival process). A Key is for code that is asked in an order it
// does not control (goroutines, a simulator): what it draws for an id depends on the seed, the name and the id only, so
// a new draw in one place shifts no other.
package rng

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Stream returns the sequential stream of that name. Equal arguments give equal streams on every platform.
func Stream(seed uint64, name string) *rand.Rand {
	k := NewKey(seed, name)
	return rand.New(rand.NewPCG(uint64(k), mix(uint64(k)+golden)))
}

// Key names a family of draws: one Draw for each id.
type Key uint64

// NewKey returns the key of the named family under the seed.
func NewKey(seed uint64, name string) Key {
	h := mix(seed + golden)
	for i := 0; i < len(name); i++ {
		h = mix(h ^ uint64(name[i])*golden)
	}
	return Key(mix(h + uint64(len(name))))
}

// Draw returns the random numbers that belong to id. It allocates nothing; copies of one Draw give the same numbers.
func (k Key) Draw(id int64) Draw { return Draw{state: mix(uint64(k) ^ mix(uint64(id)+golden))} }

// Draw is a short sequence of random numbers that belong to one id.
type Draw struct{ state uint64 }

// Uint64 returns the next 64 random bits (SplitMix64). With it, a *Draw is a rand.Source.
func (d *Draw) Uint64() uint64 {
	d.state += golden
	return mix(d.state)
}

// Float64 returns the next number in [0, 1), a multiple of 2⁻⁵³.
func (d *Draw) Float64() float64 { return float64(d.Uint64()>>11) / (1 << 53) }

// Int64N returns the next number in [0, n). It panics if n ≤ 0. Its bias is below n·2⁻⁶⁴.
func (d *Draw) Int64N(n int64) int64 {
	if n <= 0 {
		panic("rng: Int64N needs n > 0")
	}
	hi, _ := bits.Mul64(d.Uint64(), uint64(n))
	return int64(hi)
}

// NormFloat64 returns the next standard normal number (Box–Muller, two draws).
func (d *Draw) NormFloat64() float64 {
	u, v := 1-d.Float64(), d.Float64() // u in (0, 1]: its logarithm is finite
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}

const golden = 0x9e3779b97f4a7c15

// mix is the finalizer of SplitMix64: a bijection on 64 bits.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
