package rpc_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/acpkit/acpkit/rpc"
)

// Lines without anything are skipped, however many.
func TestBlankLines(t *testing.T) {
	p := start(t, rpc.Config{Handler: echo})
	go p.write(strings.Repeat("\n \r\n\t\n", 20_000) + strings.Repeat(" ", 200_000) + "\n" + `{"jsonrpc":"2.0","id":1,"method":"m"}` + "\n")
	p.expect(`{"jsonrpc":"2.0","id":1,"result":{"none":true}}`)
	if rest := p.eof(); len(rest) > 0 || p.log.String() != "" {
		t.Error(rest, p.log)
	}
}

// What a shell or a runtime prints into the pipe costs an answer each, and the
// valid request behind it is answered.
//
// BL-003: two banner lines. BL-005: an escape sequence in front of a frame is in
// the log byte by byte. BL-006: text, nothing, half an object, an error with a
// null id, a response with an unknown id. BL-008: an array.
func TestJunkThenARequest(t *testing.T) {
	p := start(t, rpc.Config{Handler: echo})
	p.send("Welcome to the agent", "version 1.2.3",
		"\x1b]0;title\x07"+`{"jsonrpc":"2.0","id":9,"method":"m"}`,
		"last login: today", "", `{"jsonrpc":"2.0","id":8,"meth`,
		errorLine("null", -32700, "parse error"),
		`{"jsonrpc":"2.0","id":4711,"result":{}}`,
		`[{"jsonrpc":"2.0","id":7,"method":"m"}]`,
		`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	for range 5 {
		p.expect(errorLine("null", -32700, "parse error"))
	}
	p.expect(errorLine("null", -32600, "invalid request: not an object"), `{"jsonrpc":"2.0","id":1,"result":{"none":true}}`)
	if log := p.log.String(); !strings.Contains(log, `\x1b]0;title\a{`) || strings.Count(log, "\n") != 8 {
		t.Error(log)
	}
}

// Two of our own, each with junk for the other: each piece is answered once,
// and the answers are not.
//
// BL-006: no ping-pong of errors.
func TestNoPingPong(t *testing.T) {
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	logs := [2]*logBuffer{{}, {}}
	a := rpc.New(r1, w2, rpc.Config{Logger: logs[0].logger()})
	b := rpc.New(r2, w1, rpc.Config{Handler: echo, Logger: logs[1].logger()})
	var running sync.WaitGroup
	for _, conn := range []*rpc.Conn{a, b} {
		running.Go(func() {
			if err := conn.Run(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	fmt.Fprintln(w1, "junk for a")
	fmt.Fprintln(w2, "junk for b")
	fmt.Fprintln(w2, `{"jsonrpc":"2.0","id":{}}`)
	fmt.Fprintln(w2, `{"jsonrpc":"2.0","id":"x","error":{}}`)
	for range 100 { // a ping-pong would have time for many rounds
		if _, err := a.Call(context.Background(), "m", nil); err != nil {
			t.Error(err)
		}
	}
	w1.Close()
	w2.Close()
	running.Wait()
	// One line for each piece of junk, and one for each answer to it.
	if n, m := strings.Count(logs[0].String(), "\n"), strings.Count(logs[1].String(), "\n"); n != 3 || m != 4 {
		t.Errorf("%d and %d lines of log:\n%s\n%s", n, m, logs[0], logs[1])
	}
}

// Notifications that nobody knows, in the middle of a Call, are nothing.
//
// BL-112: and the response behind them ends the Call. BL-117: a request with a
// vendor's method that we do not have is -32601.
func TestUnknownInTheMiddle(t *testing.T) {
	p := start(t, byMethod(handlers{}))
	got := make(chan error, 1)
	go func() {
		_, err := p.conn.Call(context.Background(), "session/prompt", nil)
		got <- err
	}()
	p.recv()
	p.send(`{"jsonrpc":"2.0","method":"session/future","params":{"a":[1]}}`,
		`{"jsonrpc":"2.0","method":"_vendor/note","params":null}`,
		`{"jsonrpc":"2.0","id":"v","method":"_vendor/ask"}`,
		`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`)
	if err := receive(t, got); err != nil {
		t.Error(err)
	}
	p.expect(errorLine(`"v"`, -32601, "_vendor/ask: method not found"))
	if log := p.log.String(); log != "" {
		t.Error(log)
	}
}

// Our request has the id 1; whatever only resembles it is not it.
//
// BL-119: 1 and "1". BL-120: 1.0, 0, -1, 2^53+1, "".
func TestResponseIDsAreExact(t *testing.T) {
	p := start(t, rpc.Config{})
	got := make(chan string, 1)
	go func() {
		result, err := p.conn.Call(context.Background(), "m", nil)
		got <- fmt.Sprint(string(result), err)
	}()
	p.expect(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	others := []string{`"1"`, `1.0`, `1e0`, `10e-1`, `0`, `-1`, `9007199254740993`, `""`, `"\u0031"`, `null`, `[1]`, `{"id":1}`, `true`, `11`}
	for _, id := range others {
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"result":"wrong"}`)
	}
	p.send(`{"jsonrpc":"2.0", "id" : 1 ,"result":"right"}`)
	if got := receive(t, got); got != `"right"<nil>` {
		t.Error(got)
	}
	if rest := p.eof(); len(rest) > 0 || strings.Count(p.log.String(), "\n") != len(others) {
		t.Error(rest, p.log)
	}
}
