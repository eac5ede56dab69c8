package platform

// ordered is what a heap holds.
type ordered[T any] interface{ before(T) bool }

// heap is a binary heap, the first one at the top. The zero heap is empty.
type heap[T ordered[T]] []T

func (h *heap[T]) push(v T) {
	*h = append(*h, v)
	h.up(len(*h) - 1)
}

// pop removes and returns the first one; there must be one.
func (h *heap[T]) pop() T {
	first := (*h)[0]
	h.cut(0)
	return first
}

// remove removes one that is meant, if there is one, in linear time.
func (h *heap[T]) remove(meant func(T) bool) bool {
	for k, v := range *h {
		if meant(v) {
			h.cut(k)
			return true
		}
	}
	return false
}

// cut takes out the one at k.
func (h *heap[T]) cut(k int) {
	all := *h
	last := len(all) - 1
	all[k] = all[last]
	*h = all[:last]
	if k < last {
		h.down(k)
		h.up(k)
	}
}

func (h heap[T]) up(k int) {
	for k > 0 && h[k].before(h[(k-1)/2]) {
		h[k], h[(k-1)/2] = h[(k-1)/2], h[k]
		k = (k - 1) / 2
	}
}

func (h heap[T]) down(k int) {
	for {
		least := k
		for child := 2*k + 1; child <= 2*k+2 && child < len(h); child++ {
			if h[child].before(h[least]) {
				least = child
			}
		}
		if least == k {
			return
		}
		h[k], h[least] = h[least], h[k]
		k = least
	}
}
