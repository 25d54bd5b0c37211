package rpc

import (
	"math/rand/v2"
	"testing"
)

func TestFifo(t *testing.T) {
	var f fifo[int]
	in, out, peak := 0, 0, 0
	for range 100_000 {
		if rand.IntN(1000) < 500 && in-out < 100 {
			f.push(in)
			in++
		} else if f.len() > 0 {
			if f.front() != out || f.pop() != out {
				t.Fatalf("%d is out of order", out)
			}
			out++
		}
		if f.len() != in-out {
			t.Fatalf("len %d, want %d", f.len(), in-out)
		}
		peak = max(peak, cap(f.items))
	}
	if peak > 1000 {
		t.Errorf("%d places for 100 items", peak)
	}
}
