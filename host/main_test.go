package host_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

// TestMain also plays the agents that Launch starts.
func TestMain(m *testing.M) {
	if role := os.Getenv("HOST_TEST_AGENT"); role != "" {
		os.Exit(play(role))
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must come. Only a failing test
// takes so long.
const patience = time.Minute

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

// async runs f and gives its result when it has one.
func async[T any](f func() T) <-chan T {
	ch := make(chan T, 1)
	go func() { ch <- f() }()
	return ch
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not " + what)
		}
	}
}

// wire is an agent of which the test writes every line itself.
type wire struct {
	t   *testing.T
	h   *host.Host
	out *os.File // to the host
	in  *os.File // from the host
	r   *bufio.Reader
	log *logBuffer
}

// line is a message of the host's.
type line struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

func dial(t *testing.T, c host.Config) *wire {
	t.Helper()
	in, hostOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	hostIn, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, out: out, in: in, r: bufio.NewReader(in), log: &logBuffer{}}
	c.Logger = slog.New(slog.NewTextHandler(w.log, nil))
	w.h = host.Connect(hostIn, hostOut, c)
	t.Cleanup(func() {
		out.Close()
		_ = w.h.Close() // the tests of Close look at its error
		in.Close()
		hostIn.Close()
	})
	return w
}

// recv returns the next line of the host's.
func (w *wire) recv() (l line) {
	w.t.Helper()
	w.in.SetReadDeadline(time.Now().Add(patience))
	b, err := w.r.ReadBytes('\n')
	if err != nil {
		w.t.Fatalf("read: %v\nlog: %s", err, w.log)
	}
	if err := json.Unmarshal(b, &l); err != nil {
		w.t.Fatalf("%v: %s", err, b)
	}
	return l
}

// expect returns the next line, which must have this method.
func (w *wire) expect(method string) line {
	w.t.Helper()
	l := w.recv()
	if l.Method != method {
		w.t.Fatalf("got %q, want %q: %s%s", l.Method, method, l.Params, l.Result)
	}
	return l
}

func (w *wire) send(lines ...string) {
	w.t.Helper()
	if _, err := w.out.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		w.t.Errorf("write: %v", err)
	}
}

// answer answers the host's next request.
func (w *wire) answer(method, result string) {
	w.t.Helper()
	l := w.expect(method)
	w.send(result1(l, result))
}

func result1(l line, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, l.ID, result)
}

// open opens a session with this id.
func (w *wire) open(id string) *host.Session {
	w.t.Helper()
	opened := async(func() *host.Session {
		s, err := w.h.NewSession(w.t.Context(), "/")
		if err != nil {
			w.t.Error(err)
		}
		return s
	})
	w.answer("session/new", fmt.Sprintf(`{"sessionId":%q}`, id))
	return receive(w.t, opened)
}

// outcome is what Prompt returned.
type outcome struct {
	turn *host.Turn
	err  error
}

// text is the line of an update.
func text(session, s string) string { return piece("agent_message_chunk", session, s) }

func piece(kind, session, s string) string {
	b, _ := json.Marshal(s)
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":%q,"content":{"type":"text","text":%s}}}}`, session, kind, b)
}

// texts joins the text of updates, of all kinds of pieces.
func texts(updates []acp.SessionUpdate) string {
	var b strings.Builder
	for _, u := range updates {
		var c acp.ContentChunk
		switch u := u.(type) {
		case *acp.SessionUpdateAgentMessageChunk:
			c = u.ContentChunk
		case *acp.SessionUpdateAgentThoughtChunk:
			c = u.ContentChunk
		case *acp.SessionUpdateUserMessageChunk:
			c = u.ContentChunk
		default:
			fmt.Fprintf(&b, "<%T>", u)
			continue
		}
		if t, ok := c.Content.(*acp.TextContent); ok {
			b.WriteString(t.Text)
		} else {
			fmt.Fprintf(&b, "<%T>", c.Content)
		}
	}
	return b.String()
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

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
