package scheduler

import "iter"

const (
	pageBits = 5
	pageSize = 1 << pageBits // 32: a small core stays small, and larger pages are no faster
	pageMask = pageSize - 1
)

// Table keeps values by serial id, from 1. Ids are never reused, but the memory behind them is: a page of 32 values is
// recycled when all its ids have been issued and dropped, so a table that has seen its peak allocates no more.
//
// Add, Get and Drop take constant time. The zero Table is empty and ready. A policy may keep its own data of each
// instance in one: it Adds once for each Start, and the ids agree.
type Table[V any] struct {
	dir  []*page[V] // ring of pages, its length a power of two; page p sits at p & (len-1)
	head int64      // first page that may still hold a value
	tail int64      // one after the last page that was opened
	last int64      // last id that was issued
	size int
	free *page[V]
}

type page[V any] struct {
	live   uint32 // bit k: slot k holds a value
	number int64  // ids from number · pageSize on
	next   *page[V]
	slots  [pageSize]V
}

// Len returns the number of values.
func (t *Table[V]) Len() int { return t.size }

// Last returns the id that was issued last, 0 before the first.
func (t *Table[V]) Last() int64 { return t.last }

// Add stores v under the next id, which it returns.
func (t *Table[V]) Add(v V) int64 {
	id, place := t.New()
	*place = v
	return id
}

// New stores the zero value under the next id and returns both: filling a large value in place saves copying it.
func (t *Table[V]) New() (int64, *V) {
	t.last++
	t.size++
	p := t.last >> pageBits
	if p >= t.tail {
		t.open(p)
	}
	pg := t.dir[p&int64(len(t.dir)-1)]
	pg.live |= 1 << (t.last & pageMask)
	return t.last, &pg.slots[t.last&pageMask]
}

// Get returns the value of id, or nil if it was dropped or never issued. The pointer is good until Drop(id).
func (t *Table[V]) Get(id int64) *V {
	pg := t.page(id >> pageBits)
	if pg == nil || pg.live>>(id&pageMask)&1 == 0 {
		return nil
	}
	return &pg.slots[id&pageMask]
}

// Drop forgets the value of id. Dropping an id that holds nothing does nothing.
func (t *Table[V]) Drop(id int64) {
	p := id >> pageBits
	pg := t.page(p)
	if pg == nil || pg.live>>(id&pageMask)&1 == 0 {
		return
	}
	pg.live &^= 1 << (id & pageMask)
	t.size--
	if pg.live == 0 && p < t.last>>pageBits {
		t.recycle(p)
	}
}

// page returns page p, nil if it is not open.
func (t *Table[V]) page(p int64) *page[V] {
	if k := uint64(p) & uint64(len(t.dir)-1); k < uint64(len(t.dir)) {
		if pg := t.dir[k]; pg != nil && pg.number == p {
			return pg
		}
	}
	return nil
}

// All yields the values in order of id, in time proportional to the span of ids still held.
func (t *Table[V]) All() iter.Seq2[int64, *V] {
	return func(yield func(int64, *V) bool) {
		for id := t.head << pageBits; id <= t.last; id++ {
			if v := t.Get(id); v != nil && !yield(id, v) {
				return
			}
		}
	}
}

// open makes page p the newest one.
func (t *Table[V]) open(p int64) {
	if n := int64(len(t.dir)); t.tail-t.head >= n {
		t.grow(max(4, 2*n))
	}
	pg := t.free
	if pg == nil {
		pg = new(page[V])
	} else {
		t.free, pg.next = pg.next, nil
	}
	pg.number = p
	t.dir[p&int64(len(t.dir)-1)] = pg
	t.tail = p + 1
	if before := p - 1; before >= t.head {
		if old := t.dir[before&int64(len(t.dir)-1)]; old != nil && old.live == 0 {
			t.recycle(before) // all its ids were dropped before the last of them was issued
		}
	}
}

func (t *Table[V]) grow(n int64) {
	dir := make([]*page[V], n)
	for p := t.head; p < t.tail; p++ {
		dir[p&(n-1)] = t.dir[p&int64(len(t.dir)-1)]
	}
	t.dir = dir
}

// recycle takes the empty page p out of the directory.
func (t *Table[V]) recycle(p int64) {
	mask := int64(len(t.dir) - 1)
	pg := t.dir[p&mask]
	clear(pg.slots[:]) // a value may hold pointers
	pg.next, t.free = t.free, pg
	t.dir[p&mask] = nil
	for t.head < t.tail && t.dir[t.head&mask] == nil {
		t.head++
	}
}
