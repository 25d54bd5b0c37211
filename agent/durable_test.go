package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/session"
)

// journal notes what happens to the store and on the wire, in order.
type journal struct {
	mu    sync.Mutex
	notes []string
}

func (j *journal) note(format string, a ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes = append(j.notes, fmt.Sprintf(format, a...))
}

// watchedStore is a store on disk whose ledgers tell the journal.
type watchedStore struct {
	ledger.Store
	j *journal
}

func (s watchedStore) Create(id string, first ...ledger.Record) (ledger.Ledger, error) {
	l, err := s.Store.Create(id, first...)
	s.j.note("sync") // Create is durable by itself; the ledger's tests prove that
	return watchedLedger{l, s.j}, err
}

type watchedLedger struct {
	ledger.Ledger
	j *journal
}

func (l watchedLedger) Append(recs ...ledger.Record) error {
	err := l.Ledger.Append(recs...)
	for _, r := range recs {
		l.j.note("append %s", r.Kind)
	}
	return err
}

func (l watchedLedger) Sync() error {
	err := l.Ledger.Sync()
	l.j.note("sync")
	return err
}

func (l watchedLedger) Read(from uint64) iter.Seq2[ledger.Record, error] { return l.Ledger.Read(from) }

// watchedWire tells the journal each line that leaves.
type watchedWire struct {
	j    *journal
	out  io.Writer
	part []byte
}

func (w *watchedWire) Write(p []byte) (int, error) {
	w.part = append(w.part, p...)
	for {
		line, rest, whole := bytes.Cut(w.part, []byte("\n"))
		if !whole {
			break
		}
		w.j.note("wire %s", line)
		w.part = rest
	}
	return w.out.Write(p)
}

// TestDurableBeforeAcknowledged: whatever is answered is on the disk before, and
// what is shown of a turn is in the log before. A kill proves only the second,
// because it does not lose the page cache.
func TestDurableBeforeAcknowledged(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		"config.toml": "[[providers]]\nname = \"scripted\"\nkind = \"scripted\"\nfile = \"model.jsonl\"\nmodels = [\"case\", \"other\"]\nefforts = [\"low\"]\n",
		"model.jsonl": `{"text":"words","tools":[{"name":"todo_write","args":{"todos":[{"content":"c","status":"pending"}]}}],"usage":{"input":1}}` + "\n" + `{"text":"end"}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j := &journal{}
	a := New(Config{Home: home, Model: "scripted/case", NewID: func() string { return "s1" }, Getenv: func(string) string { return "" }})
	a.store = func() (ledger.Store, error) {
		return watchedStore{ledger.Files(filepath.Join(home, "acp"), ledger.Options{Fold: session.Fold}), j}, nil
	}
	in, send := io.Pipe()
	read, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- a.Serve(context.Background(), in, &watchedWire{j: j, out: out}) }()
	answers := make(chan string)
	go func() {
		buf := make([]byte, 1<<20)
		var all []byte
		for {
			n, err := read.Read(buf)
			if err != nil {
				close(answers)
				return
			}
			all = append(all, buf[:n]...)
			for {
				line, rest, whole := bytes.Cut(all, []byte("\n"))
				if !whole {
					break
				}
				all = rest
				if bytes.Contains(line, []byte(`"result"`)) || bytes.Contains(line, []byte(`"error"`)) {
					answers <- string(line)
				}
			}
		}
	}()
	requests := []string{
		fmt.Sprintf(`"session/new","params":{"cwd":%q,"mcpServers":[]}`, home),
		`"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"go"}]}`,
		`"session/set_mode","params":{"sessionId":"s1","modeId":"plan"}`,
		`"session/set_config_option","params":{"sessionId":"s1","configId":"tool_approval","value":"read-only"}`,
		`"session/set_config_option","params":{"sessionId":"s1","configId":"effort","value":"low"}`,
		`"session/set_model","params":{"sessionId":"s1","modelId":"scripted/other"}`,
		`"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"/status"}]}`,
	}
	for i, r := range requests {
		fmt.Fprintf(send, `{"jsonrpc":"2.0","id":%d,"method":%s}`+"\n", i, r)
		if line := <-answers; !strings.Contains(line, `"result"`) {
			t.Fatal(line)
		}
	}
	send.Close()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	out.Close()
	answered, dirty, shown := 0, "", map[string]bool{}
	for _, note := range j.notes {
		switch {
		case note == "sync":
			dirty = ""
		case strings.HasPrefix(note, "append "):
			dirty = note
			shown[note] = true
		case strings.Contains(note, `"result"`):
			answered++
			if dirty != "" {
				t.Errorf("%q is not on the disk when the answer goes out: %.120s", dirty, note)
			}
		case strings.Contains(note, `"agent_message_chunk"`) && !shown["append text"] && !shown["append output"],
			strings.Contains(note, `"tool_call"`) && !shown["append tool_call"], strings.Contains(note, `"plan"`) && strings.Contains(note, `"entries"`) && !shown["append plan"]:
			t.Errorf("shown before it is in the log: %.120s", note)
		}
	}
	if answered != len(requests) || !shown["append done"] {
		t.Errorf("%d answers in the journal, %v", answered, shown)
	}
}
