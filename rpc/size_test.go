package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acpkit/acpkit/rpc"
	"github.com/google/go-cmp/cmp"
)

// A line of exactly 64 MiB is a request like any other; one byte more is
// drained, answered and survived, and of neither is anything kept.
//
// BL-012: one line over the limit ends nothing but itself.
func TestDefaultLineLimit(t *testing.T) {
	const limit = 64 << 20
	r, w := io.Pipe()
	out := &logBuffer{}
	conn := rpc.New(r, out, rpc.Config{Handler: func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
		return raw(strconv.Itoa(len(req.Params))), nil
	}})
	ran := make(chan error, 1)
	go func() { ran <- conn.Run(context.Background()) }()
	head, tail := `{"jsonrpc":"2.0","id":1,"method":"m","params":"`, `"}`
	pad := limit - len(head) - len(tail)
	writeLong(t, w, head, pad, tail+"\n")
	writeLong(t, w, head, pad+1, tail+"\n")
	for deadline := time.Now().Add(patience); strings.Count(out.String(), "\n") < 2 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	writeLong(t, w, head, 2*limit, tail+"\n") // all of it drained
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc-before.TotalAlloc) >> 20; grown > 140 { // what doubling takes to reach the limit
		t.Errorf("draining a line of 128 MiB allocated %d MiB", grown)
	}
	writeLong(t, w, head, 10, tail) // and on it goes
	w.Close()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	result := func(n int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":%d}`, n) }
	tooLong := errorLine("null", -32700, "parse error: line longer than 67108864 bytes")
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(got)
	if diff := cmp.Diff([]string{result(12), result(pad + 2), tooLong, tooLong}, got); diff != "" {
		t.Error(diff)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > 64<<20 {
		t.Errorf("%d MiB kept", after.HeapAlloc>>20)
	}
	runtime.KeepAlive(conn)
}

func writeLong(t *testing.T, w io.Writer, head string, pad int, tail string) {
	t.Helper()
	part := bytes.Repeat([]byte("x"), 1<<20)
	io.WriteString(w, head)
	for ; pad > 0; pad -= len(part) {
		if _, err := w.Write(part[:min(pad, len(part))]); err != nil {
			t.Fatal(err)
		}
	}
	io.WriteString(w, tail)
}

// Lines of every awkward size pass in both directions: as requests and results,
// as results of Calls from inside and outside, as notifications.
//
// BL-011, BL-019: 64 KiB and about; 128 KiB. BL-013: a response of 5 MiB to a
// handler's Call. BL-014: a notification of 300 KiB and the one behind it.
// BL-016, BL-017: 17 MiB at once.
func TestSizesBothWays(t *testing.T) {
	for _, size := range []int{1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 128 << 10, 300 << 10, 1 << 20, 5 << 20, 17 << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			var conn *rpc.Conn
			notes := make(chan int, 2)
			p := start(t, byMethod(handlers{
				"echo": echo,
				"note": func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
					notes <- len(req.Params)
					return nil, nil
				},
				"call": func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
					result, err := conn.Call(ctx, "inner", raw(req.Params))
					return raw(result), err
				},
			}))
			conn = p.conn
			body := `"` + strings.Repeat("é", size/2) + strings.Repeat("x", size%2) + `"`
			send := func(format string, args ...any) { go p.write(fmt.Sprintf(format, args...) + "\n") }
			expect := func(want string) {
				t.Helper()
				if got := p.recv(); got != want {
					t.Errorf("got %d bytes %.80s, want %d bytes %.80s", len(got), got, len(want), want)
				}
			}
			if size != 5<<20 {
				send(`{"jsonrpc":"2.0","id":"a","method":"echo","params":%s}`, body)
				expect(`{"jsonrpc":"2.0","id":"a","result":` + body + `}`)
			}
			if size > 5<<20 {
				return // the other ways differ only in what is around the body
			}
			send(`{"jsonrpc":"2.0","id":"b","method":"call","params":%s}`, body)
			expect(`{"jsonrpc":"2.0","id":1,"method":"inner","params":` + body + `}`)
			send(`{"jsonrpc":"2.0","id":1,"result":%s}`, body)
			expect(`{"jsonrpc":"2.0","id":"b","result":` + body + `}`)
			if size == 5<<20 {
				return
			}
			send("{\"jsonrpc\":\"2.0\",\"method\":\"note\",\"params\":%s}\n"+`{"jsonrpc":"2.0","method":"note","params":[]}`, body)
			if n := receive(t, notes); n != len(body) {
				t.Errorf("a notification of %d bytes became %d", len(body), n)
			}
			if n := receive(t, notes); n != 2 {
				t.Errorf("the one behind it: %d", n)
			}
			result := make(chan int, 1)
			go func() {
				got, _ := conn.Call(context.Background(), "outer", nil)
				result <- len(got)
			}()
			p.recv()
			send(`{"jsonrpc":"2.0","id":2,"result":%s}`, body)
			if n := receive(t, result); n != len(body) {
				t.Errorf("a result of %d bytes became %d", len(body), n)
			}
		})
	}
}

// An oversize line in one session leaves the other alone.
//
// BL-015: and everything else on the connection too.
func TestOversizeLineIsOneSessions(t *testing.T) {
	p := start(t, rpc.Config{MaxLine: 200_000, Key: sessionKey, Handler: echo})
	result := make(chan error, 1)
	go func() {
		_, err := p.conn.Call(context.Background(), "prompt", nil)
		result <- err
	}()
	p.recv()
	go p.send(`{"jsonrpc":"2.0","id":"b","method":"prompt","params":{"s":"b"}}`,
		`{"jsonrpc":"2.0","method":"update","params":{"s":"a","x":"`+strings.Repeat("x", 200_000)+`"}}`,
		`{"jsonrpc":"2.0","id":"c","method":"prompt","params":{"s":"b"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if err := receive(t, result); err != nil {
		t.Error(err)
	}
	all := p.recv() + p.recv() + p.recv()
	for _, want := range []string{`"id":"b","result"`, `"id":"c","result"`, `"id":null,"error":{"code":-32700`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
}

// A load whose replay is one line of 12 MiB and 20,000 short ones, into a
// handler that takes its time: all come, in order, before the response.
//
// BL-018: a long line and a burst. BL-021: no disconnect whatever waits.
// BL-114: as many are handled as were sent.
func TestReplayInOneBurst(t *testing.T) {
	const many = 20_000
	next := 0 // only handlers of one key touch it
	p := start(t, rpc.Config{Handler: func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
		if req.Method != "long" {
			if req.Method != strconv.Itoa(next) {
				t.Errorf("got %s, want %d", req.Method, next)
			}
			next++
			if next%100 == 0 {
				runtime.Gosched()
			}
		}
		return nil, nil
	}})
	loaded := make(chan int, 1)
	go func() {
		_, err := p.conn.Call(context.Background(), "session/load", nil)
		if err != nil {
			t.Error(err)
		}
		loaded <- next
	}()
	p.recv()
	var b strings.Builder
	for i := range many {
		if i == many/2 {
			b.WriteString(`{"jsonrpc":"2.0","method":"long","params":"` + strings.Repeat("x", 12<<20) + "\"}\n")
		}
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","method":"%d"}`+"\n", i)
	}
	b.WriteString(`{"jsonrpc":"2.0","id":1,"result":null}` + "\n")
	go p.write(b.String())
	if n := receive(t, loaded); n != many {
		t.Errorf("loaded after %d", n)
	}
}

// 20,000 notifications of 2 kB into a slow handler: the heap does not follow
// what is sent, with and without a Call that waits behind them.
//
// BL-021: bounded memory.
func TestBurstLeavesTheHeapFlat(t *testing.T) {
	for _, pending := range []bool{false, true} {
		t.Run(fmt.Sprintf("call pending %v", pending), func(t *testing.T) {
			const many = 20_000
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			base, peak := m.HeapAlloc, uint64(0)
			var handled atomic.Int32
			p := start(t, rpc.Config{Queue: 100, Handler: func(context.Context, *rpc.Request) (rpc.Appender, error) {
				if n := handled.Add(1); n%4000 == 0 {
					runtime.GC() // else we measure the collector
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					peak = max(peak, m.HeapAlloc)
				}
				return nil, nil
			}})
			ended := make(chan error, 1)
			if pending {
				go func() {
					_, err := p.conn.Call(context.Background(), "load", nil)
					ended <- err
				}()
				p.recv()
			}
			line := `{"jsonrpc":"2.0","method":"n","params":"` + strings.Repeat("x", 2_000) + "\"}\n"
			lines := strings.Repeat(line, 50)
			for range many / 50 {
				p.write(lines)
			}
			if pending {
				p.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
				if err := receive(t, ended); err != nil {
					t.Error(err)
				}
			}
			p.eof()
			if handled.Load() != many {
				t.Errorf("handled %d", handled.Load())
			}
			if grown := int64(peak-base) >> 20; grown > 8 {
				t.Errorf("the heap grew by %d MiB", grown)
			}
		})
	}
}
