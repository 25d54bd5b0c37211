package host_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

// initialize answers Initialize with these capabilities of the agent.
func (w *wire) initialize(capabilities string) {
	w.t.Helper()
	done := async(func() error { _, err := w.h.Initialize(w.t.Context()); return err })
	w.answer("initialize", `{"protocolVersion":1,"agentCapabilities":`+capabilities+`}`)
	if err := receive(w.t, done); err != nil {
		w.t.Fatal(err)
	}
}

type loaded struct {
	s      *host.Session
	replay []acp.SessionUpdate
	err    error
}

func (w *wire) load(id acp.SessionID) <-chan loaded {
	return async(func() loaded {
		s, replay, err := w.h.LoadSession(w.t.Context(), id, "/dir")
		return loaded{s, replay, err}
	})
}

// BL-026: a replay is its own, however many updates it has, and belongs to no
// turn; neither does history that comes after the answer, before the next prompt.
func TestLoadSession(t *testing.T) {
	w := dial(t, host.Config{})
	loading := w.load("old")
	req := w.expect("session/load")
	if s := string(req.Params); !strings.Contains(s, `"sessionId":"old"`) || !strings.Contains(s, `"cwd":"/dir"`) || !strings.Contains(s, `"mcpServers":[]`) {
		t.Error(s)
	}
	var lines []string
	want := ""
	for i := range 8 {
		lines = append(lines, piece("user_message_chunk", "old", fmt.Sprint("q", i, " ")))
		for k := range 2000 {
			lines = append(lines, text("old", fmt.Sprint(k, " ")))
		}
		want += fmt.Sprint("q", i, " ")
		for k := range 2000 {
			want += fmt.Sprint(k, " ")
		}
	}
	w.send(append(lines, result1(req, `{"modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"}]}}`))...)
	l := receive(t, loading)
	if l.err != nil || texts(l.replay) != want || len(l.replay) != 16 {
		t.Fatalf("%v, %d updates, %d of %d bytes", l.err, len(l.replay), len(texts(l.replay)), len(want))
	}
	if l.s.ID != "old" || l.s.Modes == nil || l.s.Modes.CurrentModeID != "ask" {
		t.Errorf("%+v", l.s)
	}

	w.send(piece("user_message_chunk", "old", "late "), text("old", "history"))
	var between []acp.SessionUpdate
	eventually(t, "there", func() bool {
		between = append(between, l.s.Unprompted()...)
		return texts(between) == "late history"
	})
	turn := async(func() outcome { turn, err := l.s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	req = w.expect("session/prompt")
	w.send(text("old", "live"), result1(req, `{"stopReason":"end_turn"}`))
	if o := receive(t, turn); o.err != nil || texts(o.turn.Updates) != "live" {
		t.Errorf("%v, %s", o.err, texts(o.turn.Updates))
	}
}

// A session that is open is not loaded over itself, and one whose load was
// refused can be loaded again.
func TestLoadTwice(t *testing.T) {
	w := dial(t, host.Config{})
	for range 2 {
		loading := w.load("x")
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"session/load: no such session"}}`, w.expect("session/load").ID))
		var e *acp.Error
		if l := receive(t, loading); l.s != nil || !errors.As(l.err, &e) || e.Code != acp.ErrorCodeResourceNotFound {
			t.Errorf("refused: %v", l.err)
		}
	}
	loading := w.load("x")
	w.answer("session/load", `{}`)
	l := receive(t, loading)
	if l.err != nil || len(l.replay) != 0 {
		t.Fatalf("%v, %d updates", l.err, len(l.replay))
	}
	if l := receive(t, w.load("x")); l.err == nil || !strings.Contains(l.err.Error(), "close it first") {
		t.Errorf("open already: %v", l.err)
	}
	if _, err := w.h.ResumeSession(t.Context(), "x", "/"); err == nil || !strings.Contains(err.Error(), "close it first") {
		t.Errorf("open already: %v", err)
	}
	if err := l.s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	loading = w.load("x")
	w.answer("session/load", `null`)
	if l := receive(t, loading); l.err != nil {
		t.Error(l.err)
	}
}

func TestResumeSession(t *testing.T) {
	w := dial(t, host.Config{})
	type resumed struct {
		s   *host.Session
		err error
	}
	resume := func() <-chan resumed {
		return async(func() resumed { s, err := w.h.ResumeSession(t.Context(), "r", "/dir"); return resumed{s, err} })
	}
	refused := resume()
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, w.expect("session/resume").ID))
	if r := receive(t, refused); r.err == nil || w.h.Open() != 0 {
		t.Errorf("refused: %v, %d open", r.err, w.h.Open())
	}
	resuming := resume()
	req := w.expect("session/resume")
	w.send(text("r", "early"), result1(req, `{}`))
	r := receive(t, resuming)
	if r.err != nil || texts(r.s.Unprompted()) != "early" {
		t.Fatalf("%v", r.err)
	}
	turn := async(func() outcome { turn, err := r.s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	w.answer("session/prompt", `{"stopReason":"end_turn"}`)
	if o := receive(t, turn); o.err != nil {
		t.Error(o.err)
	}
}

func TestListSessions(t *testing.T) {
	w := dial(t, host.Config{})
	list := func(cwd string, most int) <-chan string {
		return async(func() string {
			var got []string
			for info, err := range w.h.ListSessions(t.Context(), cwd) {
				if err != nil {
					got = append(got, err.Error())
				} else {
					got = append(got, string(info.SessionID))
				}
				if len(got) == most {
					break
				}
			}
			return strings.Join(got, " ")
		})
	}
	entry := func(id string) string { return fmt.Sprintf(`{"sessionId":%q,"cwd":"/"}`, id) }

	got := list("/dir", 0)
	req := w.expect("session/list")
	if string(req.Params) != `{"cwd":"/dir"}` {
		t.Error(string(req.Params))
	}
	w.send(result1(req, `{"sessions":[`+entry("a")+`,`+entry("b")+`],"nextCursor":"n 1"}`))
	req = w.expect("session/list")
	if string(req.Params) != `{"cwd":"/dir","cursor":"n 1"}` {
		t.Error(string(req.Params))
	}
	w.send(result1(req, `{"sessions":[`+entry("c")+`]}`))
	if s := receive(t, got); s != "a b c" {
		t.Error(s)
	}

	got = list("", 1) // one page is enough, so no other is asked for
	w.answer("session/list", `{"sessions":[`+entry("a")+`,`+entry("b")+`],"nextCursor":"n"}`)
	if s := receive(t, got); s != "a" {
		t.Error(s)
	}

	got = list("", 0) // an agent that goes round in circles
	w.answer("session/list", `{"sessions":[],"nextCursor":"n"}`)
	w.answer("session/list", `{"sessions":[`+entry("z")+`],"nextCursor":"n"}`)
	if s := receive(t, got); !strings.HasPrefix(s, "z session/list: the agent gives the same page") {
		t.Error(s)
	}
}

// Close ends a session at both ends, also when it has a running prompt, whose
// last updates count.
func TestCloseSession(t *testing.T) {
	w := dial(t, host.Config{})
	w.initialize(`{"sessionCapabilities":{"close":{}}}`)
	s := w.open("s")
	turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	prompt := w.expect("session/prompt")
	closed := async(func() error { return s.Close(t.Context()) })
	w.expect("session/cancel")
	req := w.expect("session/close")
	w.send(result1(req, `{}`))
	if err := receive(t, closed); err != nil {
		t.Error(err)
	}
	w.send(text("s", "last"), result1(prompt, `{"stopReason":"cancelled"}`))
	if o := receive(t, turn); o.err != nil || o.turn.StopReason != acp.StopReasonCancelled || o.turn.Text() != "last" {
		t.Errorf("%v, %+v", o.err, o.turn)
	}
	eventually(t, "closed", func() bool { return w.h.Open() == 0 })
	if _, err := s.Prompt(t.Context(), "more"); err == nil || !strings.Contains(err.Error(), `"s" is closed`) {
		t.Errorf("a prompt after that: %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("closing again: %v", err)
	}

	refused := w.open("s") // the id is free again
	closed = async(func() error { return refused.Close(t.Context()) })
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`, w.expect("session/close").ID))
	if err := receive(t, closed); err == nil || w.h.Open() != 0 {
		t.Errorf("refused: %v, %d open", err, w.h.Open())
	}
}

// An agent that does not know session/close is not asked.
func TestCloseSessionHere(t *testing.T) {
	w := dial(t, host.Config{})
	w.initialize(`{}`)
	s := w.open("s")
	if err := s.Close(t.Context()); err != nil || w.h.Open() != 0 {
		t.Errorf("%v, %d open", err, w.h.Open())
	}
	w.open("next") // its session/new is the next line
}

func TestDeleteSession(t *testing.T) {
	w := dial(t, host.Config{})
	s := w.open("s")
	deleted := async(func() error { return w.h.DeleteSession(t.Context(), "s") })
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`, w.expect("session/delete").ID))
	if err := receive(t, deleted); err == nil || w.h.Open() != 1 {
		t.Errorf("refused: %v, %d open", err, w.h.Open())
	}
	deleted = async(func() error { return w.h.DeleteSession(t.Context(), "s") })
	w.answer("session/delete", `{}`)
	if err := receive(t, deleted); err != nil || w.h.Open() != 0 {
		t.Errorf("%v, %d open", err, w.h.Open())
	}
	if _, err := s.Prompt(t.Context(), "more"); err == nil {
		t.Error("a deleted session takes prompts")
	}
}
