package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"time"
)

type fuzzParams struct {
	S string
	N int
}

func paramsOf(raw json.RawMessage) (p fuzzParams) {
	_ = json.Unmarshal(raw, &p)
	return p
}

func (r *fuzzRun) handle(ctx context.Context, req *Request) (Appender, error) {
	p := paramsOf(req.Params)
	if req.ID != "" && req.ID != nullID {
		r.mu.Lock()
		if r.running[req.ID] {
			r.t.Errorf("two requests with the id %s at once", req.ID)
		}
		r.running[req.ID] = true
		r.mu.Unlock()
		defer func() {
			r.mu.Lock()
			delete(r.running, req.ID)
			r.mu.Unlock()
		}()
	}
	if req.ID == "" {
		r.mu.Lock()
		if req.Method == "inline" {
			r.inlined++
		}
		key := r.conn.keyless(req.Method, req.Params)
		if p.N > 0 { // the program's own, not junk that happens to be valid
			if p.N <= r.lastSeq[key] {
				r.t.Errorf("key %q: %d after %d", key, p.N, r.lastSeq[key])
			}
			r.lastSeq[key] = p.N
		}
		r.mu.Unlock()
	}
	counted := false
	count := func() {
		if req.ID == "" && !counted {
			r.mu.Lock()
			r.handled++
			r.mu.Unlock()
		}
		counted = true
	}
	defer count()
	switch req.Method {
	case "inline":
		switch p.N % 5 {
		case 3:
			runtime.Goexit()
		case 4:
			panic("inline")
		}
		return nil, nil
	case "echo":
		return rawBody(req.Params), nil
	case "fail":
		return nil, &Error{Code: -9, Message: "fail\n\xff", Data: json.RawMessage("{\n}")}
	case "panic":
		panic("panic")
	case "exit":
		runtime.Goexit()
	case "wait":
		count()
		Admitted(ctx)
		<-ctx.Done()
		return nil, ctx.Err()
	case "sleep":
		time.Sleep(5 * time.Millisecond)
		return nil, nil
	case "call", "callWait":
		if req.Method == "callWait" {
			count()
			Admitted(ctx)
		}
		if result, err := r.conn.Call(ctx, "ask", rawBody(req.Params)); err != nil {
			return nil, err
		} else if !strings.HasPrefix(string(result), `"r`) {
			r.t.Errorf("a Call got %s", result)
		}
		return nil, nil
	case "stream":
		for i := range 3 {
			if err := r.conn.Notify(ctx, "update", rawBody(fmt.Sprintf(`{"n":%d,"i":%d}`, p.N, i))); err != nil {
				return nil, err
			}
		}
		return rawBody(fmt.Sprintf(`{"streamed":%d}`, p.N)), nil
	case "bad":
		return [...]Appender{panicBody{}, rawBody("\"a\nb\""), rawBody("{\n\"a\":\n1}"), rawBody("\"\xff\""), rawBody("")}[p.N%5], nil
	}
	return nil, ErrMethodNotFound
}

// keyless is the key that orders a message, without Config.Key's side effects.
func (c *Conn) keyless(method string, params json.RawMessage) string {
	if method == "inline" {
		return "inline"
	}
	return paramsOf(params).S
}

type panicBody struct{}

func (panicBody) AppendJSON(b []byte) []byte { panic("in the middle") }
