package rpc_test

import (
	"context"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/acpkit/acpkit/rpc"
)

// pair joins two Conns by real pipes, as two processes are, and runs them until
// the benchmark ends.
func pair(b *testing.B, near, far rpc.Config) (*rpc.Conn, *rpc.Conn) {
	b.Helper()
	r1, w1, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	r2, w2, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	c1, c2 := rpc.New(r1, w2, near), rpc.New(r2, w1, far)
	var running sync.WaitGroup
	run := func(c *rpc.Conn, r, w *os.File) {
		defer r.Close()
		defer w.Close()
		if err := c.Run(context.Background()); err != nil {
			b.Error(err)
		}
	}
	running.Go(func() { run(c1, r1, w2) })
	running.Go(func() { run(c2, r2, w1) })
	b.Cleanup(func() {
		w1.Close() // ends c1's input; its own end then ends c2's
		running.Wait()
	})
	return c1, c2
}

const chunk = raw(`{"sessionId":"sess_0123456789","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"sixteen bytes ok"}}}`)

func BenchmarkRoundTrip(b *testing.B) {
	near, _ := pair(b, rpc.Config{}, rpc.Config{Handler: echo})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := near.Call(b.Context(), "echo", chunk); err != nil {
			b.Fatal(err)
		}
	}
}

// 64 requests in flight.
func BenchmarkParallelCalls(b *testing.B) {
	near, _ := pair(b, rpc.Config{}, rpc.Config{Handler: echo})
	b.ReportAllocs()
	var left atomic.Int64
	left.Store(int64(b.N))
	var workers sync.WaitGroup
	b.ResetTimer()
	for range 64 {
		workers.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := near.Call(b.Context(), "echo", chunk); err != nil {
					b.Error(err)
				}
			}
		})
	}
	workers.Wait()
}

// Notifications from one Conn to another; the last is followed by a response,
// which comes when all are handled.
func BenchmarkNotifications(b *testing.B) {
	var handled atomic.Int64
	near, far := pair(b,
		rpc.Config{Handler: func(context.Context, *rpc.Request) (rpc.Appender, error) { handled.Add(1); return nil, nil }},
		rpc.Config{Handler: echo})
	b.ReportAllocs()
	b.SetBytes(int64(len(chunk)))
	b.ResetTimer()
	for range b.N {
		if err := far.Notify(b.Context(), "session/update", chunk); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := near.Call(b.Context(), "echo", nil); err != nil {
		b.Fatal(err)
	}
	if int(handled.Load()) != b.N {
		b.Fatal(handled.Load())
	}
}

// The sending side alone.
func BenchmarkNotify(b *testing.B) {
	silent, end := io.Pipe()
	conn := rpc.New(silent, io.Discard, rpc.Config{})
	var running sync.WaitGroup
	running.Go(func() { conn.Run(b.Context()) })
	b.ReportAllocs()
	for b.Loop() {
		if err := conn.Notify(b.Context(), "session/update", chunk); err != nil {
			b.Fatal(err)
		}
	}
	end.Close()
	running.Wait()
}

// The receiving side alone.
func BenchmarkReceive(b *testing.B) {
	line := `{"jsonrpc":"2.0","method":"session/update","params":` + string(chunk) + "}\n"
	handled := 0
	conn := rpc.New(&repeat{text: line, left: b.N}, io.Discard, rpc.Config{
		Handler: func(context.Context, *rpc.Request) (rpc.Appender, error) { handled++; return nil, nil },
	})
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	b.ResetTimer()
	if err := conn.Run(b.Context()); err != nil || handled != b.N {
		b.Fatal(err, handled)
	}
}

type repeat struct {
	text string
	left int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := 0
	for r.left > 0 && n+len(r.text) <= len(p) {
		n += copy(p[n:], r.text)
		r.left--
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
