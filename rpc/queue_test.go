package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/acpkit/acpkit/rpc"
)

// Requests without a key run at the same time: none of these ends before all
// have started.
func TestRequestsRunConcurrently(t *testing.T) {
	const many = 500
	var all sync.WaitGroup
	all.Add(many)
	p := start(t, rpc.Config{Handler: func(context.Context, *rpc.Request) (rpc.Appender, error) {
		all.Done()
		all.Wait()
		return nil, nil
	}})
	for i := range many {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, i))
	}
	for range many {
		p.recv()
	}
}

// A session that waits for an answer of the user's holds up no other.
//
// BL-049: nor requests for no session. BL-046, BL-047: a second prompt of the
// same session waits its turn, and is answered.
func TestParkedSessionHoldsUpNobody(t *testing.T) {
	var conn *rpc.Conn
	c := byMethod(handlers{
		"ask": func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
			r, err := conn.Call(ctx, "ask", nil)
			return raw(r), err
		},
		"echo": echo,
	})
	c.Key, c.Queue = sessionKey, 2
	p := start(t, c)
	conn = p.conn
	p.send(`{"jsonrpc":"2.0","id":"a1","method":"ask","params":{"s":"a"}}`)
	p.expect(`{"jsonrpc":"2.0","id":1,"method":"ask"}`)
	p.send(`{"jsonrpc":"2.0","id":"a2","method":"echo","params":{"s":"a"}}`)
	for range 50 {
		p.send(`{"jsonrpc":"2.0","id":"new","method":"echo"}`)
		p.expect(`{"jsonrpc":"2.0","id":"new","result":{"none":true}}`)
		p.send(`{"jsonrpc":"2.0","id":"b","method":"echo","params":{"s":"b"}}`)
		p.expect(`{"jsonrpc":"2.0","id":"b","result":{"s":"b"}}`)
	}
	p.send(`{"jsonrpc":"2.0","id":1,"result":"yes"}`)
	p.expect(`{"jsonrpc":"2.0","id":"a1","result":"yes"}`, `{"jsonrpc":"2.0","id":"a2","result":{"s":"a"}}`)
}

// A thousand requests that each call back twice, through a queue of four: none
// waits for another's answer, which comes in the opposite order.
func TestCallsFromAFullQueue(t *testing.T) {
	const many = 1000
	var conn *rpc.Conn
	p := start(t, rpc.Config{Queue: 4, Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
		for range 2 {
			result, err := conn.Call(ctx, "back", raw(req.Params))
			if err != nil || string(result) != string(req.Params) {
				return nil, fmt.Errorf("%s, %w", result, err)
			}
		}
		return raw(req.Params), nil
	}})
	conn = p.conn
	go func() {
		for i := range many {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":"m","params":%d}`, i, i))
		}
	}()
	for range 2 { // all of them ask before any is answered
		var answers []string
		for range many {
			var m struct {
				ID     json.RawMessage
				Method string
				Params json.RawMessage
			}
			if line := p.recv(); json.Unmarshal([]byte(line), &m) != nil || m.Method != "back" {
				t.Fatal(line)
			}
			answers = append(answers, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, m.Params))
		}
		slices.Reverse(answers)
		go p.send(answers...)
	}
	for range many {
		if line := p.recv(); !strings.Contains(line, `"result"`) {
			t.Fatal(line)
		}
	}
}

// A handler's Call gets its response although notifications before it are still
// being handled; a Call from elsewhere does not.
func TestHandlersCallIsDeliveredAtOnce(t *testing.T) {
	var conn *rpc.Conn
	hold := make(chan bool)
	c := byMethod(handlers{
		"slow": func(context.Context, *rpc.Request) (rpc.Appender, error) { <-hold; return nil, nil },
		"ask": func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
			r, err := conn.Call(ctx, "back", nil)
			return raw(r), err
		},
	})
	p := start(t, c)
	conn = p.conn
	outside := make(chan error, 1)
	go func() {
		_, err := conn.Call(context.Background(), "outside", nil)
		outside <- err
	}()
	p.expect(`{"jsonrpc":"2.0","id":1,"method":"outside"}`)
	p.send(`{"jsonrpc":"2.0","id":"a","method":"ask"}`)
	p.expect(`{"jsonrpc":"2.0","id":2,"method":"back"}`)
	p.send(`{"jsonrpc":"2.0","method":"slow"}`, `{"jsonrpc":"2.0","id":1,"result":1}`, `{"jsonrpc":"2.0","id":2,"result":2}`)
	p.expect(`{"jsonrpc":"2.0","id":"a","result":2}`)
	select {
	case <-outside:
		t.Error("the response came before the notification was handled")
	default:
	}
	close(hold)
	if err := receive(t, outside); err != nil {
		t.Error(err)
	}
}

// What a handler sends is on the wire before its answer, and what it sends
// before a Call before that.
//
// BL-022: no update after the answer, as far as the handler waits for those who
// send them.
func TestHandlersFramesKeepTheirOrder(t *testing.T) {
	var conn *rpc.Conn
	p := start(t, rpc.Config{Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
		for i := range 10 {
			if err := conn.Notify(ctx, "update", raw(fmt.Sprint(i))); err != nil {
				return nil, err
			}
		}
		return nil, errors.New("over")
	}})
	conn = p.conn
	for range 100 {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		for i := range 10 {
			p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"update","params":%d}`, i))
		}
		p.expect(errorLine("1", -32603, "over"))
	}
}

// Sessions that stream at the same time, in lines of all sizes.
//
// BL-020: 2,000 numbered chunks of each arrive in order.
func TestChunksKeepTheirOrder(t *testing.T) {
	const sessions, many = 4, 2000
	var mu sync.Mutex
	next := map[string]int{}
	p := start(t, rpc.Config{Key: sessionKey, Handler: func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
		mu.Lock()
		defer mu.Unlock()
		s := sessionKey("", req.Params)
		if want := fmt.Sprint(next[s]); req.Method != want {
			t.Errorf("%s: got %s, want %s", s, req.Method, want)
		}
		next[s]++
		return nil, nil
	}})
	var b strings.Builder
	for i := range many {
		for s := range sessions {
			fmt.Fprintf(&b, `{"jsonrpc":"2.0","method":"%d","params":{"s":"%d","x":"%s"}}`+"\n", i, s, strings.Repeat("x", i*s%3000))
		}
	}
	p.write(b.String())
	p.eof()
	for s := range sessions {
		if n := next[fmt.Sprint(s)]; n != many {
			t.Errorf("session %d: %d", s, n)
		}
	}
}

// A Call that lifted the bound and was given up lets it down again.
func TestBoundComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connIn, in := io.Pipe()
		hold := make(chan bool)
		var conn *rpc.Conn
		conn = rpc.New(connIn, io.Discard, rpc.Config{Queue: 2, Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
			if req.Method == "ask" {
				ctx, cancel := context.WithCancel(ctx)
				cancel()
				if _, err := conn.Call(ctx, "never sent", nil); err == nil {
					t.Error("sent")
				}
				ctx, cancel = context.WithCancel(context.WithoutCancel(ctx))
				go cancel()
				_, err := conn.Call(ctx, "given up", nil)
				return nil, err
			}
			<-hold
			return nil, nil
		}})
		ran := make(chan error, 1)
		go func() { ran <- conn.Run(context.Background()) }()
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"ask"}`)
		synctest.Wait()
		var written atomic.Int32
		go func() {
			for i := range 100 {
				fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"hold"}`+"\n", i)
				written.Add(1)
			}
			in.Close()
		}()
		synctest.Wait()
		if n := written.Load(); n > 4 {
			t.Errorf("%d read into a queue of 2", n)
		}
		close(hold)
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
}

// An inline handler runs on the reading goroutine, which must survive it.
func TestInlinePanicsAndExits(t *testing.T) {
	c := byMethod(handlers{
		"panic": func(context.Context, *rpc.Request) (rpc.Appender, error) { panic("inline") },
		"exit":  func(context.Context, *rpc.Request) (rpc.Appender, error) { runtime.Goexit(); return nil, nil },
		"echo":  echo,
	})
	c.Inline = func(method string) bool {
		if method == "ask" {
			panic("Inline itself")
		}
		return true
	}
	p := start(t, c)
	p.send(`{"jsonrpc":"2.0","method":"panic"}`, `{"jsonrpc":"2.0","method":"exit"}`, `{"jsonrpc":"2.0","method":"ask"}`,
		`{"jsonrpc":"2.0","method":"exit"}`, `{"jsonrpc":"2.0","id":1,"method":"echo"}`)
	p.expect(`{"jsonrpc":"2.0","id":1,"result":{"none":true}}`)
	if rest := p.eof(); len(rest) > 0 {
		t.Error(rest)
	}
	if err := p.wait(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(p.log.String(), "\n"); n != 4 {
		t.Errorf("%d lines of log: %s", n, p.log)
	}
}
