package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acpkit/acpkit/rpc"
	"github.com/google/go-cmp/cmp"
)

// At the end of input every accepted request is answered once, running or
// waiting, and Calls fail at once.
//
// BL-029: also those made after it.
func TestEndOfInput(t *testing.T) {
	var conn *rpc.Conn
	started := make(chan bool, 10)
	c := byMethod(handlers{
		"run": func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
			started <- true
			<-ctx.Done()
			if err := conn.Notify(ctx, "last words", nil); err != nil {
				t.Error(err)
			}
			return raw(`"ended"`), nil
		},
		"call": func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
			started <- true
			_, err := conn.Call(ctx, "inner", nil)
			return nil, err
		},
		"queued": func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
			if !errors.Is(context.Cause(ctx), rpc.ErrClosed) {
				t.Error(context.Cause(ctx))
			}
			return nil, ctx.Err()
		},
	})
	c.Key = sessionKey
	p := start(t, c)
	conn = p.conn
	failed := make(chan error, 1)
	go func() {
		_, err := conn.Call(context.Background(), "outer", nil)
		failed <- err
	}()
	p.recv()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"run","params":{"s":"a"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"queued","params":{"s":"a"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"queued","params":{"s":"a"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"call"}`)
	receive(t, started)
	receive(t, started)
	p.expect(`{"jsonrpc":"2.0","id":2,"method":"inner"}`)
	rest := p.eof()
	if err := receive(t, failed); !errors.Is(err, rpc.ErrClosed) {
		t.Error(err)
	}
	if err := p.wait(); err != nil {
		t.Error(err)
	}
	slices.Sort(rest)
	want := []string{
		`{"jsonrpc":"2.0","method":"last words"}`,
		`{"jsonrpc":"2.0","id":1,"result":"ended"}`,
		errorLine("2", -32800, "queued: request cancelled"),
		errorLine("3", -32800, "queued: request cancelled"),
		errorLine("4", -32800, "call: request cancelled"),
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, rest); diff != "" {
		t.Error(diff)
	}
	if _, err := conn.Call(context.Background(), "m", nil); !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("Call after the end: %v", err)
	}
	if err := conn.Notify(context.Background(), "m", nil); !errors.Is(err, rpc.ErrClosed) {
		t.Errorf("Notify after the end: %v", err)
	}
	if err := conn.Run(context.Background()); err == nil {
		t.Error("Run twice")
	}
}

// A response that was read before the end still counts, though it waits for
// notifications, and those are all handled.
//
// BL-009: the last line has no newline.
func TestResponseBeforeEndOfInput(t *testing.T) {
	var handled atomic.Int32
	p := start(t, rpc.Config{Handler: func(context.Context, *rpc.Request) (rpc.Appender, error) {
		time.Sleep(100 * time.Microsecond)
		handled.Add(1)
		return nil, nil
	}})
	got := make(chan string, 1)
	go func() {
		result, err := p.conn.Call(context.Background(), "prompt", nil)
		got <- fmt.Sprint(string(result), err, handled.Load())
	}()
	p.recv()
	p.write(strings.Repeat(`{"jsonrpc":"2.0","method":"update"}`+"\n", 500) + `{"jsonrpc":"2.0","id":1,"result":"end"}`)
	p.eof()
	if got := receive(t, got); got != `"end"<nil> 500` {
		t.Error(got)
	}
}

func TestRunsContextEnds(t *testing.T) {
	for _, kind := range []string{"os.Pipe", "io.Pipe"} {
		t.Run(kind, func(t *testing.T) {
			var in io.Reader
			var connIn io.ReadCloser
			if kind == "os.Pipe" {
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				in, connIn = r, r
				go w.WriteString(`{"jsonrpc":"2.0","id":1,"method":"m"}` + "\n")
			} else {
				r, w := io.Pipe()
				in, connIn = r, r
				go io.WriteString(w, `{"jsonrpc":"2.0","id":1,"method":"m"}`+"\n")
			}
			defer connIn.Close()
			ctx, cancel := context.WithCancelCause(context.Background())
			why := errors.New("signal")
			var out bytes.Buffer
			conn := rpc.New(in, &out, rpc.Config{Handler: func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
				cancel(why)
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}})
			if err := conn.Run(ctx); err != why {
				t.Errorf("Run: %v", err)
			}
			if got := out.String(); got != errorLine("1", -32800, "m: request cancelled")+"\n" {
				t.Error(got)
			}
		})
	}
}

func TestReadFails(t *testing.T) {
	why := errors.New("unplugged")
	var out bytes.Buffer
	conn := rpc.New(io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"m"}`+"\n"+`{"half`), failing{why}), &out, rpc.Config{})
	if err := conn.Run(context.Background()); !errors.Is(err, why) {
		t.Error(err)
	}
	if got := out.String(); got != errorLine("1", -32601, "m: method not found")+"\n" {
		t.Error(got)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

// BL-123: handlers learn that the pipe is broken, and Run waits for them.
func TestBrokenPipe(t *testing.T) {
	p := start(t, rpc.Config{Handler: func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
		rpc.Admitted(ctx)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	failed := make(chan error, 2)
	go func() {
		_, err := p.conn.Call(context.Background(), "first", nil)
		failed <- err
	}()
	p.recv()
	p.send(`{"jsonrpc":"2.0","id":1,"method":"running"}`)
	p.out.Close()
	go func() {
		_, err := p.conn.Call(context.Background(), "second", nil)
		failed <- err
	}()
	for range 2 {
		if err := receive(t, failed); !errors.Is(err, rpc.ErrClosed) {
			t.Error(err)
		}
	}
	if err := p.wait(); err == nil {
		t.Error("Run returned nil")
	}
}

// A peer that does not read stops the senders, each as its context says, and
// holds up the end for FlushTimeout only.
func TestPeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connIn, in := io.Pipe()
		_, connOut := io.Pipe()
		log := &logBuffer{}
		conn := rpc.New(connIn, connOut, rpc.Config{Handler: echo, FlushTimeout: 3 * time.Second, Logger: log.logger()})
		ran := make(chan error, 1)
		go func() { ran <- conn.Run(context.Background()) }()

		var sent atomic.Int32
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		pad := raw(`"` + strings.Repeat("x", 10_000) + `"`)
		for conn.Notify(ctx, "n", pad) == nil {
			sent.Add(1)
		}
		if n := sent.Load(); n < 10 || n > 100 {
			t.Errorf("%d frames of 10 kB taken", n)
		}
		if _, err := conn.Call(ctx, "m", nil); err != context.DeadlineExceeded {
			t.Error(err)
		}
		blocked := make(chan error, 1)
		go func() { blocked <- conn.Notify(context.Background(), "n", pad) }()
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"m"}`)
		synctest.Wait()

		start := time.Now()
		in.Close()
		if err := <-blocked; !errors.Is(err, rpc.ErrClosed) {
			t.Error(err)
		}
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
		if d := time.Since(start); d < 3*time.Second || d > 4*time.Second {
			t.Errorf("the end took %v", d)
		}
		if !strings.Contains(log.String(), "the peer does not read") {
			t.Errorf("log: %s", log)
		}
	})
}

// The same over a real pipe, whose Write ends by a deadline.
func TestPeerThatDoesNotReadOSPipe(t *testing.T) {
	out, connOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	defer connOut.Close()
	conn := rpc.New(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"m","params":"`+strings.Repeat("x", 1<<20)+`"}`),
		connOut, rpc.Config{Handler: echo, FlushTimeout: 10 * time.Millisecond})
	if err := conn.Run(context.Background()); err != nil {
		t.Error(err)
	}
}

// What is sent before Run is written by Run.
func TestSendBeforeRun(t *testing.T) {
	var out bytes.Buffer
	conn := rpc.New(strings.NewReader(""), &out, rpc.Config{})
	if err := conn.Notify(context.Background(), "hello", nil); err != nil {
		t.Error(err)
	}
	if err := conn.Run(context.Background()); err != nil || out.String() != `{"jsonrpc":"2.0","method":"hello"}`+"\n" {
		t.Error(err, out.String())
	}
}
