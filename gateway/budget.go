package gateway

import "sync/atomic"

// budget is a number of bytes that many requests share. It is safe for concurrent use.
type budget struct {
	limit int64
	used  atomic.Int64
}

// take reserves n bytes, or nothing.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

// give gives back n bytes.
func (b *budget) give(n int64) { b.used.Add(-n) }
