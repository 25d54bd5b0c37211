package rpc_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/acpkit/acpkit/rpc"
)

// Two peers with queues of one call each other from inside their handlers, ten
// deep, while both send notifications whose handlers call back too. Nothing
// deadlocks, and every Call gets its own answer.
func TestPeersCallEachOther(t *testing.T) {
	const workers, rounds, depth = 8, 25, 10
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	var conns [2]*rpc.Conn
	var notes atomic.Int32
	var noted sync.WaitGroup // the handlers of notifications, which call too
	noted.Add(2 * workers * rounds)
	config := func(far int) rpc.Config {
		return rpc.Config{Queue: 1, Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
			if req.ID == "" {
				notes.Add(1)
				defer noted.Done()
				_, err := conns[far].Call(ctx, "down", raw("0"))
				return nil, err
			}
			n, err := strconv.Atoi(string(req.Params))
			if err != nil || n == 0 {
				return raw("0"), err
			}
			result, err := conns[far].Call(ctx, "down", raw(strconv.Itoa(n-1)))
			if err != nil {
				return nil, err
			}
			if got := string(result); got != strconv.Itoa(n-1) {
				return nil, fmt.Errorf("%d became %s", n-1, got)
			}
			return raw(strconv.Itoa(n)), nil
		}}
	}
	conns[0] = rpc.New(r1, w2, config(0))
	conns[1] = rpc.New(r2, w1, config(1))
	var running, working sync.WaitGroup
	for i, out := range []*io.PipeWriter{w2, w1} {
		running.Go(func() {
			if err := conns[i].Run(context.Background()); err != nil {
				t.Error(err)
			}
			out.Close()
		})
	}
	for i := range 2 * workers {
		conn := conns[i%2]
		working.Go(func() {
			for range rounds {
				if err := conn.Notify(context.Background(), "note", nil); err != nil {
					t.Error(err)
				}
				result, err := conn.Call(context.Background(), "down", raw(strconv.Itoa(depth)))
				if err != nil || string(result) != strconv.Itoa(depth) {
					t.Error(string(result), err)
				}
			}
		})
	}
	working.Wait()
	noted.Wait()
	w1.Close()
	running.Wait()
	if n := notes.Load(); n != 2*workers*rounds {
		t.Errorf("%d notifications handled", n)
	}
}

// sum is the params of a method of the Example, encoded by hand.
type sum struct{ a, b int }

func (s sum) AppendJSON(b []byte) []byte { return fmt.Appendf(b, "[%d,%d]", s.a, s.b) }

func Example() {
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	server := rpc.New(r1, w2, rpc.Config{
		Handler: func(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
			if req.Method != "sum" {
				return nil, rpc.ErrMethodNotFound
			}
			var a, b int
			if _, err := fmt.Sscanf(string(req.Params), "[%d,%d]", &a, &b); err != nil {
				return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: "sum: two integers, please"}
			}
			return raw(strconv.Itoa(a + b)), nil
		},
	})
	client := rpc.New(r2, w1, rpc.Config{})
	var running sync.WaitGroup
	for _, conn := range []*rpc.Conn{server, client} {
		running.Go(func() {
			if err := conn.Run(context.Background()); err != nil {
				log.Print(err)
			}
		})
	}

	result, err := client.Call(context.Background(), "sum", sum{2, 3})
	fmt.Println(string(result), err)
	_, err = client.Call(context.Background(), "sum", raw("[]"))
	fmt.Println(err)
	_, err = client.Call(context.Background(), "product", sum{2, 3})
	fmt.Println(err)

	w1.Close() // the end of the server's input ends the server
	w2.Close()
	running.Wait()
	// Output:
	// 5 <nil>
	// sum: two integers, please (code -32602)
	// product: method not found (code -32601)
}
