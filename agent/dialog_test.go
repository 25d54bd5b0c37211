package agent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent"
)

// dialog is a host that sends one request after the other to an agent in this
// process.
type dialog struct {
	t       *testing.T
	home    string
	in      *os.File
	lines   *bufio.Reader
	ids     int
	updates []json.RawMessage // before the last answer
	end     func()
}

// writeHome writes the configuration of a scripted model.
func writeHome(t *testing.T, home, script string) {
	t.Helper()
	for name, text := range map[string]string{
		"config.toml": "[agent]\nretry_seconds = 0\n[[providers]]\nname = \"scripted\"\nkind = \"scripted\"\nfile = \"model.jsonl\"\n",
		"model.jsonl": script,
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// talk starts an agent on home.
func talk(t *testing.T, home string, c agent.Config) *dialog {
	t.Helper()
	agentIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, agentOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Home, c.Model, c.Getenv = home, "scripted/case", func(string) string { return "" }
	done := make(chan error, 1)
	go func() {
		err := agent.New(c).Serve(context.Background(), agentIn, agentOut)
		agentIn.Close()
		agentOut.Close()
		done <- err
	}()
	d := &dialog{t: t, home: home, in: in, lines: bufio.NewReader(out)}
	d.end = func() {
		d.end = func() {}
		in.Close()
		_, _ = io.Copy(io.Discard, d.lines)
		out.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
	t.Cleanup(func() { d.end() })
	return d
}

// call returns the result, or the error object.
func (d *dialog) call(method, params string) string {
	d.t.Helper()
	d.ids++
	if _, err := fmt.Fprintf(d.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`+"\n", d.ids, method, params); err != nil {
		d.t.Fatal(err)
	}
	d.updates = nil
	for {
		line, err := d.lines.ReadBytes('\n')
		if err != nil {
			d.t.Fatalf("%s: %v", method, err)
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			d.t.Fatalf("%v: %s", err, line)
		}
		switch {
		case string(m.ID) == fmt.Sprint(d.ids):
			return string(m.Result) + string(m.Error)
		case m.Method == "session/update":
			d.updates = append(d.updates, m.Params)
		}
	}
}

// on is call for a session.
func (d *dialog) on(id, method, params string) string {
	d.t.Helper()
	return d.call(method, strings.TrimSuffix(fmt.Sprintf(`"sessionId":%q,%s`, id, params), ","))
}

func (d *dialog) newSession(work string) string {
	d.t.Helper()
	a := d.create(work)
	var r struct{ SessionID string }
	if json.Unmarshal([]byte(a), &r) != nil || r.SessionID == "" {
		d.t.Fatal(a)
	}
	return r.SessionID
}

func (d *dialog) create(work string) (answer string) {
	d.t.Helper()
	return d.call("session/new", fmt.Sprintf(`"cwd":%q,"mcpServers":[]`, work))
}

func (d *dialog) prompt(id, text string) (answer string) {
	d.t.Helper()
	return d.on(id, "session/prompt", fmt.Sprintf(`"prompt":[{"type":"text","text":%q}]`, text))
}

// load returns the answer and the words that were shown before it, one line each.
func (d *dialog) load(id, work string) (answer, words string) {
	d.t.Helper()
	answer = d.on(id, "session/load", fmt.Sprintf(`"cwd":%q,"mcpServers":[]`, work))
	for _, u := range d.updates {
		var p struct {
			Update struct {
				SessionUpdate string
				Content       json.RawMessage
			}
		}
		var text struct{ Text string }
		if json.Unmarshal(u, &p) == nil && strings.HasSuffix(p.Update.SessionUpdate, "_chunk") && json.Unmarshal(p.Update.Content, &text) == nil {
			words += strings.TrimSuffix(p.Update.SessionUpdate, "_chunk") + ": " + text.Text + "\n"
		}
	}
	return answer, words
}

// want fails the test when a part is not in the answer.
func (d *dialog) want(what, answer string, parts ...string) {
	d.t.Helper()
	for _, part := range parts {
		if !strings.Contains(answer, part) {
			d.t.Errorf("%s: no %s in %.600s", what, part, answer)
		}
	}
}
