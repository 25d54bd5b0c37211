package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/rpc"
)

// What a handler leaves for the time behind its answer comes there, in order,
// with the context alive, before the next message of the key; also behind an
// error and a panic, its own and that of what it left.
func TestAfterComesRightBehindTheAnswer(t *testing.T) {
	var p *peer
	p = start(t, rpc.Config{
		Key: func(string, json.RawMessage) string { return "k" },
		Handler: func(ctx context.Context, r *rpc.Request) (rpc.Appender, error) {
			rpc.After(ctx, func() { panic("in what was left") })
			rpc.After(ctx, func() {
				if ctx.Err() != nil {
					t.Error("the context has ended")
				}
				_ = p.conn.Notify(ctx, "after", raw(r.ID))
			})
			switch r.Method {
			case "fails":
				return nil, errors.New("no luck")
			case "panics":
				panic("oops")
			}
			return nil, nil
		},
	})
	var all []string
	for i, method := range []string{"works", "fails", "panics"} {
		all = append(all, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, i, method))
	}
	p.send(all...)
	for i, want := range []string{`"result":{}`, "no luck", "-32603"} {
		if line := p.recv(); !strings.Contains(line, want) || !strings.Contains(line, fmt.Sprintf(`"id":%d`, i)) {
			t.Errorf("%d: %s", i, line)
		}
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"after","params":%d}`, i))
	}
	rpc.After(t.Context(), func() { t.Error("a context that is no handler's") })
}

// A notification has no answer; what its handler leaves comes when it returns.
func TestAfterANotification(t *testing.T) {
	ran := make(chan bool, 1)
	p := start(t, rpc.Config{Handler: func(ctx context.Context, r *rpc.Request) (rpc.Appender, error) {
		rpc.After(ctx, func() { ran <- true })
		return nil, nil
	}})
	p.send(`{"jsonrpc":"2.0","method":"n"}`)
	receive(t, ran)
}
