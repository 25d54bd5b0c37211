package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acpkit/acpkit/rpc"
	"github.com/google/go-cmp/cmp"
)

// A cancel right behind its prompt, in the same write, always meets that
// prompt, because it starts only when the prompt has called Admitted.
//
// BL-033: a thousand times in one write.
func TestCancelRightBehindItsPrompt(t *testing.T) {
	var running sync.Map // session → the function that cancels its prompt
	c := byMethod(handlers{
		"prompt": func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			running.Store(sessionKey("", req.Params), cancel)
			rpc.Admitted(ctx)
			<-ctx.Done()
			rpc.Admitted(ctx) // again: nothing
			return raw(`"cancelled"`), nil
		},
		"cancel": func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
			cancel, ok := running.LoadAndDelete(sessionKey("", req.Params))
			if !ok {
				t.Error("a cancel came before its prompt")
				return nil, nil
			}
			cancel.(context.CancelFunc)()
			return nil, nil
		},
	})
	c.Key = sessionKey
	p := start(t, c)
	var lines []string
	const many = 1000
	for i := range many {
		lines = append(lines,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"prompt","params":{"s":"s%d"}}`, i, i%7),
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"cancel","params":{"s":"s%d"}}`, i%7))
	}
	go p.send(lines...)
	answered := map[string]bool{}
	for range many {
		line := p.recv()
		if !strings.HasSuffix(line, `"result":"cancelled"}`) || answered[line] {
			t.Fatal(line)
		}
		answered[line] = true
	}
}

// Messages of one key keep their order whether they are requests or not;
// other keys and requests without a key go past them.
func TestKeysKeepOrder(t *testing.T) {
	hold := make(chan bool)
	var mu sync.Mutex
	handled := map[string][]string{}
	p := start(t, rpc.Config{
		Key: sessionKey,
		Handler: func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
			if req.Method == "hold" {
				<-hold
				return nil, nil
			}
			mu.Lock()
			defer mu.Unlock()
			key := sessionKey("", req.Params)
			handled[key] = append(handled[key], req.Method)
			return nil, nil
		},
	})
	p.send(`{"jsonrpc":"2.0","id":"A","method":"hold","params":{"s":"a"}}`)
	p.send(`{"jsonrpc":"2.0","method":"hold"}`) // the queue of notifications without a key
	var want []string
	for i := range 100 {
		m := fmt.Sprint(i)
		want = append(want, m)
		p.send(`{"jsonrpc":"2.0","method":"` + m + `","params":{"s":"a"}}`)
		p.send(`{"jsonrpc":"2.0","method":"` + m + `","params":{"s":"b"}}`)
		p.send(`{"jsonrpc":"2.0","method":"` + m + `"}`)
	}
	p.send(`{"jsonrpc":"2.0","id":"free","method":"free"}`)
	p.expect(`{"jsonrpc":"2.0","id":"free","result":{}}`)
	p.send(`{"jsonrpc":"2.0","id":"b","method":"end","params":{"s":"b"}}`)
	p.expect(`{"jsonrpc":"2.0","id":"b","result":{}}`)
	p.send(`{"jsonrpc":"2.0","id":"a","method":"end","params":{"s":"a"}}`)
	mu.Lock()
	if diff := cmp.Diff(map[string][]string{"b": append(slices.Clone(want), "end"), "": {"free"}}, handled); diff != "" {
		t.Error(diff)
	}
	mu.Unlock()
	close(hold)
	p.expect(`{"jsonrpc":"2.0","id":"A","result":{}}`, `{"jsonrpc":"2.0","id":"a","result":{}}`)
	p.eof()
	if diff := cmp.Diff(append(slices.Clone(want), "end"), handled["a"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append([]string{"free"}, want...), handled[""]); diff != "" {
		t.Error(diff)
	}
}

// A response comes after the notifications before it, of every key, and
// responses that wait stay in their order.
func TestResponseComesAfterNotifications(t *testing.T) {
	var handled atomic.Int32
	hold := make(chan bool)
	p := start(t, rpc.Config{
		Key: sessionKey,
		Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
			switch req.Method {
			case "hold":
				<-hold
			case "admit":
				rpc.Admitted(ctx) // done for all that waits on it
				<-ctx.Done()
				return nil, nil
			}
			handled.Add(1)
			return nil, nil
		},
	})
	ids := make(chan string, 2)
	for i := range 2 {
		go func() {
			_, err := p.conn.Call(context.Background(), fmt.Sprint(i), nil)
			if err != nil {
				t.Error(err)
			}
			ids <- fmt.Sprint(i, " after ", handled.Load())
		}()
		p.recv()
	}
	p.send(`{"jsonrpc":"2.0","method":"admit","params":{"s":"x"}}`)
	p.send(`{"jsonrpc":"2.0","method":"hold","params":{"s":"a"}}`)
	for range 50 {
		p.send(`{"jsonrpc":"2.0","method":"n","params":{"s":"a"}}`)
		p.send(`{"jsonrpc":"2.0","method":"n","params":{"s":"b"}}`)
	}
	p.send(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	p.send(`{"jsonrpc":"2.0","id":"q","method":"request"}`)
	p.expect(`{"jsonrpc":"2.0","id":"q","result":{}}`) // so all before it has been read
	select {
	case got := <-ids:
		t.Error("too early: ", got)
	default:
	}
	close(hold)
	if got := receive(t, ids); got != "0 after 102" {
		t.Error(got)
	}
	p.send(`{"jsonrpc":"2.0","id":2,"result":{}}`) // nothing before it: at once
	receive(t, ids)
}

// A handler of a notification that calls back, with the queue full behind it,
// gets its response: reading goes on past the bound.
func TestCallFromHandlerWithFullQueue(t *testing.T) {
	var calls atomic.Int32
	var conn *rpc.Conn
	p := start(t, rpc.Config{
		Queue: 1,
		Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
			ctx, cancel := context.WithCancel(ctx) // derived contexts count
			defer cancel()
			if _, err := conn.Call(ctx, "back", nil); err != nil {
				t.Error(err)
			}
			calls.Add(1)
			return nil, nil
		},
	})
	conn = p.conn
	go func() {
		for range 100 {
			p.send(`{"jsonrpc":"2.0","method":"note"}`)
		}
	}()
	for i := range 100 {
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"back"}`, i+1))
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i+1))
	}
	p.eof()
	if calls.Load() != 100 {
		t.Error(calls.Load())
	}
}

// Requests may not hold up the reader while a Call is pending anywhere: here
// their handlers wait for a Call that another goroutine makes.
func TestCallElsewhereWithFullQueue(t *testing.T) {
	answered := make(chan bool)
	p := start(t, rpc.Config{
		Queue: 2,
		Handler: func(context.Context, *rpc.Request) (rpc.Appender, error) {
			<-answered
			return nil, nil
		},
	})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`, `{"jsonrpc":"2.0","id":2,"method":"m"}`, `{"jsonrpc":"2.0","id":3,"method":"m"}`)
	go func() {
		if _, err := p.conn.Call(context.Background(), "elsewhere", nil); err != nil {
			t.Error(err)
		}
		close(answered)
	}()
	p.expect(`{"jsonrpc":"2.0","id":1,"method":"elsewhere"}`)
	p.send(`{"jsonrpc":"2.0","id":4,"method":"m"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	for range 4 {
		p.recv()
	}
}

// Slow handlers push back on the pipe: what has been read and not handled
// stays within Queue, also while a Call waits for the end of it all.
//
// BL-021: 20,000 notifications, no disconnect.
func TestSlowHandlerBoundsMemory(t *testing.T) {
	for _, pending := range []bool{false, true} {
		t.Run(fmt.Sprintf("call pending %v", pending), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { slowHandler(t, pending) })
		})
	}
}

func slowHandler(t *testing.T, pending bool) {
	const many, queue = 20_000, 100
	connIn, in := io.Pipe() // no buffer of its own
	out, connOut := io.Pipe()
	var written, handled atomic.Int32
	conn := rpc.New(connIn, connOut, rpc.Config{
		Queue: queue,
		Handler: func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
			time.Sleep(time.Millisecond)
			n := handled.Add(1)
			if want := fmt.Sprintf("n%d", n); req.Method != want {
				t.Errorf("got %s, want %s", req.Method, want)
			}
			const readBuffer = 64 // lines of 1 kB
			if behind := written.Load() - n; behind > queue+readBuffer+2 {
				t.Errorf("%d notifications written and not handled", behind)
			}
			return nil, nil
		},
	})
	ran := make(chan error, 1)
	go func() { ran <- conn.Run(context.Background()) }()
	called := make(chan int32, 1)
	if pending {
		go func() {
			if _, err := conn.Call(context.Background(), "load", nil); err != nil {
				t.Error(err)
			}
			called <- handled.Load()
		}()
		if _, err := out.Read(make([]byte, 1000)); err != nil {
			t.Error(err)
		}
	}
	pad := strings.Repeat("x", 1000)
	for i := range many {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","method":"n%d","params":"%s"}`+"\n", i+1, pad)
		written.Add(1)
	}
	if pending {
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		if n := <-called; n != many {
			t.Errorf("the response came after %d of %d", n, many)
		}
	}
	in.Close()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if n := handled.Load(); n != many {
		t.Errorf("handled %d", n)
	}
}

// A handler that has called Admitted does not count for Queue, with a key or
// without: what ends its wait can still be read.
func TestAdmittedLeavesTheQueue(t *testing.T) {
	p := start(t, rpc.Config{
		Queue: 1,
		Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
			rpc.Admitted(ctx)
			<-ctx.Done()
			return raw(`"ended"`), nil
		},
	})
	for i := range 50 {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, i))
	}
	for i := range 50 {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}`, i))
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"ended"}`, i))
	}
	rpc.Admitted(context.Background()) // outside a handler: nothing
}

// Lines that hold much count as well as many lines.
func TestQueueBoundsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connIn, in := io.Pipe()
		var handled atomic.Int32
		hold := make(chan bool)
		conn := rpc.New(connIn, io.Discard, rpc.Config{
			MaxLine: 2 << 20,
			Handler: func(context.Context, *rpc.Request) (rpc.Appender, error) {
				<-hold
				handled.Add(1)
				return nil, nil
			},
		})
		ran := make(chan error, 1)
		go func() { ran <- conn.Run(context.Background()) }()
		var written atomic.Int32
		go func() {
			pad := strings.Repeat("x", 1<<20)
			for range 20 {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","method":"n","params":"%s"}`+"\n", pad)
				written.Add(1)
			}
			in.Close()
		}()
		synctest.Wait()
		if n := written.Load(); n > 4 {
			t.Errorf("%d MiB read", n)
		}
		close(hold)
		if err := <-ran; err != nil || handled.Load() != 20 {
			t.Error(err, handled.Load())
		}
	})
}

// An inline notification has taken effect when a response behind it is
// delivered, also to a Call from inside a handler, also on one processor.
func TestInlineComesBeforeWhatIsBehindIt(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var cancelled atomic.Int64
	var p *peer
	p = start(t, rpc.Config{
		Key:    func(string, json.RawMessage) string { return "session" },
		Inline: func(method string) bool { return method == "cancel" },
		Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
			if req.Method == "cancel" {
				cancelled.Add(1)
				return nil, nil
			}
			rpc.Admitted(ctx)
			before := cancelled.Load()
			if _, err := p.conn.Call(ctx, "ask", nil); err != nil {
				return nil, err
			}
			return raw(strconv.FormatInt(cancelled.Load()-before, 10)), nil
		},
	})
	for i := 1; i <= 200; i++ {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"p%d","method":"prompt"}`, i))
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask"}`, i))
		p.send(`{"jsonrpc":"2.0","method":"cancel"}` + "\n" + fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"cancelled"}`, i))
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":"p%d","result":1}`, i))
	}
}
