package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent"
)

// logged is a logger's handler that tells each message.
type logged chan string

func (l logged) Enabled(context.Context, slog.Level) bool { return true }
func (l logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l logged) WithGroup(string) slog.Handler            { return l }
func (l logged) Handle(_ context.Context, r slog.Record) error {
	l <- r.Message
	return nil
}

// TestLoadIsCancelled: a session/load that shows more than the host reads gives up
// when it is cancelled, and the session is as closed as before.
func TestLoadIsCancelled(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	writeHome(t, home, strings.Repeat(fmt.Sprintf(`{"text":"%032768d"}`+"\n", 0), 40)) // 1.3 MB: more than waits anywhere
	log := make(logged, 100)
	d := talk(t, home, agent.Config{Logger: slog.New(log)})
	id := d.newSession(work)
	for range 40 {
		d.want("prompt", d.prompt(id, "go on"), `"end_turn"`)
	}
	d.want("close", d.on(id, "session/close", ""), "{}")

	fmt.Fprintf(d.in, `{"jsonrpc":"2.0","id":"load","method":"session/load","params":{"sessionId":%q}}`+"\n", id)
	fmt.Fprintln(d.in, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"load"}}`)
	fmt.Fprintln(d.in, `{"jsonrpc":"2.0","id":"nobody's","result":{}}`) // is logged when all before it has been read
	for !strings.Contains(<-log, "unknown id") {
	}
	shown := 0
	for {
		line, err := d.lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if string(m.ID) == `"load"` {
			d.want("load", string(m.Error), `"code":-32800`, "session/load: ")
			break
		}
		shown++
	}
	if shown >= 2*40 {
		t.Errorf("%d updates were shown all the same", shown)
	}
	d.want("prompt", d.prompt(id, "is it open?"), `"code":-32602`)
	a, words := d.load(id, work)
	d.want("load again", a, `"currentModeId"`)
	if n := strings.Count(words, "go on"); n != 40 {
		t.Errorf("%d prompts were shown", n)
	}
}
