package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acpkit/acpkit/rpc"
)

func cancelLine(id string) string {
	return `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":` + id + `}}`
}

// BL-048: a cancel ends the one request that it names.
func TestCancelFromThePeer(t *testing.T) {
	causes := make(chan error, 10)
	wait := func(ctx context.Context) {
		<-ctx.Done()
		causes <- context.Cause(ctx)
	}
	c := byMethod(handlers{
		"error": func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
			wait(ctx)
			return nil, fmt.Errorf("deep down: %w", ctx.Err())
		},
		"cause": func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
			wait(ctx)
			return nil, fmt.Errorf("deep down: %w", context.Cause(ctx))
		},
		"value": func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
			wait(ctx)
			return raw(`"all the same"`), nil
		},
		"other": func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
			wait(ctx)
			return nil, errors.New("disk full")
		},
		"echo": echo,
	})
	p := start(t, c)
	for _, test := range []struct{ method, want string }{
		{"error", `"error":{"code":-32800,"message":"error: request cancelled"}`},
		{"cause", `"error":{"code":-32800,"message":"cause: request cancelled"}`},
		{"value", `"result":"all the same"`},
		{"other", `"error":{"code":-32603,"message":"disk full"}`},
	} {
		for _, id := range []string{`1`, `"1"`} {
			p.send(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+test.method+`"}`, cancelLine(id))
			p.expect(`{"jsonrpc":"2.0","id":` + id + `,` + test.want + `}`)
			if cause := receive(t, causes); !errors.Is(cause, context.Canceled) || errors.Is(cause, rpc.ErrClosed) {
				t.Errorf("%s: cause %v", test.method, cause)
			}
			p.send(cancelLine(id)) // too late: silence
		}
	}
	// One of two, by its exact id.
	p.send(`{"jsonrpc":"2.0","id":1,"method":"error"}`, `{"jsonrpc":"2.0","id":"1","method":"value"}`, cancelLine(`"1"`))
	p.expect(`{"jsonrpc":"2.0","id":"1","result":"all the same"}`)
	p.send(cancelLine("1"))
	p.expect(errorLine("1", -32800, "error: request cancelled"))
	// A request is not the notification.
	p.send(`{"jsonrpc":"2.0","id":3,"method":"$/cancel_request","params":{"requestId":3}}`)
	p.expect(errorLine("3", -32601, "$/cancel_request: method not found"))
	if log := p.log.String(); log != "" {
		t.Error(log)
	}
}

// A request cancelled while it waits for its turn still gets it, to answer.
func TestCancelOfAQueuedRequest(t *testing.T) {
	hold := make(chan bool)
	c := byMethod(handlers{
		"hold": func(context.Context, *rpc.Request) (rpc.Appender, error) { <-hold; return nil, nil },
		"next": func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) { return nil, ctx.Err() },
	})
	c.Key = sessionKey
	p := start(t, c)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"hold","params":{"s":"a"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"next","params":{"s":"a"}}`,
		cancelLine("2"), `{"jsonrpc":"2.0","id":3,"method":"after all"}`)
	p.expect(errorLine("3", -32601, "after all: method not found"))
	close(hold)
	p.expect(`{"jsonrpc":"2.0","id":1,"result":{}}`, errorLine("2", -32800, "next: request cancelled"))
}

// BL-045, BL-125: a peer that never answers holds a Call no longer than its
// context.
func TestCancelOfACall(t *testing.T) {
	p := start(t, rpc.Config{})
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the user has left")
	got := make(chan error, 1)
	go func() {
		_, err := p.conn.Call(ctx, "m", nil)
		got <- err
	}()
	p.expect(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	cancel(why)
	if err := receive(t, got); err != why {
		t.Error(err)
	}
	p.expect(cancelLine("1"))
	p.send(errorLine("1", -32800, "late"), `{"jsonrpc":"2.0","id":"x","method":"m"}`)
	p.recv()
	if log := p.log.String(); log != "" {
		t.Errorf("a late response is nothing odd: %s", log)
	}
	if _, err := p.conn.Call(ctx, "never sent", nil); err != why {
		t.Error(err)
	}
	if rest := p.eof(); len(rest) > 0 {
		t.Error(rest)
	}
}

// A Call whose response has come, but waits for a notification, still ends with
// its context. There is nothing left to cancel at the peer.
func TestCancelOfAnAnsweredCall(t *testing.T) {
	hold := make(chan bool)
	p := start(t, rpc.Config{Handler: func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
		if req.ID == "" {
			<-hold
		}
		return nil, nil
	}})
	ctx, cancel := context.WithCancel(context.Background())
	got := make(chan error, 1)
	go func() {
		_, err := p.conn.Call(ctx, "m", nil)
		got <- err
	}()
	p.recv()
	p.send(`{"jsonrpc":"2.0","method":"slow"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"x","method":"m"}`)
	p.expect(`{"jsonrpc":"2.0","id":"x","result":{}}`)
	cancel()
	if err := receive(t, got); err != context.Canceled {
		t.Error(err)
	}
	close(hold)
	if rest := p.eof(); len(rest) > 0 {
		t.Error(rest)
	}
}

// What is remembered of Calls given up is bounded.
func TestManyCancelledCalls(t *testing.T) {
	p := start(t, rpc.Config{})
	const many = 3000
	go func() {
		for range many {
			ctx, cancel := context.WithTimeout(context.Background(), time.Microsecond)
			p.conn.Call(ctx, "m", nil)
			cancel()
		}
		p.conn.Notify(context.Background(), "end", nil)
	}()
	requests, cancels := 0, 0
	for {
		line := p.recv()
		switch {
		case strings.Contains(line, `"method":"end"`):
			if requests != cancels {
				t.Errorf("%d requests, %d cancels", requests, cancels)
			}
			return
		case strings.Contains(line, "cancel_request"):
			cancels++
		default:
			requests++
		}
	}
}

// When a request is cancelled, a Call of its handler is cancelled too.
func TestCancelCascades(t *testing.T) {
	var conn *rpc.Conn
	p := start(t, rpc.Config{Handler: func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
		_, err := conn.Call(ctx, "inner", nil)
		return nil, err
	}})
	conn = p.conn
	p.send(`{"jsonrpc":"2.0","id":"outer","method":"m"}`)
	p.expect(`{"jsonrpc":"2.0","id":1,"method":"inner"}`)
	p.send(cancelLine(`"outer"`))
	p.expect(cancelLine("1"), errorLine(`"outer"`, -32800, "m: request cancelled"))
}
