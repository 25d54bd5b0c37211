package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acpkit/acpkit/rpc"
	"github.com/google/go-cmp/cmp"
)

// The end comes idle, in the middle of a request and during a question: Run
// returns nil, at once, and with it every handler.
//
// BL-121: what a process needs to exit when its input ends.
func TestEndAtAnyMoment(t *testing.T) {
	for _, moment := range []string{"idle", "running", "asking"} {
		t.Run(moment, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var conn *rpc.Conn
				var working atomic.Int32
				connIn, in := io.Pipe()
				out := &logBuffer{}
				conn = rpc.New(connIn, out, rpc.Config{Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
					working.Add(1)
					defer working.Add(-1)
					if req.Method == "asking" {
						_, err := conn.Call(ctx, "ask", nil)
						return nil, err
					}
					<-ctx.Done()
					return nil, ctx.Err()
				}})
				ran := make(chan error, 1)
				go func() { ran <- conn.Run(context.Background()) }()
				answers := 0
				if moment != "idle" {
					fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"%s"}`+"\n", moment)
					answers = 1
				}
				synctest.Wait()
				start := time.Now()
				in.Close()
				if err := <-ran; err != nil || time.Since(start) > 0 || working.Load() != 0 {
					t.Error(err, time.Since(start), working.Load())
				}
				if n := strings.Count(out.String(), `"id":1,"error":{"code":-32800`); n != answers {
					t.Error(out)
				}
			})
		})
	}
}

// Half open: the far side has closed what it reads and goes on sending. The
// first answer breaks the connection, and the other handlers are told.
//
// BL-123: they end before Run returns.
func TestHalfOpen(t *testing.T) {
	var ended atomic.Int32
	started := make(chan bool, 10)
	p := start(t, byMethod(handlers{
		"work": func(ctx context.Context, _ *rpc.Request) (rpc.Appender, error) {
			started <- true
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), rpc.ErrClosed) {
				t.Error(context.Cause(ctx))
			}
			time.Sleep(10 * time.Millisecond) // cleaning up
			ended.Add(1)
			return nil, ctx.Err()
		},
		"quick": echo,
	}))
	p.send(`{"jsonrpc":"2.0","id":1,"method":"work"}`, `{"jsonrpc":"2.0","method":"work"}`)
	receive(t, started)
	receive(t, started)
	p.out.Close()
	p.send(`{"jsonrpc":"2.0","method":"unknown"}`) // nothing to write, so nothing breaks
	p.send(`{"jsonrpc":"2.0","id":2,"method":"quick"}`)
	if err := p.wait(); err == nil || !strings.HasPrefix(err.Error(), "rpc: write: ") {
		t.Error(err)
	}
	if ended.Load() != 2 {
		t.Errorf("%d handlers ended", ended.Load())
	}
}

// The other half: the far side has closed what it writes and reads all that is
// still to come, a lot and slowly.
func TestAnswersAfterTheEnd(t *testing.T) {
	const many = 200
	body := `"` + strings.Repeat("x", 10_000) + `"` // 2 MB in all, more than any buffer
	p := start(t, rpc.Config{Handler: echo})
	go func() {
		for i := range many {
			p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":%s}`+"\n", i, body))
		}
		p.in.Close()
	}()
	seen := map[string]bool{}
	for range many {
		line := p.recv()
		if !strings.HasSuffix(line, body+"}") || seen[line] {
			t.Fatalf("%.100s", line)
		}
		seen[line] = true
		time.Sleep(20 * time.Microsecond)
	}
	if rest := p.eof(); len(rest) > 0 {
		t.Error(rest)
	}
}

// A line cut off by the end is junk if it is no JSON, and a message if it is.
//
// BL-009: the last frame needs no newline.
func TestEndInTheMiddleOfALine(t *testing.T) {
	line := `{"jsonrpc":"2.0","id":1,"method":"m"}`
	for cut := range len(line) + 1 {
		var out bytes.Buffer
		if err := rpc.New(strings.NewReader(line[:cut]), &out, rpc.Config{}).Run(context.Background()); err != nil {
			t.Error(err)
		}
		want := errorLine("null", -32700, "parse error") + "\n"
		switch cut {
		case 0:
			want = ""
		case len(line):
			want = errorLine("1", -32601, "m: method not found") + "\n"
		}
		if out.String() != want {
			t.Errorf("%s: %s", line[:cut], out.String())
		}
	}
}

// A pipe that passes a byte a millisecond, both ways.
//
// BL-030: characters of several bytes come through whole. BL-032: line ends in
// texts stay as they are.
func TestSlowPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connIn, in := io.Pipe()
		out, connOut := io.Pipe()
		conn := rpc.New(connIn, connOut, rpc.Config{Handler: echo})
		ran := make(chan error, 1)
		go func() {
			ran <- conn.Run(context.Background())
			connOut.Close()
		}()
		body := `"é 語 😀 \r\n \r \n"`
		go func() {
			for i := range 20 {
				for _, b := range []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"m","params":%s}`+"\r\n", i, body)) {
					time.Sleep(time.Millisecond)
					in.Write([]byte{b})
				}
			}
			in.Close()
		}()
		var got bytes.Buffer
		for b := make([]byte, 1); ; {
			time.Sleep(time.Millisecond)
			if _, err := out.Read(b); err != nil {
				break
			}
			got.Write(b)
		}
		if err := <-ran; err != nil {
			t.Error(err)
		}
		lines := strings.Split(strings.TrimSpace(got.String()), "\n")
		slices.Sort(lines)
		var want []string
		for i := range 20 {
			want = append(want, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, i, body))
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Error(diff)
		}
	})
}

// Senders that wait for a slow peer go on as soon as it has read.
func TestSendersWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent, in := io.Pipe()
		out, connOut := io.Pipe()
		conn := rpc.New(silent, connOut, rpc.Config{})
		ran := make(chan error, 1)
		go func() { ran <- conn.Run(context.Background()) }()
		var senders sync.WaitGroup
		pad := raw(`"` + strings.Repeat("x", 100_000) + `"`)
		var sent atomic.Int32
		for range 50 {
			senders.Go(func() {
				if err := conn.Notify(context.Background(), "n", pad); err != nil {
					t.Error(err)
				}
				sent.Add(1)
			})
		}
		synctest.Wait()
		if n := sent.Load(); n > 10 {
			t.Errorf("%d frames of 100 kB taken, and nobody reads", n)
		}
		read := make(chan int64)
		go func() {
			n, _ := io.Copy(io.Discard, out)
			read <- n
		}()
		senders.Wait()
		in.Close()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		connOut.Close()
		if n := <-read; n != int64(50*(len(pad)+len(`{"jsonrpc":"2.0","method":"n","params":}`)+1)) {
			t.Errorf("read %d bytes", n)
		}
	})
}

// Frames that wait for a Write go out in the next one, whole and in order.
func TestFramesAreJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent, in := io.Pipe()
		w := &gate{open: make(chan bool)}
		conn := rpc.New(silent, w, rpc.Config{})
		ran := make(chan error, 1)
		go func() { ran <- conn.Run(context.Background()) }()
		var want strings.Builder
		for i := range 1000 {
			if err := conn.Notify(context.Background(), "n", raw(fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&want, `{"jsonrpc":"2.0","method":"n","params":%d}`+"\n", i)
			if i == 0 {
				synctest.Wait() // the first is in its Write
			}
		}
		close(w.open)
		in.Close()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if w.writes != 2 || w.all.String() != want.String() {
			t.Errorf("%d writes of %d bytes, want 2 of %d", w.writes, w.all.Len(), want.Len())
		}
	})
}

type gate struct {
	open   chan bool
	writes int
	all    bytes.Buffer
}

func (g *gate) Write(b []byte) (int, error) {
	<-g.open
	g.writes++
	return g.all.Write(b)
}

// Many senders, one writer: no line is mixed with another.
func TestFramesDoNotInterleave(t *testing.T) {
	p := start(t, rpc.Config{Handler: echo})
	const senders, each = 16, 50
	for i := range senders {
		go func() {
			body := raw(`"` + strings.Repeat(string(rune('a'+i)), 1+i*997) + `"`)
			for range each {
				if err := p.conn.Notify(context.Background(), "n", body); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for range senders * each {
		var m struct{ Params string }
		if line := p.recv(); json.Unmarshal([]byte(line), &m) != nil || strings.Trim(m.Params, m.Params[:1]) != "" {
			t.Fatalf("%.200s", line)
		}
	}
}

// A Write that takes less than it was given breaks the connection.
func TestShortWrite(t *testing.T) {
	silent, in := io.Pipe()
	defer in.Close()
	conn := rpc.New(silent, short{}, rpc.Config{})
	if err := conn.Notify(context.Background(), "n", nil); err != nil {
		t.Error(err)
	}
	if err := conn.Run(context.Background()); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

type short struct{}

func (short) Write(b []byte) (int, error) { return len(b) - 1, nil }

// Run's context ends while nothing else would end its Read: the far side is
// gone without closing the pipe.
//
// BL-126: somebody who notices that can end Run.
func TestPeerThatNeverCloses(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(context.Background())
	conn := rpc.New(r, io.Discard, rpc.Config{})
	ran := make(chan error, 1)
	go func() { ran <- conn.Run(ctx) }()
	got := make(chan error, 1)
	go func() {
		_, err := conn.Call(context.Background(), "m", nil)
		got <- err
	}()
	time.Sleep(time.Millisecond)
	cancel()
	if err := receive(t, ran); err != context.Canceled {
		t.Error(err)
	}
	if err := receive(t, got); !errors.Is(err, rpc.ErrClosed) {
		t.Error(err)
	}
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
}
