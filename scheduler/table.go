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
//
// Note: giving the place that was dropped last to the next id would touch less memory, but it made a simulated request an
// eighth slower: requests come and go nearly in order, and serial places are fetched ahead.
type Table[V any] struct {
	dir    []*page[V] // ring of pages, its length a power of two; page p sits at p & (len-1)
	head   int64      // first page that may still hold a value
	tail   int64      // one after the last page that was opened
	last   int64      // last id that was issued
	size   int
	newest *page[V] // page tail-1
	free   *page[V]
}

type page[V any] struct {
	slots [pageSize]slot[V] // first, so that one of 64 bytes lies in one cache line
	live  int               // slots that hold a value
	next  *page[V]
}

type slot[V any] struct {
	id    int64 // if it holds nothing: one that belongs to another slot, so that one comparison tells
	value V
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

// New takes the next id and returns it with the place of its value. What is there is left from an earlier id: the caller
// fills it. Filling a large value in place saves copying it.
func (t *Table[V]) New() (int64, *V) {
	id := t.last + 1
	if id>>pageBits >= t.tail {
		t.open(id >> pageBits)
	}
	t.last = id
	t.size++
	pg := t.newest
	pg.live++
	s := &pg.slots[id&pageMask]
	s.id = id
	return id, &s.value
}

// Get returns the value of id, or nil if it was dropped or never issued. The pointer is good until Drop(id).
func (t *Table[V]) Get(id int64) *V {
	if pg := t.page(id >> pageBits); pg != nil {
		if s := &pg.slots[id&pageMask]; s.id == id {
			return &s.value
		}
	}
	return nil
}

// Drop forgets the value of id. Dropping an id that holds nothing does nothing.
func (t *Table[V]) Drop(id int64) {
	pg := t.page(id >> pageBits)
	if pg == nil || pg.slots[id&pageMask].id != id {
		return
	}
	pg.slots[id&pageMask].id = ^id
	pg.live--
	t.size--
	if pg.live == 0 && pg != t.newest {
		t.recycle(id >> pageBits)
	}
}

// page returns the page at the place of page p: nil, p, or another one.
func (t *Table[V]) page(p int64) *page[V] {
	if k := uint64(p) & uint64(len(t.dir)-1); k < uint64(len(t.dir)) {
		return t.dir[k]
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
		pg.slots[0].id = ^0 // the others have 0, which is its id
	} else {
		t.free, pg.next = pg.next, nil
	}
	t.dir[p&int64(len(t.dir)-1)] = pg
	t.newest, t.tail = pg, p+1
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
	pg.next, t.free = t.free, pg
	t.dir[p&mask] = nil
	for t.head < t.tail && t.dir[t.head&mask] == nil {
		t.head++
	}
}
