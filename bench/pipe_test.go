package bench

import (
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What the issue and DESIGN section 10 count.
const (
	requests = 5000
	inFlight = 64
	chunks   = 20000
	// sdkBurst is what the SDK's host survives: it hangs up with more than 1,024
	// notifications waiting.
	sdkBurst = 1000
)

// One request after the other.
func BenchmarkRoundTrip(b *testing.B) {
	for _, a := range agents {
		b.Run("agent/"+a.side, func(b *testing.B) {
			d := drive(b, func(r io.Reader, w io.Writer) func() { return a.start(r, w, 0) })
			timed(b, func() {
				d.send(b, setMode)
				answered(b, d.skip(b, 1))
			})
		})
	}
	// What of that is the pipes and the driver: an agent that decodes nothing.
	b.Run("agent/floor", func(b *testing.B) {
		d := drive(b, floor)
		timed(b, func() {
			d.send(b, setMode)
			answered(b, d.skip(b, 1))
		})
	})
	// The library at both ends, as two processes that use it would have it.
	for i, h := range hosts {
		b.Run("both/"+h.side, func(b *testing.B) {
			r, w, end := connect(b, func(r, w *os.File) { agents[i].start(r, w, 0)() })
			defer end()
			c, err := h.start(r, w, nil)
			if err != nil {
				b.Fatal(err)
			}
			timed(b, func() {
				if err := c.setMode(); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// timed reports the median beside the mean: a busy machine moves it less.
func timed(b *testing.B, f func()) {
	b.ReportAllocs()
	spent := cpu(b)
	var took []time.Duration
	for b.Loop() {
		t := time.Now()
		f()
		took = append(took, time.Since(t))
	}
	spent()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
}

// 5,000 requests, 64 in flight.
func BenchmarkPipelined(b *testing.B) {
	for _, a := range agents {
		b.Run("agent/"+a.side, func(b *testing.B) {
			d := drive(b, func(r io.Reader, w io.Writer) func() { return a.start(r, w, 0) })
			b.ReportAllocs()
			defer cpu(b)()
			slots := make(chan struct{}, inFlight)
			for b.Loop() {
				var sending sync.WaitGroup
				sending.Go(func() {
					for range requests {
						slots <- struct{}{}
						d.send(b, setMode)
					}
				})
				for range requests {
					answered(b, d.skip(b, 1))
					<-slots
				}
				sending.Wait()
			}
			b.ReportMetric(requests, "items")
		})
	}
}

// An agent that sends 20,000 chunks in one turn, one notification each.
func BenchmarkStream(b *testing.B) {
	for _, a := range agents {
		b.Run("agent/"+a.side, func(b *testing.B) {
			d := drive(b, func(r io.Reader, w io.Writer) func() { return a.start(r, w, chunks) })
			b.ReportAllocs()
			defer cpu(b)()
			for b.Loop() {
				d.send(b, prompt)
				answered(b, d.skip(b, chunks+1))
			}
			b.ReportMetric(chunks, "items")
		})
	}
}

// A host that receives 20,000 chunks. burst: in one turn, but the SDK's host in
// turns of 1,000, because it would hang up (see BenchmarkLost). turns: both in
// turns of 1,000.
func BenchmarkReceive(b *testing.B) {
	for _, c := range []struct {
		name      string
		ours, sdk int
	}{{"burst", chunks, sdkBurst}, {"turns", sdkBurst, sdkBurst}} {
		for _, h := range hosts {
			b.Run(c.name+"/"+h.side, func(b *testing.B) {
				burst := c.ours
				if h.side == "sdk" {
					burst = c.sdk
				}
				r, w, end := connect(b, func(r, w *os.File) { firehose(r, w, burst) })
				defer end()
				var received atomic.Int64
				c, err := h.start(r, w, func() { received.Add(1) })
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				defer cpu(b)()
				for b.Loop() {
					received.Store(0)
					for range chunks / burst {
						if err := c.prompt(); err != nil {
							b.Fatal(err)
						}
					}
					if n := received.Load(); n != chunks {
						b.Fatalf("%d of %d received", n, chunks)
					}
				}
				b.ReportMetric(chunks, "items")
			})
		}
	}
}

// How many of 20,000 chunks in one turn never reach the host's handler. Its
// time means nothing.
func BenchmarkLost(b *testing.B) {
	for _, h := range hosts {
		b.Run("burst/"+h.side, func(b *testing.B) {
			lost := 0
			for b.Loop() {
				r, w, end := connect(b, func(r, w *os.File) { firehose(r, w, chunks) })
				var received atomic.Int64
				c, err := h.start(r, w, func() { received.Add(1) })
				if err != nil {
					b.Fatal(err)
				}
				if c.prompt() != nil { // it hung up; what it has queued still reaches the handler
					for last := int64(-1); last != received.Load(); time.Sleep(20 * time.Millisecond) {
						last = received.Load()
					}
				}
				lost += chunks - int(received.Load())
				end()
			}
			b.ReportMetric(float64(lost)/float64(b.N), "lost")
		})
	}
}
