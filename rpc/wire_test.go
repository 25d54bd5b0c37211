package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/rpc"
	"github.com/google/go-cmp/cmp"
)

func errorLine(id string, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, strconv.Quote(message))
}

// TestLadder sends each odd line, then a request, and wants exactly one answer
// or silence for the line, one line in the log or none, and the request answered.
func TestLadder(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	tests := []struct {
		name, line string
		want       string // "" is silence
		quiet      bool   // nothing in the log
	}{
		{"text", `hello`, errorLine("null", -32700, "parse error"), false},
		{"escape sequence before a message", "\x1b[?25h" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, errorLine("null", -32700, "parse error"), false},
		{"cut object", `{"jsonrpc":"2.0","id":1,"method":`, errorLine("null", -32700, "parse error"), false},
		{"two values", `{"jsonrpc":"2.0","id":1,"method":"m"} {}`, errorLine("null", -32700, "parse error"), false},
		{"closing brace too many", `{"jsonrpc":"2.0","id":1,"method":"m"}}`, errorLine("null", -32700, "parse error"), false},
		{"trailing comma", `{"jsonrpc":"2.0","id":1,"method":"m",}`, errorLine("null", -32700, "parse error"), false},
		{"header", `Content-Length: 52`, errorLine("null", -32700, "parse error"), false},
		{"bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", errorLine("null", -32700, "parse error: invalid UTF-8"), false},
		{"control character", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\x01\"}", errorLine("null", -32700, "parse error"), false},
		{"NUL", "\x00", errorLine("null", -32700, "parse error"), false},
		{"leading zero", `{"jsonrpc":"2.0","id":01,"method":"m"}`, errorLine("null", -32700, "parse error"), false},
		{"bad params", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":tru}}`, errorLine("null", -32700, "parse error"), false},
		{"bad unknown member", `{"jsonrpc":"2.0","id":1,"method":"m","x":nul}`, errorLine("null", -32700, "parse error"), false},
		{"deep", deep, errorLine("null", -32700, "parse error"), false},

		{"array", `[]`, errorLine("null", -32600, "invalid request: not an object"), false},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, errorLine("null", -32600, "invalid request: not an object"), false},
		{"number", `42`, errorLine("null", -32600, "invalid request: not an object"), false},
		{"string", `"text"`, errorLine("null", -32600, "invalid request: not an object"), false},
		{"null", `null`, errorLine("null", -32600, "invalid request: not an object"), false},
		{"bool", ` true `, errorLine("null", -32600, "invalid request: not an object"), false},
		{"empty object", `{}`, errorLine("null", -32600, `invalid request: jsonrpc must be "2.0"`), false},
		{"log line with an id", `{"level":"info","id":7}`, errorLine("7", -32600, `invalid request: jsonrpc must be "2.0"`), false},
		{"no method", `{"jsonrpc":"2.0","id":"x"}`, errorLine(`"x"`, -32600, "invalid request: no method and no result or error"), false},
		{"no method and no id", `{"jsonrpc":"2.0","params":{}}`, errorLine("null", -32600, "invalid request: no method and no result or error"), false},
		{"no version", `{"id":3,"method":"m"}`, errorLine("3", -32600, `m: invalid request: jsonrpc must be "2.0"`), false},
		{"version 1.0", `{"jsonrpc":"1.0","id":3,"method":"m"}`, errorLine("3", -32600, `m: invalid request: jsonrpc must be "2.0"`), false},
		{"version number", `{"jsonrpc":2.0,"id":3,"method":"m"}`, errorLine("3", -32600, `m: invalid request: jsonrpc must be "2.0"`), false},
		{"notification without version", `{"method":"m"}`, errorLine("null", -32600, `m: invalid request: jsonrpc must be "2.0"`), false},
		{"method is a number", `{"jsonrpc":"2.0","id":4,"method":1}`, errorLine("4", -32600, "invalid request: the method must be a string"), false},
		{"method is null", `{"jsonrpc":"2.0","id":4,"method":null}`, errorLine("4", -32600, "invalid request: the method must be a string"), false},
		{"method and result", `{"jsonrpc":"2.0","id":4,"method":"m","result":1}`, errorLine("4", -32600, "m: invalid request: a method beside a result or error"), false},
		{"id is an object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, errorLine("null", -32600, "m: invalid request: the id must be one string, number or null"), false},
		{"id is an array", `{"jsonrpc":"2.0","id":[1],"method":"m"}`, errorLine("null", -32600, "m: invalid request: the id must be one string, number or null"), false},
		{"id is a bool", `{"jsonrpc":"2.0","id":true,"method":"m"}`, errorLine("null", -32600, "m: invalid request: the id must be one string, number or null"), false},
		{"two ids", `{"jsonrpc":"2.0","id":1,"method":"m","id":2}`, errorLine("null", -32600, "m: invalid request: the id must be one string, number or null"), false},
		{"two methods", `{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}`, errorLine("1", -32600, "m: invalid request: a member occurs twice"), false},
		{"two methods, one spelled with an escape", `{"jsonrpc":"2.0","id":1,"method":"m","\u006dethod":"n"}`, errorLine("1", -32600, "m: invalid request: a member occurs twice"), false},
		{"two params", `{"jsonrpc":"2.0","id":1,"method":"m","params":{},"params":{}}`, errorLine("1", -32600, "m: invalid request: a member occurs twice"), false},

		{"error response with null id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`, "", false},
		{"result with null id", `{"jsonrpc":"2.0","id":null,"result":{}}`, "", false},
		{"response without an id", `{"jsonrpc":"2.0","result":{}}`, "", false},
		{"result with unknown id", `{"jsonrpc":"2.0","id":99,"result":{}}`, "", false},
		{"error with unknown id", `{"jsonrpc":"2.0","id":"99","error":{"code":1,"message":"x"}}`, "", false},
		{"response without version", `{"id":99,"result":{}}`, "", false},
		{"response with two results", `{"jsonrpc":"2.0","id":99,"result":{},"result":{}}`, "", false},
		{"response with an id that is none", `{"jsonrpc":"2.0","id":{},"error":{}}`, "", false},

		{"unknown notification", `{"jsonrpc":"2.0","method":"no/such"}`, "", true},
		{"unknown protocol notification", `{"jsonrpc":"2.0","method":"$/nope","params":{}}`, "", true},
		{"unknown vendor notification", `{"jsonrpc":"2.0","method":"_vendor/x"}`, "", true},
		{"unknown request", `{"jsonrpc":"2.0","id":5,"method":"no/such"}`, errorLine("5", -32601, "no/such: method not found"), true},
		{"unknown protocol request", `{"jsonrpc":"2.0","id":5,"method":"$/nope"}`, errorLine("5", -32601, "$/nope: method not found"), true},
		{"empty method", `{"jsonrpc":"2.0","id":5,"method":""}`, errorLine("5", -32601, "method not found"), true},
		{"cancel of an unknown id", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":77}}`, "", true},
		{"cancel without an id", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{}}`, "", false},
		{"cancel without params", `{"jsonrpc":"2.0","method":"$/cancel_request"}`, "", false},

		{"blank", ``, "", true},
		{"spaces", " \t ", "", true},
		{"lone carriage return", "\r", "", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := start(t, byMethod(handlers{"ping": echo}))
			p.send(test.line)
			if test.want != "" {
				p.expect(test.want)
			}
			p.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
			p.expect(`{"jsonrpc":"2.0","id":"ping","result":{"none":true}}`)
			if rest := p.eof(); len(rest) > 0 {
				t.Errorf("also got %q", rest)
			}
			if err := p.wait(); err != nil {
				t.Errorf("Run: %v", err)
			}
			log, lines := p.log.String(), 1
			if test.quiet {
				lines = 0
			}
			if strings.Count(log, "\n") != lines || len(log) > 1000 {
				t.Errorf("want %d line(s) in the log, got %s", lines, log)
			}
		})
	}
}

func TestTolerated(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"members in another order", `{"params":{"a":1},"method":"echo","id":1,"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`},
		{"unknown members", `{"x":[{}],"jsonrpc":"2.0","id":1,"method":"echo","params":[1, 2],"x":null}`, `{"jsonrpc":"2.0","id":1,"result":[1, 2]}`},
		{"space between tokens", " { \"jsonrpc\" :\t\"2.0\" , \"id\" : 1 , \"method\" : \"echo\" } \r", `{"jsonrpc":"2.0","id":1,"result":{"none":true}}`},
		{"null params", `{"jsonrpc":"2.0","id":1,"method":"echo","params":null}`, `{"jsonrpc":"2.0","id":1,"result":{"none":true}}`},
		{"scalar params", `{"jsonrpc":"2.0","id":1,"method":"echo","params":5}`, `{"jsonrpc":"2.0","id":1,"result":5}`},
		{"escapes in a method", `{"jsonrpc":"2.0","id":1,"method":"\u0065ch\u006f"}`, `{"jsonrpc":"2.0","id":1,"result":{"none":true}}`},
		{"escapes in a member's name", `{"jsonrpc":"2.0","id":1,"meth\u006fd":"echo"}`, `{"jsonrpc":"2.0","id":1,"result":{"none":true}}`},
		{"escapes in the version", `{"jsonrpc":"2\u002e0","id":1,"method":"echo"}`, `{"jsonrpc":"2.0","id":1,"result":{"none":true}}`},
		{"lone surrogate", `{"jsonrpc":"2.0","id":1,"method":"echo","params":"\ud800"}`, `{"jsonrpc":"2.0","id":1,"result":"\ud800"}`},
		{"text in many scripts", `{"jsonrpc":"2.0","id":1,"method":"echo","params":"ж 語 😀 <&>"}`, `{"jsonrpc":"2.0","id":1,"result":"ж 語 😀 <&>"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := start(t, byMethod(handlers{"echo": echo}))
			p.send(test.line)
			p.expect(test.want)
			if log := p.log.String(); log != "" {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// BL-120: a request's id comes back as the same JSON token.
func TestIDsComeBackUnharmed(t *testing.T) {
	p := start(t, rpc.Config{Handler: echo})
	for _, id := range []string{
		`0`, `-1`, `1`, `1.0`, `2.5`, `1e2`, `9007199254740993`, `123456789012345678901234567890`,
		`""`, `"1"`, `"a b"`, `"\u0031"`, `"é"`, `"3f2504e0-4f89-11d3-9a0c-0305e82c3301"`, `null`,
	} {
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"echo","params":{}}`)
		p.expect(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	}
}

// The ids 1 and "1" are two, and null is no id that could be in use.
//
// BL-119: answered in another order, each gets its own.
func TestIDsInFlight(t *testing.T) {
	release := map[string]chan bool{"a": make(chan bool), "b": make(chan bool), "c": make(chan bool), "d": make(chan bool)}
	p := start(t, rpc.Config{Handler: func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
		<-release[req.Method]
		return raw(strconv.Quote(req.Method)), nil
	}})
	p.send(
		`{"jsonrpc":"2.0","id":1,"method":"a"}`,
		`{"jsonrpc":"2.0","id":"1","method":"b"}`,
		`{"jsonrpc":"2.0","id":null,"method":"c"}`,
		`{"jsonrpc":"2.0","id":null,"method":"d"}`,
		`{"jsonrpc":"2.0","id":1,"method":"again"}`)
	p.expect(errorLine("1", -32600, "again: the id is in use by a request that is not answered yet"))
	for _, next := range []struct{ method, id string }{{"d", "null"}, {"b", `"1"`}, {"c", "null"}, {"a", "1"}} {
		close(release[next.method])
		p.expect(`{"jsonrpc":"2.0","id":` + next.id + `,"result":"` + next.method + `"}`)
	}
	p.send(`{"jsonrpc":"2.0","id":1,"method":"a"}`) // and now it is free again
	p.expect(`{"jsonrpc":"2.0","id":1,"result":"a"}`)
}

func TestSameIDBothDirections(t *testing.T) {
	p := start(t, byMethod(handlers{"echo": echo}))
	result := make(chan string, 1)
	go func() {
		got, err := p.conn.Call(context.Background(), "ours", nil)
		result <- fmt.Sprint(string(got), err)
	}()
	p.expect(`{"jsonrpc":"2.0","id":1,"method":"ours"}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"echo"}`)
	p.expect(`{"jsonrpc":"2.0","id":1,"result":{"none":true}}`)
	p.send(`{"jsonrpc":"2.0","id":1,"result":"for ours"}`)
	if got := receive(t, result); got != `"for ours"<nil>` {
		t.Error(got)
	}
}

// TestDelivery cuts the same input at every place and in random places.
//
// BL-030: a byte at a time, characters of several bytes.
func TestDelivery(t *testing.T) {
	input := "\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"method":"echo","params":"語😀"}` + "\r\n" +
		"\n \r\n" +
		`{"jsonrpc":"2.0","method":"note"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"echo","params":"` + strings.Repeat("long ", 30_000) + `"}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"method":"echo"}` // no newline at the end
	want := []string{
		`{"jsonrpc":"2.0","id":1,"result":"語😀"}`,
		`{"jsonrpc":"2.0","id":2,"result":"` + strings.Repeat("long ", 30_000) + `"}`,
		`{"jsonrpc":"2.0","id":3,"result":{"none":true}}`,
	}
	for name, size := range map[string]func() int{
		"byte by byte": func() int { return 1 },
		"at once":      func() int { return len(input) },
		"anywhere":     func() int { return 1 + rand.IntN(9000) },
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			conn := rpc.New(&chunks{input, size}, &out, rpc.Config{
				Handler: echo,
				Key:     func(string, json.RawMessage) string { return "all in order" },
			})
			if err := conn.Run(context.Background()); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(out.String()), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// chunks reads its text in pieces of the given sizes.
type chunks struct {
	rest string
	size func() int
}

func (c *chunks) Read(p []byte) (int, error) {
	if c.rest == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size())], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func TestLineLimit(t *testing.T) {
	for _, limit := range []int{100, 64<<10 - 1, 64 << 10, 64<<10 + 1, 300_000} {
		for _, end := range []string{"\n", ""} {
			t.Run(fmt.Sprintf("%d%q", limit, end), func(t *testing.T) {
				request := func(id, length int) string {
					head := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","x":"`, id)
					return head + strings.Repeat("x", length-len(head)-2) + `"}`
				}
				tooLong := errorLine("null", -32700, fmt.Sprintf("parse error: line longer than %d bytes", limit))
				p := start(t, rpc.Config{MaxLine: limit, Handler: func(context.Context, *rpc.Request) (rpc.Appender, error) { return nil, nil }})
				p.send(request(1, limit))
				p.expect(`{"jsonrpc":"2.0","id":1,"result":{}}`)
				p.send(request(2, limit+1))
				p.expect(tooLong)
				p.send(request(3, 5*limit))
				p.expect(tooLong)
				p.send(request(4, limit))
				p.expect(`{"jsonrpc":"2.0","id":4,"result":{}}`)
				p.write(request(5, limit+1) + end)
				if diff := cmp.Diff([]string{tooLong}, p.eof()); diff != "" {
					t.Error(diff)
				}
				if n := len(p.log.String()); n > 2000 {
					t.Errorf("%d bytes of log", n)
				}
			})
		}
	}
}

// A handler may keep the params: later lines must not shine through.
func TestParamsAreNotReused(t *testing.T) {
	var kept []*rpc.Request
	p := start(t, rpc.Config{
		Handler: func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
			kept = append(kept, req)
			return nil, nil
		},
		Key: func(string, json.RawMessage) string { return "k" },
	})
	const many = 500
	for i := range many {
		pad := strings.Repeat("x", rand.IntN(1000))
		if i%50 == 0 {
			pad = strings.Repeat("y", 100_000) // longer than the read buffer
		}
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","method":"m%d","params":[%d,"%s"]}`, i, i, i, pad))
		p.recv()
	}
	p.eof()
	for i, req := range kept {
		if !strings.HasPrefix(string(req.Params), fmt.Sprintf("[%d,", i)) || req.Method != fmt.Sprintf("m%d", i) || req.ID != rpc.ID(fmt.Sprintf(`"%d"`, i)) {
			t.Fatalf("message %d became %s %.40s %s", i, req.Method, req.Params, req.ID)
		}
	}
	if len(kept) != many {
		t.Error(len(kept))
	}
}

// What we write is one line of UTF-8 whatever an Appender makes of it.
//
// BL-031: bytes that are no UTF-8.
func TestFramesStayWhole(t *testing.T) {
	results := handlers{}
	for method, result := range map[string]rpc.Appender{
		"newline":          raw("{\n  \"a\": [1,\n2]\r\n}"),
		"newlineInString":  raw("\"a\nb\""),
		"bad UTF-8":        raw("\"a\xffb\""),
		"nothing":          raw(""),
		"nil":              nil,
		"panic":            panics{},
		"shrinks":          shrinks{},
		"panicAfterOutput": panics{"{"},
	} {
		results[method] = func(context.Context, *rpc.Request) (rpc.Appender, error) { return result, nil }
	}
	p := start(t, byMethod(results))
	for _, test := range []struct{ method, want string }{
		{"newline", `{"jsonrpc":"2.0","id":1,"result":{"a":[1,2]}}`},
		{"newlineInString", errorLine("1", -32603, "newlineInString: internal error")},
		{"bad UTF-8", `{"jsonrpc":"2.0","id":1,"result":"a` + "\uFFFD" + `b"}`},
		{"nothing", `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"nil", `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"panic", errorLine("1", -32603, "panic: internal error")},
		{"shrinks", errorLine("1", -32603, "shrinks: internal error")},
		{"panicAfterOutput", errorLine("1", -32603, "panicAfterOutput: internal error")},
	} {
		p.send(`{"jsonrpc":"2.0","id":1,"method":"` + test.method + `"}`)
		p.expect(test.want)
	}
	if _, err := p.conn.Call(context.Background(), "bad", raw("\"a\nb\"")); err == nil || errors.Is(err, rpc.ErrClosed) {
		t.Errorf("Call with a body that is no JSON: %v", err)
	}
	if err := p.conn.Notify(context.Background(), "bad", panics{}); err == nil || !strings.HasPrefix(err.Error(), "bad: ") {
		t.Errorf("Notify with a body that panics: %v", err)
	}
	if err := p.conn.Notify(context.Background(), "", nil); err == nil {
		t.Error("Notify without a method")
	}
	if err := p.conn.Notify(context.Background(), "good \"\n", raw(`{"a":1}`)); err != nil {
		t.Error(err)
	}
	p.expect(`{"jsonrpc":"2.0","method":"good \"\n","params":{"a":1}}`)
}

type panics struct{ first string }

func (p panics) AppendJSON(b []byte) []byte {
	_ = append(b, p.first...)
	panic("no")
}

type shrinks struct{}

func (shrinks) AppendJSON([]byte) []byte { return []byte("{}") }
