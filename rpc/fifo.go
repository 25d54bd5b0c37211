package rpc

// fifo is a first-in first-out queue. Its memory follows what it holds, not
// what has gone through it.
type fifo[T any] struct {
	items []T
	head  int // items[:head] are gone
}

func (f *fifo[T]) len() int { return len(f.items) - f.head }

func (f *fifo[T]) push(item T) {
	if len(f.items) == cap(f.items) && f.head > len(f.items)/2 {
		n := copy(f.items, f.items[f.head:])
		clear(f.items[n:])
		f.items, f.head = f.items[:n], 0
	}
	f.items = append(f.items, item)
}

// front returns the oldest item; there must be one.
func (f *fifo[T]) front() T { return f.items[f.head] }

func (f *fifo[T]) pop() T {
	var zero T
	item := f.items[f.head]
	f.items[f.head] = zero
	f.head++
	if f.head < len(f.items) {
		return item
	}
	const keep = 64
	f.head = 0
	if cap(f.items) > keep {
		f.items = nil
	}
	f.items = f.items[:0]
	return item
}
