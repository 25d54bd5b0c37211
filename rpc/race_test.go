package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acpkit/acpkit/rpc"
)

// A thousand requests, each with its $/cancel_request right behind it, in one
// write: each is answered once, cancelled, for it was accepted before the
// cancel was read.
//
// BL-033, BL-038: the work stops, nothing is orphaned.
func TestCancelRequestRightBehind(t *testing.T) {
	const many = 1000
	var working atomic.Int32
	p := start(t, rpc.Config{Handler: func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
		working.Add(1)
		defer working.Add(-1)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	var lines []string
	for i := range many {
		id := fmt.Sprint(i)
		if i%2 == 1 {
			id = `"` + id + `"`
		}
		lines = append(lines, `{"jsonrpc":"2.0","id":`+id+`,"method":"session/new"}`, cancelLine(id))
	}
	go p.send(lines...)
	answered := map[string]bool{}
	for range many {
		line := p.recv()
		if !strings.Contains(line, `"error":{"code":-32800,`) || answered[line] {
			t.Fatal(line)
		}
		answered[line] = true
	}
	if rest := p.eof(); len(rest) > 0 || working.Load() != 0 {
		t.Error(rest, working.Load())
	}
}

// A cancel at the very moment of the answer: one answer, of either kind.
func TestCancelRacesWithTheAnswer(t *testing.T) {
	release := make(chan bool)
	p := start(t, rpc.Config{Handler: func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
		select {
		case <-release:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}})
	const many = 1000
	for i := range many {
		id := fmt.Sprint(i)
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"m"}`)
		go func() {
			select {
			case release <- true:
			case <-time.After(time.Millisecond):
			}
		}()
		p.send(cancelLine(id))
		if line := p.recv(); line != `{"jsonrpc":"2.0","id":`+id+`,"result":{}}` && line != errorLine(id, -32800, "m: request cancelled") {
			t.Fatal(line)
		}
	}
	if rest := p.eof(); len(rest) > 0 {
		t.Error(rest)
	}
}

// Giving up a Call at the very moment of its response: it returns one or the
// other, a cancel follows only a Call given up, and the response that comes all
// the same is nothing odd.
func TestGivingUpRacesWithTheResponse(t *testing.T) {
	p := start(t, rpc.Config{})
	const many = 1000
	for i := 1; i <= many; i++ {
		ctx, cancel := context.WithCancel(context.Background())
		got := make(chan error, 1)
		go func() {
			_, err := p.conn.Call(ctx, "m", nil)
			got <- err
		}()
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m"}`, i))
		go cancel()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i))
		switch err := receive(t, got); err {
		case nil, context.Canceled:
		default:
			t.Fatal(err)
		}
		if err := p.conn.Notify(context.Background(), "mark", nil); err != nil {
			t.Fatal(err)
		}
		for line := p.recv(); !strings.Contains(line, "mark"); line = p.recv() {
			if line != cancelLine(fmt.Sprint(i)) {
				t.Fatal(line)
			}
		}
	}
	if log := p.log.String(); log != "" {
		t.Error(log)
	}
}

// A prompt cancelled while its handler asks the peer, as for a permission: the
// question is cancelled too, its late answer is nothing odd, and the next
// prompt, in this session and in another, works.
//
// BL-036: a cancel with an open question. BL-043, BL-044: the session lives on.
// BL-048: and only this one was cancelled.
func TestCancelWithAnOpenQuestion(t *testing.T) {
	var conn *rpc.Conn
	p := start(t, rpc.Config{Key: sessionKey, Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
		rpc.Admitted(ctx)
		result, err := conn.Call(ctx, "ask", raw(req.Params))
		return raw(result), err
	}})
	conn = p.conn
	ask := func(n int, s string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask","params":{"s":"%s"}}`, n, s)
	}
	prompt := func(id, s string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"prompt","params":{"s":"%s"}}`, id, s)
	}
	p.send(prompt("other", "b"))
	p.expect(ask(1, "b"))
	for i := range 50 {
		n := 2 + 2*i
		p.send(prompt("first", "a"))
		p.expect(ask(n, "a"))
		p.send(cancelLine(`"first"`), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"outcome":"cancelled"}}`, n))
		for { // both may be on their way
			line := p.recv()
			if line == cancelLine(fmt.Sprint(n)) {
				continue
			}
			if line != errorLine(`"first"`, -32800, "prompt: request cancelled") && line != `{"jsonrpc":"2.0","id":"first","result":{"outcome":"cancelled"}}` {
				t.Fatal(line)
			}
			break
		}
		p.send(prompt("second", "a"))
		p.expect(ask(n+1, "a"))
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"yes"}`, n+1))
		p.expect(`{"jsonrpc":"2.0","id":"second","result":"yes"}`)
	}
	p.send(`{"jsonrpc":"2.0","id":1,"result":"still here"}`)
	p.expect(`{"jsonrpc":"2.0","id":"other","result":"still here"}`)
	if log := p.log.String(); log != "" {
		t.Error(log)
	}
}

// Whenever the cancel comes, the next request of the key starts.
//
// BL-037: before the first step, between steps, in a Call, after the last.
// BL-035: and one that was not cancelled does not say so.
func TestCancelAtAnyMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connIn, in := io.Pipe()
		out := &logBuffer{}
		conn := rpc.New(connIn, out, rpc.Config{
			Key: sessionKey,
			Handler: func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
				for range 5 {
					select {
					case <-time.After(10 * time.Millisecond):
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
				return raw(`"end_turn"`), nil
			},
		})
		ran := make(chan error, 1)
		go func() { ran <- conn.Run(t.Context()) }()
		cancelled := 0
		for moment := range 70 {
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":"a%d","method":"m","params":{"s":"s"}}`+"\n", moment)
			time.Sleep(time.Duration(moment) * time.Millisecond)
			fmt.Fprintln(in, cancelLine(fmt.Sprintf(`"a%d"`, moment)))
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":"b%d","method":"m","params":{"s":"s"}}`+"\n", moment)
			time.Sleep(time.Second)
			first, second := fmt.Sprintf(`"id":"a%d"`, moment), fmt.Sprintf(`{"jsonrpc":"2.0","id":"b%d","result":"end_turn"}`, moment)
			if all := out.String(); strings.Count(all, first) != 1 || !strings.Contains(all, second) {
				t.Fatalf("a cancel after %d ms:\n%s", moment, all)
			}
			if strings.Contains(out.String(), first+`,"error":{"code":-32800`) {
				cancelled++
			}
		}
		if cancelled != 50 && cancelled != 51 { // of a race, either is right
			t.Errorf("%d cancelled", cancelled)
		}
		in.Close()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
}

// Calls and Notifies from many goroutines while the connection ends: each
// returns, at once, and those behind the end with ErrClosed.
//
// BL-029: none waits for ever.
func TestCallsRaceWithTheEnd(t *testing.T) {
	for range 50 {
		connIn, in := io.Pipe()
		out, connOut := io.Pipe()
		conn := rpc.New(connIn, connOut, rpc.Config{})
		var local sync.WaitGroup
		for i := range 8 {
			local.Go(func() {
				for {
					var err error
					if i%2 == 0 {
						_, err = conn.Call(context.Background(), "m", nil)
					} else {
						err = conn.Notify(context.Background(), "n", nil)
					}
					if err != nil {
						if !errors.Is(err, rpc.ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		local.Go(func() { io.Copy(io.Discard, out) })
		go func() {
			time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
			in.Close()
		}()
		if err := conn.Run(context.Background()); err != nil {
			t.Error(err)
		}
		connOut.Close()
		local.Wait()
	}
}
