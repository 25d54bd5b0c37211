package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/rpc"
	"github.com/google/go-cmp/cmp"
)

func TestCall(t *testing.T) {
	p := start(t, rpc.Config{})
	long := strings.Repeat("z", 100_000)
	malformed := func(why string) string { return "m: malformed response: " + why }
	tests := []struct {
		members string // of the response, without its id
		want    string // the result
		err     string
	}{
		{`"jsonrpc":"2.0","result":{"a":1}`, `{"a":1}`, ""},
		{`"jsonrpc":"2.0","result":null`, `null`, ""},
		{`"jsonrpc":"2.0","result":0,"more":1`, `0`, ""},
		{`"jsonrpc":"2.0","result":"` + long + `"`, `"` + long + `"`, ""},
		{`"jsonrpc":"2.0","result":1,"error":null`, `1`, ""},
		{`"jsonrpc":"2.0","error":{"code":12345,"message":"no"}`, "", "no (code 12345)"},
		{`"jsonrpc":"2.0","error":{"data":{"x":[1]},"message":"no","code":-1}`, "", `no (code -1) {"x":[1]}`},
		{`"jsonrpc":"2.0","result":null,"error":{"code":5,"message":"no"}`, "", "no (code 5)"},
		{`"jsonrpc":"2.0","error":{"code":5}`, "", " (code 5)"},
		{`"jsonrpc":"2.0","error":{"code":5,"message":null}`, "", " (code 5)"},
		{`"jsonrpc":"2.0","error":{"message":"no"}`, "", `m: malformed error response: {"message":"no"}`},
		{`"jsonrpc":"2.0","error":{"code":"5","message":"no"}`, "", `m: malformed error response: {"code":"5","message":"no"}`},
		{`"jsonrpc":"2.0","error":{"code":1.5,"message":"no"}`, "", `m: malformed error response: {"code":1.5,"message":"no"}`},
		{`"jsonrpc":"2.0","error":"no"`, "", `m: malformed error response: "no"`},
		{`"jsonrpc":"2.0","error":null`, "", `m: malformed error response: null`},
		{`"jsonrpc":"2.0","result":1,"error":{"code":5,"message":"no"}`, "", malformed("both result and error")},
		{`"jsonrpc":"1.0","result":1`, "", malformed(`jsonrpc must be "2.0"`)},
		{`"jsonrpc":"2.0","method":null,"result":1`, "", malformed("the method must be a string")},
		{`"result":1`, "", malformed(`jsonrpc must be "2.0"`)},
		{`"jsonrpc":"2.0","result":1,"result":2`, "", malformed("a member occurs twice")},
	}
	for i, test := range tests {
		type outcome struct{ result, err string }
		got := make(chan outcome, 1)
		go func() {
			result, err := p.conn.Call(context.Background(), "m", raw(`[]`))
			o := outcome{result: string(result)}
			if err != nil {
				o.err = err.Error()
			}
			if e, ok := errors.AsType[*rpc.Error](err); ok && e.Data != nil {
				o.err += " " + string(e.Data)
			}
			got <- o
		}()
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":[]}`, i+1))
		p.send(fmt.Sprintf(`{"id":%d,%s}`, i+1, test.members))
		want := outcome{test.want, test.err}
		if o := receive(t, got); o != want {
			t.Errorf("%.100s: got %.200v, want %.200v", test.members, o, want)
		}
	}
	if log := p.log.String(); log != "" {
		t.Error(log)
	}
}

// Things that look a little like the response leave the Call open.
//
// BL-004: log lines that happen to be JSON.
func TestCallIsNotTakenIn(t *testing.T) {
	p := start(t, rpc.Config{})
	got := make(chan string, 1)
	go func() {
		result, err := p.conn.Call(context.Background(), "m", nil)
		got <- fmt.Sprint(string(result), err)
	}()
	p.recv()
	p.send(`"text"`, `7`, `[]`, `{"level":"info","id":1}`, `{"jsonrpc":"2.0","id":"1","result":1}`,
		`{"jsonrpc":"2.0","id":1.0,"result":1}`, `{"jsonrpc":"2.0","id":2,"result":1}`)
	for range 4 {
		p.recv() // what they are answered is TestLadder's
	}
	p.send(`{"jsonrpc":"2.0","id":1,"result":"true one"}`)
	if got := receive(t, got); got != `"true one"<nil>` {
		t.Error(got)
	}
}

func TestResponsesInAnyOrder(t *testing.T) {
	p := start(t, rpc.Config{})
	got := make([]chan string, 3)
	for i := range got {
		got[i] = make(chan string, 1)
		go func() {
			result, _ := p.conn.Call(context.Background(), fmt.Sprint(i), nil)
			got[i] <- string(result)
		}()
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%d"}`, i+1, i))
	}
	for i := len(got) - 1; i >= 0; i-- {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"for %d"}`, i+1, i))
		if result := receive(t, got[i]); result != fmt.Sprintf(`"for %d"`, i) {
			t.Errorf("%d: %s", i, result)
		}
	}
}

// vendorError is an error type of some other package.
type vendorError struct {
	code int
	data string
}

func (e *vendorError) Error() string { return "vendor" }
func (e *vendorError) RPCError() (int, string, json.RawMessage) {
	return e.code, "from\nvendor", json.RawMessage(e.data)
}

func TestErrorsOnTheWire(t *testing.T) {
	errs := map[string]error{
		"plain":     errors.New(`plain "words"` + "\n\xff"),
		"notFound":  fmt.Errorf("x: %w", rpc.ErrMethodNotFound),
		"coded":     fmt.Errorf("x: %w", &vendorError{-32002, "{\n\"a\": 1}"}),
		"badData":   &vendorError{-32002, `{"a":`},
		"rpc":       fmt.Errorf("x: %w", &rpc.Error{Code: -32000, Message: "sign in", Data: json.RawMessage(`[1]`)}),
		"typedNil":  (*vendorError)(nil),
		"cancelled": context.Canceled, // nobody has cancelled: an error like any
	}
	p := start(t, rpc.Config{Handler: func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
		return raw("ignored"), errs[req.Method]
	}})
	for _, test := range []struct{ method, want string }{
		{"plain", `{"code":-32603,"message":"plain \"words\"\n` + "\uFFFD" + `"}`},
		{"notFound", `{"code":-32601,"message":"notFound: method not found"}`},
		{"coded", `{"code":-32002,"message":"from\nvendor","data":{"a":1}}`},
		{"badData", `{"code":-32002,"message":"from\nvendor"}`},
		{"rpc", `{"code":-32000,"message":"sign in","data":[1]}`},
		{"typedNil", `{"code":-32603,"message":"typedNil: internal error"}`},
		{"cancelled", `{"code":-32603,"message":"context canceled"}`},
	} {
		p.send(`{"jsonrpc":"2.0","method":"` + test.method + `"}`) // never answered
		p.send(`{"jsonrpc":"2.0","id":1,"method":"` + test.method + `"}`)
		p.expect(`{"jsonrpc":"2.0","id":1,"error":` + test.want + `}`)
	}
	if diff := cmp.Diff([]string(nil), p.eof()); diff != "" {
		t.Error(diff)
	}
	if log := p.log.String(); strings.Contains(log, "notFound") || !strings.Contains(log, "method=plain") {
		t.Error(log)
	}
}

// A method as long as a line does not come back as long.
func TestLongMethodIsClipped(t *testing.T) {
	p := start(t, rpc.Config{})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("é", 100_000) + `"}`)
	if got := p.recv(); len(got) > 500 || !strings.Contains(got, "-32601") || strings.Contains(got, "\uFFFD") {
		t.Error(got)
	}
}

func TestPanicIsOneRequests(t *testing.T) {
	p := start(t, byMethod(handlers{
		"panic": func(context.Context, *rpc.Request) (rpc.Appender, error) { panic("at the disco") },
		"echo":  echo,
	}))
	p.send(`{"jsonrpc":"2.0","method":"panic"}`, `{"jsonrpc":"2.0","id":1,"method":"panic"}`)
	p.expect(errorLine("1", -32603, "panic: internal error"))
	p.send(`{"jsonrpc":"2.0","id":2,"method":"echo"}`)
	p.expect(`{"jsonrpc":"2.0","id":2,"result":{"none":true}}`)
	if log := p.log.String(); !strings.Contains(log, "at the disco") || !strings.Contains(log, "call_test.go") {
		t.Errorf("no stack in the log: %s", log)
	}
}

// A handler that ends its goroutine leaves its answer and its queue behind.
func TestGoexitIsOneRequests(t *testing.T) {
	c := byMethod(handlers{
		"exit": func(context.Context, *rpc.Request) (rpc.Appender, error) { runtime.Goexit(); return nil, nil },
		"echo": echo,
	})
	c.Key = func(string, json.RawMessage) string { return "k" }
	p := start(t, c)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"exit"}`, `{"jsonrpc":"2.0","id":2,"method":"echo"}`)
	p.expect(errorLine("1", -32603, "exit: internal error"), `{"jsonrpc":"2.0","id":2,"result":{"none":true}}`)
}

func TestPanicInKey(t *testing.T) {
	p := start(t, rpc.Config{Handler: echo, Key: func(string, json.RawMessage) string { panic("no key") }})
	p.send(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
	p.expect(`{"jsonrpc":"2.0","id":1,"result":{"none":true}}`)
}
