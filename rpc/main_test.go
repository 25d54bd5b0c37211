package rpc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acpkit/acpkit/rpc"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come. Only a failing test
// takes so long.
const patience = 20 * time.Second

// raw is an Appender of its own text.
type raw string

func (r raw) AppendJSON(b []byte) []byte { return append(b, r...) }

// peer is the far side of a Conn under test: lines through real pipes.
type peer struct {
	t    *testing.T
	conn *rpc.Conn
	in   *os.File // what the Conn reads
	out  *os.File // what the Conn writes
	r    *bufio.Reader
	run  chan error // what Run returned
	log  *logBuffer
}

// start runs a Conn until the test ends.
func start(t *testing.T, c rpc.Config) *peer {
	t.Helper()
	connIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, connOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, in: in, out: out, r: bufio.NewReaderSize(out, 64<<10), run: make(chan error, 1), log: &logBuffer{}}
	if c.Logger == nil {
		c.Logger = p.log.logger()
	}
	p.conn = rpc.New(connIn, connOut, c)
	go func() {
		err := p.conn.Run(context.Background())
		connOut.Close() // so that the far side sees the end, as of a process
		connIn.Close()
		p.run <- err
	}()
	t.Cleanup(func() {
		p.in.Close()
		p.out.Close()
		p.wait()
	})
	return p
}

// send writes lines, each with a newline, in one write.
func (p *peer) send(lines ...string) {
	p.t.Helper()
	p.write(strings.Join(lines, "\n") + "\n")
}

func (p *peer) write(s string) {
	p.t.Helper()
	if _, err := p.in.WriteString(s); err != nil {
		p.t.Errorf("write: %v", err)
	}
}

// recv returns the next line without its newline.
func (p *peer) recv() string {
	p.t.Helper()
	p.out.SetReadDeadline(time.Now().Add(patience))
	line, err := p.r.ReadString('\n')
	if err != nil {
		p.t.Fatalf("read: %v after %q\nlog: %s", err, line, p.log)
	}
	return strings.TrimSuffix(line, "\n")
}

func (p *peer) expect(want ...string) {
	p.t.Helper()
	for _, want := range want {
		if got := p.recv(); got != want {
			p.t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// eof ends the Conn's input, waits for Run and returns the lines still written.
func (p *peer) eof() []string {
	p.t.Helper()
	p.in.Close()
	var rest []string
	p.out.SetReadDeadline(time.Now().Add(patience))
	for {
		line, err := p.r.ReadString('\n')
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				p.t.Fatal("the connection does not end")
			}
			p.wait()
			return rest
		}
		rest = append(rest, strings.TrimSuffix(line, "\n"))
	}
}

// wait returns what Run returned.
func (p *peer) wait() error {
	p.t.Helper()
	select {
	case err := <-p.run:
		p.run <- err
		return err
	case <-time.After(patience):
		p.t.Fatal("Run does not return")
		return nil
	}
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// receive takes one value from ch or fails the test.
func receive[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// echo answers with the params, or {"none":true} without any.
func echo(_ context.Context, req *rpc.Request) (rpc.Appender, error) {
	if req.Params == nil {
		return raw(`{"none":true}`), nil
	}
	return raw(req.Params), nil
}

// byMethod makes a Handler of one function for each method.
func byMethod(h handlers) rpc.Config {
	return rpc.Config{Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
		if h := h[req.Method]; h != nil {
			return h(ctx, req)
		}
		return nil, rpc.ErrMethodNotFound
	}}
}

type handlers = map[string]func(ctx context.Context, req *rpc.Request) (rpc.Appender, error)

// sessionKey orders by the member "s" of the params.
func sessionKey(_ string, params json.RawMessage) string {
	var p struct{ S string }
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	return p.S
}
