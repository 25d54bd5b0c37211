package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/session"
)

// recording is a store that keeps, beside what it stores, which records are known
// to be on the disk at each moment.
type recording struct {
	ledger.Store
	mu      sync.Mutex
	created bool
	kinds   []string // of each record, in order
	synced  int      // so many of them are on the disk
	fail    error    // of every Sync from now on
}

func (r *recording) Create(id string, first ...ledger.Record) (ledger.Ledger, error) {
	time.Sleep(5 * time.Millisecond) // an answer that does not wait would be ahead
	l, err := r.Store.Create(id, first...)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.created = true
	r.kinds = append(r.kinds, kinds(first)...)
	r.synced = len(r.kinds)
	return &recordingLedger{l, r}, nil
}

func kinds(recs []ledger.Record) (list []string) {
	for _, rec := range recs {
		list = append(list, rec.Kind)
	}
	return list
}

type recordingLedger struct {
	ledger.Ledger
	r *recording
}

func (l *recordingLedger) Append(recs ...ledger.Record) error {
	err := l.Ledger.Append(recs...)
	if err == nil {
		l.r.mu.Lock()
		defer l.r.mu.Unlock()
		l.r.kinds = append(l.r.kinds, kinds(recs)...)
	}
	return err
}

func (l *recordingLedger) Sync() error { return l.r.sync(l.Ledger.Sync) }

func (l *recordingLedger) Close() error { return l.r.sync(l.Ledger.Close) }

// sync counts what was there when it began, and only once it has ended.
func (r *recording) sync(f func() error) error {
	r.mu.Lock()
	n, fail := len(r.kinds), r.fail
	r.mu.Unlock()
	time.Sleep(5 * time.Millisecond)
	if err := errors.Join(f(), fail); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced = max(r.synced, n)
	return nil
}

// lost is the last record of this kind when it is not on the disk.
func (r *recording) lost(kind string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.created {
		return "the session"
	}
	for i := len(r.kinds) - 1; i >= r.synced; i-- {
		if kind == "" || r.kinds[i] == kind {
			return fmt.Sprintf("record %d, %q", i+1, r.kinds[i])
		}
	}
	return ""
}

func (r *recording) count(kind string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.kinds {
		if k == kind {
			n++
		}
	}
	return n
}

// checkedOutput is the agent's way out. It judges an answer before the host can
// have it.
type checkedOutput struct {
	io.Writer
	t    *testing.T
	mu   sync.Mutex
	owed map[string]func() string // by request id: what must be on the disk and is not
	seen int
}

func (o *checkedOutput) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		var m struct {
			ID, Result json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil {
			o.t.Errorf("not one line: %q", line)
		}
		o.mu.Lock()
		if lost := o.owed[string(m.ID)]; lost != nil && m.Result != nil {
			o.seen++
			if what := lost(); what != "" {
				o.t.Errorf("request %s is answered before %s is on the disk", m.ID, what)
			}
		}
		o.mu.Unlock()
	}
	return o.Writer.Write(p)
}

// syncHost is a host of one session with a recording store.
type syncHost struct {
	t       *testing.T
	store   *recording
	out     *checkedOutput
	in      io.Writer
	lines   *bufio.Reader
	session string
	ids     int
}

func startRecording(t *testing.T, script string) *syncHost {
	home := t.TempDir()
	for name, text := range map[string]string{
		"config.toml": "[agent]\nretry_seconds = 0\n[[providers]]\nname = \"scripted\"\nkind = \"scripted\"\nfile = \"model.jsonl\"\nmodels = [\"a\", \"b\"]\nefforts = [\"low\"]\n",
		"model.jsonl": script,
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := &syncHost{t: t, store: &recording{Store: ledger.Files(filepath.Join(home, "acp"), ledger.Options{Fold: session.Fold})}}
	a := New(Config{Home: home, Model: "scripted/a", Getenv: func(string) string { return "" }})
	a.store = func() (ledger.Store, error) { return h.store, nil }
	agentIn, in := pipe(t)
	out, agentOut := pipe(t)
	h.in, h.lines, h.out = in, bufio.NewReader(out), &checkedOutput{Writer: agentOut, t: t, owed: map[string]func() string{}}
	done := make(chan error, 1)
	go func() {
		done <- a.Serve(context.Background(), agentIn, h.out)
		agentOut.Close()
	}()
	t.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(io.Discard, h.lines)
		if err := <-done; err != nil {
			t.Error(err)
		}
		out.Close()
		agentIn.Close()
	})
	return h
}

func pipe(t *testing.T) (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// send sends a request whose answer is owed only when the last record of a kind
// is on the disk; "" is every record.
func (h *syncHost) send(method, params, kind string) (id string) {
	h.ids++
	id = fmt.Sprint(h.ids)
	h.out.mu.Lock()
	h.out.owed[id] = func() string { return h.store.lost(kind) }
	h.out.mu.Unlock()
	if h.session != "" {
		params = fmt.Sprintf(`"sessionId":%q,%s`, h.session, params)
	}
	fmt.Fprintf(h.in, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`+"\n", id, method, strings.TrimSuffix(params, ","))
	return id
}

func (h *syncHost) answer(id string) string {
	for {
		line, err := h.lines.ReadBytes('\n')
		if err != nil {
			h.t.Fatal(err)
		}
		var m struct{ ID, Result, Error json.RawMessage }
		if json.Unmarshal(line, &m) == nil && string(m.ID) == id {
			return string(m.Result) + string(m.Error)
		}
	}
}

func (h *syncHost) newSession() {
	var r struct{ SessionID string }
	if a := h.answer(h.send("session/new", fmt.Sprintf(`"cwd":%q,"mcpServers":[]`, h.t.TempDir()), "")); json.Unmarshal([]byte(a), &r) != nil || r.SessionID == "" {
		h.t.Fatal(a)
	}
	h.session = r.SessionID
}

const goOn = `"prompt":[{"type":"text","text":"go"}]`

// TestSyncedBeforeAnswered: what is acknowledged is on the disk before the answer
// is written, at rest and while a turn runs.
func TestSyncedBeforeAnswered(t *testing.T) {
	h := startRecording(t, `{"think":"hm","text":"words","tools":[{"name":"todo_write","args":{"todos":[]}}]}
{"text":"end"}
{"text":"a b c d e f g h","chunks":8,"delayMs":30}
{"status":500}
`)
	h.newSession()
	sets := []struct{ method, params string }{
		{"session/set_mode", `"modeId":"plan"`},
		{"session/set_mode", `"modeId":"auto"`},
		{"session/set_config_option", `"configId":"model","value":"scripted/b"`},
		{"session/set_model", `"modelId":"scripted/a"`},
		{"session/set_config_option", `"configId":"effort","value":"low"`},
		{"session/set_config_option", `"configId":"tool_approval","value":"read-only"`},
		{"session/set_config_option", `"configId":"tool_approval","value":"workspace-write"`},
	}
	setAll := func(suffix string) {
		for _, s := range sets {
			before := h.store.count("set")
			if a := h.answer(h.send(s.method, s.params, "set")); !strings.HasPrefix(a, "{") || strings.Contains(a, `"code"`) {
				t.Errorf("%s %s %s: %s", s.method, s.params, suffix, a)
			}
			if h.store.count("set") == before {
				t.Errorf("%s %s %s writes nothing down", s.method, s.params, suffix)
			}
		}
	}
	setAll("at rest")
	if a := h.answer(h.send("session/prompt", goOn, "")); !strings.Contains(a, "end_turn") {
		t.Error(a)
	}
	if a := h.answer(h.send("session/prompt", `"prompt":[{"type":"text","text":"/status"}]`, "")); !strings.Contains(a, "end_turn") {
		t.Error(a)
	}
	running := h.send("session/prompt", goOn, "")
	setAll("in a turn")
	if n := h.store.count("done"); n != 2 {
		t.Fatalf("%d turns have ended; the third was to be running", n)
	}
	if a := h.answer(running); !strings.Contains(a, "end_turn") {
		t.Error(a)
	}
	if a := h.answer(h.send("session/prompt", goOn, "")); !strings.Contains(a, "-32603") {
		t.Error(a)
	}
	if lost := h.store.lost(""); lost != "" {
		t.Errorf("a turn has failed and is answered, and %s is not on the disk", lost)
	}
	if a := h.answer(h.send("session/close", "", "")); a != "{}" {
		t.Error(a)
	}
	if want := 1 + 2*len(sets) + 3 + 1; h.out.seen != want {
		t.Errorf("%d answers were judged, want %d", h.out.seen, want)
	}
}

// TestSyncFails: what cannot be put on the disk is not acknowledged, and the
// cause is named.
func TestSyncFails(t *testing.T) {
	h := startRecording(t, `{"text":"x"}`+"\n")
	h.newSession()
	h.store.mu.Lock()
	h.store.fail = errors.New("the disk is out of order")
	h.store.mu.Unlock()
	for _, r := range []struct{ method, params string }{
		{"session/prompt", goOn},
		{"session/set_mode", `"modeId":"plan"`},
		{"session/set_mode", `"modeId":"auto"`},
		{"session/set_config_option", `"configId":"model","value":"scripted/b"`},
		{"session/set_config_option", `"configId":"effort","value":"low"`},
		{"session/set_config_option", `"configId":"tool_approval","value":"read-only"`},
		{"session/close", ""},
	} {
		if r.method == "session/close" { // nothing of what was refused holds
			a := h.answer(h.send("session/resume", "", "nothing that it owes"))
			for _, part := range []string{`"currentModeId":"normal"`, `"currentValue":"scripted/a"`, `"currentValue":"auto"`, `"currentValue":"workspace-write"`} {
				if !strings.Contains(a, part) {
					t.Errorf("no %s in %s", part, a)
				}
			}
		}
		if a := h.answer(h.send(r.method, r.params, "")); !strings.Contains(a, "-32603") || !strings.Contains(a, r.method+": ") || !strings.Contains(a, "out of order") {
			t.Errorf("%s: %s", r.method, a)
		}
	}
}

// TestSyncFailsAtTheEnd: a model that waits for the end of a turn, where it cannot
// be put on the disk, is not used; it is when the next turn has ended.
func TestSyncFailsAtTheEnd(t *testing.T) {
	h := startRecording(t, `{"text":"first","hang":true}`+"\n"+`{"text":"second"}`+"\n")
	h.newSession()
	// Each model plays the script from its beginning.
	says := func(want string) {
		t.Helper()
		for {
			line, err := h.lines.ReadString('\n')
			if err != nil || strings.Contains(line, `"text":"first"`) || strings.Contains(line, `"text":"second"`) {
				if !strings.Contains(line, want) {
					t.Fatalf("the model says %s, %v; want %s", line, err, want)
				}
				return
			}
		}
	}
	inForce := func(want string) {
		t.Helper()
		if a := h.answer(h.send("_reasonix.io/session/status", "", "nothing that it owes")); !strings.Contains(a, `"model":"`+want+`"`) {
			t.Errorf("want %s in force: %s", want, a)
		}
	}
	disk := func(err error) {
		h.store.mu.Lock()
		defer h.store.mu.Unlock()
		h.store.fail = err
	}
	running := h.send("session/prompt", goOn, "")
	says("first")
	if a := h.answer(h.send("session/set_model", `"modelId":"scripted/b"`, "set")); a != "{}" {
		t.Fatal(a)
	}
	disk(errors.New("the disk is out of order"))
	fmt.Fprintf(h.in, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", h.session)
	if a := h.answer(running); !strings.Contains(a, "out of order") {
		t.Error(a)
	}
	inForce("scripted/a")
	disk(nil)
	next := h.send("session/prompt", goOn, "")
	says("second")
	if a := h.answer(next); !strings.Contains(a, "end_turn") {
		t.Error(a)
	}
	inForce("scripted/b")
}
