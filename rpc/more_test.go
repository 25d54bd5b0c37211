package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/acpkit/acpkit/rpc"
)

// writes keeps what each Write got.
type writes struct {
	mu  sync.Mutex
	all []string
}

func (w *writes) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, string(b))
	return len(b), nil
}

func (w *writes) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.all
	w.all = nil
	return all
}

// What NotifyMore sends waits for a message of another kind, goes out with it in
// one write and in order, and does not wait when it is much or at the end.
func TestNotifyMore(t *testing.T) {
	ctx := context.Background()
	for name, last := range map[string]func(t *testing.T, conn *rpc.Conn, in io.Writer) string{
		"notification": func(t *testing.T, conn *rpc.Conn, in io.Writer) string {
			if err := conn.Notify(ctx, "last", nil); err != nil {
				t.Error(err)
			}
			return `{"jsonrpc":"2.0","method":"last"}` + "\n"
		},
		"answer": func(t *testing.T, conn *rpc.Conn, in io.Writer) string {
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"last"}`)
			return `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
		},
		"end": func(t *testing.T, conn *rpc.Conn, in io.Writer) string {
			in.(io.Closer).Close()
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out writes
				r, in := io.Pipe()
				conn := rpc.New(r, &out, rpc.Config{Handler: func(context.Context, *rpc.Request) (rpc.Appender, error) { return nil, nil }})
				var running sync.WaitGroup
				running.Go(func() {
					if err := conn.Run(ctx); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				var want strings.Builder
				more := func(params string) {
					fmt.Fprintf(&want, `{"jsonrpc":"2.0","method":"one","params":%s}`+"\n", params)
					if err := conn.NotifyMore(ctx, "one", raw(params)); err != nil {
						t.Error(err)
					}
				}
				for i := range 100 {
					more(fmt.Sprint(i))
				}
				if synctest.Wait(); len(out.taken()) > 0 {
					t.Error("it does not wait")
				}
				want.WriteString(last(t, conn, in))
				synctest.Wait()
				if got := out.taken(); len(got) != 1 || got[0] != want.String() {
					t.Errorf("%d writes: %.200q", len(got), got)
				}
				if name != "end" {
					want.Reset()
					more(`"` + strings.Repeat("x", 70<<10) + `"`)
					if synctest.Wait(); strings.Join(out.taken(), "") != want.String() {
						t.Error("much waits")
					}
					in.Close()
				}
				running.Wait()
			})
		})
	}
}

// Nothing grows without bound when the peer does not read: the sender waits.
func TestNotifyMoreWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, in := io.Pipe()
		far, w := io.Pipe()
		conn := rpc.New(r, w, rpc.Config{})
		var running sync.WaitGroup
		running.Go(func() { _ = conn.Run(context.Background()) })
		sent, frame := 0, raw(`"`+strings.Repeat("x", 1000)+`"`)
		running.Go(func() {
			for range 10_000 {
				if err := conn.NotifyMore(context.Background(), "m", frame); err != nil {
					t.Error(err)
				}
				sent++
			}
		})
		if synctest.Wait(); sent > 1000 {
			t.Errorf("%d kB wait", sent)
		}
		read := make(chan int)
		go func() {
			b, _ := io.ReadAll(far)
			read <- bytes.Count(b, []byte("\n"))
		}()
		synctest.Wait()
		in.Close()
		running.Wait()
		w.Close()
		if n := <-read; n != 10_000 {
			t.Errorf("%d of 10,000 came", n)
		}
	})
}
