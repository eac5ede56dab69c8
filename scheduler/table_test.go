package scheduler

import (
	"testing"

	"coldwave/internal/rng"
)

// TestTable compares a table with a map under many orders of Add and Drop.
func TestTable(t *testing.T) {
	for seed := range uint64(50) {
		r := rng.Stream(seed, "table")
		var table Table[int64]
		want := map[int64]int64{}
		alive := []int64{}
		most := 1 + r.IntN(300)
		for step := range 3000 {
			if len(alive) < most && r.IntN(3) > 0 || len(alive) == 0 {
				v := int64(step)
				id := table.Add(v)
				want[id] = v
				alive = append(alive, id)
			} else {
				k := r.IntN(len(alive))
				table.Drop(alive[k])
				delete(want, alive[k])
				alive[k] = alive[len(alive)-1]
				alive = alive[:len(alive)-1]
			}
			if table.Len() != len(want) {
				t.Fatalf("seed %d, step %d: Len() = %d, want %d", seed, step, table.Len(), len(want))
			}
		}
		sameTable(t, seed, &table, want)
	}
}

func sameTable(t *testing.T, seed uint64, table *Table[int64], want map[int64]int64) {
	t.Helper()
	for id := int64(-1); id <= table.Last()+100; id++ {
		got := table.Get(id)
		if v, ok := want[id]; ok != (got != nil) || ok && *got != v {
			t.Fatalf("seed %d: Get(%d) = %v, want %v, %v", seed, id, got, v, ok)
		}
	}
	n, before := 0, int64(0)
	for id, v := range table.All() {
		if id <= before || want[id] != *v {
			t.Fatalf("seed %d: All() yields %d, %d after %d, want %d", seed, id, *v, before, want[id])
		}
		before, n = id, n+1
	}
	if n != len(want) {
		t.Fatalf("seed %d: All() yields %d values, want %d", seed, n, len(want))
	}
}

// TestTableReusesPages: ids go on for ever, memory does not, in whatever order ids are dropped within a window.
func TestTableReusesPages(t *testing.T) {
	tests := []struct {
		name string
		next func(k, window int64) int64 // which of the ids 1 … to drop at the k-th Add
	}{
		{"oldest first", func(k, window int64) int64 { return k - window }},
		{"newest first: a page can be empty before its last id is issued", func(k, _ int64) int64 { return k }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var table Table[int64]
			turn := func() {
				id := table.Add(7)
				table.Drop(tt.next(id, 100))
			}
			for range 10_000 {
				turn()
			}
			if got := testing.AllocsPerRun(10_000, turn); got != 0 {
				t.Errorf("a turn allocates %v times, want 0", got)
			}
			if len(table.dir) > 16 {
				t.Errorf("the directory has %d pages for 100 values, want ≤ 16", len(table.dir))
			}
		})
	}
}

// TestTableDropsTwice: what is not there can be dropped without harm.
func TestTableDropsTwice(t *testing.T) {
	var table Table[string]
	table.Drop(1)
	id := table.Add("a")
	table.Drop(id)
	table.Drop(id)
	table.Drop(99)
	if got := table.Add("b"); got != 2 || table.Len() != 1 || *table.Get(2) != "b" {
		t.Errorf("Add = %d with %d values, want 2 with 1", got, table.Len())
	}
}

// TestAllStops: a loop over All may end early.
func TestAllStops(t *testing.T) {
	var table Table[int]
	for k := range 100 {
		table.Add(k)
	}
	n := 0
	for range table.All() {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("the loop ran %d times, want 3", n)
	}
}

// TestTableHoldsNothing: what was never issued is not there, whatever slot it would have.
func TestTableHoldsNothing(t *testing.T) {
	var table Table[int]
	for k := range int64(200) {
		if table.Get(k-100) != nil {
			t.Fatalf("Get(%d) of an empty table finds something", k-100)
		}
	}
	id := table.Add(1)
	for _, other := range []int64{id - 33, id - 32, -id, ^id, 0, id + 1, id + 32, id + 128} {
		if table.Get(other) != nil {
			t.Errorf("Get(%d) finds something, only %d was issued", other, id)
		}
	}
	table.Drop(id)
	if table.Get(id) != nil || table.Get(^id) != nil {
		t.Errorf("something is left of %d", id)
	}
}
