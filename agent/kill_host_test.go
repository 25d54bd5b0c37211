package agent_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// message is any line that an agent sends.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// crashHost drives agents in processes of their own, one after the other on the
// same home, and remembers what they have acknowledged and shown.
type crashHost struct {
	t          *testing.T
	rnd        *rand.Rand
	script     *crashScript
	program    string
	home, work string

	child    *exec.Cmd
	in       io.WriteCloser
	lines    chan message
	ids      int
	pending  map[string]func(message) // by the id of a request
	sessions []*crashSession
}

// launch starts an agent.
func (h *crashHost) launch() {
	h.child = exec.Command(h.program, "acp", "--model", "scripted/a")
	h.child.Env = []string{"REASONIX_HOME=" + h.home}
	h.child.Stderr = h.t.Output()
	in, err := h.child.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := h.child.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.child.Start(); err != nil {
		h.t.Fatal(err)
	}
	lines := make(chan message, 4096)
	h.in, h.lines, h.pending = in, lines, map[string]func(message){}
	go func() {
		defer close(lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return // and what a kill has cut off counts for nothing
			}
			var m message
			if json.Unmarshal(line, &m) != nil {
				h.t.Errorf("not JSON: %q", line)
			}
			lines <- m
		}
	}()
	h.request(acp.MethodInitialize, `{"protocolVersion":1}`, func(message) {})
}

// request sends a request; then is called with its answer.
func (h *crashHost) request(method, params string, then func(message)) {
	h.ids++
	h.pending[fmt.Sprint(h.ids)] = then
	h.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, h.ids, method, params))
}

// write does not mind an agent that was killed.
func (h *crashHost) write(line string) { _, _ = io.WriteString(h.in, line+"\n") }

// read takes one message in; false when the agent has ended.
func (h *crashHost) read() bool {
	select {
	case m, ok := <-h.lines:
		if ok {
			h.take(m)
		}
		return ok
	case <-time.After(30 * time.Second):
		_ = h.child.Process.Kill()
		h.t.Fatalf("the agent says nothing any more; %d requests are open", len(h.pending))
		return false
	}
}

// settle reads until every request is answered.
func (h *crashHost) settle() {
	for len(h.pending) > 0 {
		if !h.read() {
			h.t.Fatalf("the agent has ended with %d requests open", len(h.pending))
		}
	}
}

// kill ends the agent wherever it is, and takes in what it had written.
func (h *crashHost) kill() {
	if err := h.child.Process.Kill(); err != nil {
		h.t.Fatal(err)
	}
	for h.read() {
	}
	_ = h.child.Wait()
	h.in.Close()
}

// end closes the agent's input and waits for it.
func (h *crashHost) end() {
	h.in.Close()
	for h.read() {
	}
	if err := h.child.Wait(); err != nil {
		h.t.Errorf("the agent ends with %v", err)
	}
}

func (h *crashHost) take(m message) {
	switch {
	case m.Method == acp.MethodSessionUpdate:
		var p struct {
			SessionID string
			Update    map[string]any
		}
		if err := json.Unmarshal(m.Params, &p); err != nil {
			h.t.Fatal(err)
		}
		h.session(p.SessionID).update(p.Update)
	case m.Method == acp.MethodSessionRequestPermission:
		answer := pick(h.rnd, `{"outcome":"selected","optionId":"allow_once"}`, `{"outcome":"selected","optionId":"reject_once"}`, `{"outcome":"cancelled"}`)
		h.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":%s}}`, m.ID, answer))
	case m.Method == reasonix.MethodReasonixSessionStatusUpdate, m.Method == "$/cancel_request":
	case m.Method != "":
		h.t.Errorf("unexpected %s", m.Method)
	default:
		then := h.pending[string(m.ID)]
		if then == nil {
			h.t.Fatalf("an answer to nothing: %s", m.ID)
		}
		delete(h.pending, string(m.ID))
		then(m)
	}
}

func (h *crashHost) session(id string) *crashSession {
	for _, s := range h.sessions {
		if s.id == id {
			return s
		}
	}
	h.t.Fatalf("an update of a session that nobody was told of: %q", id)
	return nil
}

// act sends something that a host may send now.
func (h *crashHost) act() {
	var idle, running []*crashSession
	for _, s := range h.sessions {
		switch {
		case s.deleting || s.waiting > 0 && s.turn() == nil:
		case s.turn() != nil:
			running = append(running, s)
		default:
			idle = append(idle, s)
		}
	}
	if len(running) > 0 && (len(running) > 1 || h.rnd.IntN(3) > 0) {
		s := pick(h.rnd, running...)
		switch n := h.rnd.IntN(100); {
		case n < 2:
			h.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, s.id))
		case n < 12 && s.waiting == 1:
			s.set()
		}
		return
	}
	if len(idle) == 0 || len(h.sessions) < 4 && h.rnd.IntN(10) == 0 {
		if len(h.pending) < 4 {
			h.newSession()
		}
		return
	}
	s := pick(h.rnd, idle...)
	switch n := h.rnd.IntN(100); {
	case !s.open:
		s.load()
	case n < 50:
		s.prompt(s.mark + " go on")
	case n < 70:
		s.prompt(pick(h.rnd, "/status "+s.mark, "/tree", "/history 5", "/events", "/help", "/save", "/checkpoint", "/model"))
	case n < 75:
		s.switchModel()
	case n < 90:
		s.set()
	case n < 97:
		s.close()
	default:
		s.delete()
	}
}

func (h *crashHost) newSession() {
	h.request(acp.MethodSessionNew, fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, h.work), func(m message) {
		var r struct{ SessionID string }
		if m.Error != nil || json.Unmarshal(m.Result, &r) != nil {
			h.t.Fatalf("session/new: %s%s", m.Error, m.Result)
		}
		s := &crashSession{h: h, id: r.SessionID, open: true, mark: fmt.Sprintf("marked-%d-%d", len(h.sessions), h.rnd.Uint64()), axes: map[string]*axis{}}
		s.checkAxes(m.Result)
		h.sessions = append(h.sessions, s)
	})
}

// axis is the value of one thing that can be set.
type axis struct {
	acked string
	maybe []string // asked for and not acknowledged
}

// crashSession is what the host knows of a session.
type crashSession struct {
	h        *crashHost
	id       string
	mark     string // stands in its prompts and nowhere else
	open     bool
	deleting bool // asked for
	deleted  bool // acknowledged
	waiting  int  // its requests that are not answered
	axes     map[string]*axis
	turns    []*crashTurn
	titled   bool // its title was shown
	loading  bool
	replay   []token
}

// crashTurn is a prompt and what was shown of it.
type crashTurn struct {
	text   string
	shown  []token
	call   map[string]any // one that was announced and has not ended
	begun  bool
	over   bool // acknowledged, or replayed once: it does not change any more
	answer string
}

// token is one update in the form that a replay gives it.
type token struct{ Kind, Text string }

func (s *crashSession) ask(method, params string, then func(message)) {
	s.waiting++
	s.h.request(method, fmt.Sprintf(`{"sessionId":%q%s}`, s.id, params), func(m message) {
		s.waiting--
		then(m)
	})
}

// turn is the running one.
func (s *crashSession) turn() *crashTurn {
	if n := len(s.turns); n > 0 && !s.turns[n-1].over {
		return s.turns[n-1]
	}
	return nil
}

func (s *crashSession) prompt(text string) *crashTurn {
	t := &crashTurn{text: text}
	s.turns = append(s.turns, t)
	s.ask(acp.MethodSessionPrompt, fmt.Sprintf(`,"prompt":[{"type":"text","text":%q}]`, text), func(m message) {
		t.over, t.begun, t.answer = true, true, string(m.Error)
		if m.Error == nil {
			var r struct{ StopReason string }
			_ = json.Unmarshal(m.Result, &r)
			t.answer = r.StopReason
		} else if !strings.Contains(t.answer, `"code":-32603`) {
			s.h.t.Errorf("a prompt answers %s", m.Error)
		}
		if t.call != nil {
			s.h.t.Errorf("a turn has ended (%s) and its call %v has not", t.answer, t.call)
		}
	})
	return t
}

// switchModel is the slash command, which answers when the change holds.
func (s *crashSession) switchModel() {
	a, value := s.axes["model"], pick(s.h.rnd, "scripted/a", "scripted/b")
	a.maybe = append(a.maybe, value)
	t := s.prompt("/model " + value)
	id := fmt.Sprint(s.h.ids)
	answered := s.h.pending[id]
	s.h.pending[id] = func(m message) {
		if answered(m); t.answer == "end_turn" {
			*a = axis{acked: value}
		}
	}
}

// set changes the mode or an option, at rest or while a turn runs.
func (s *crashSession) set() {
	name := pick(s.h.rnd, "mode", "model", "effort", "tool_approval")
	var value, method, params string
	switch name {
	case "mode":
		value = pick(s.h.rnd, "normal", "normal", "plan", "goal")
		method, params = acp.MethodSessionSetMode, fmt.Sprintf(`,"modeId":%q`, value)
	default:
		value = map[string]string{
			"model": pick(s.h.rnd, "scripted/a", "scripted/b"), "effort": pick(s.h.rnd, "auto", "low", "high"),
			"tool_approval": pick(s.h.rnd, "read-only", "workspace-write", "danger-full-access"),
		}[name]
		method, params = acp.MethodSessionSetConfigOption, fmt.Sprintf(`,"configId":%q,"value":%q`, name, value)
	}
	if t := s.turn(); t != nil && strings.HasPrefix(t.text, "/model ") && name == "model" {
		return // which of the two comes last is nobody's business
	}
	a := s.axes[name]
	a.maybe = append(a.maybe, value)
	s.ask(method, params, func(m message) {
		switch {
		case m.Error == nil:
			*a = axis{acked: value}
		case strings.Contains(string(m.Error), "a question to the user is open"):
			a.maybe = slices.DeleteFunc(a.maybe, func(v string) bool { return v == value })
		default:
			s.h.t.Errorf("%s: %s", method, m.Error)
		}
	})
}

func (s *crashSession) close() {
	s.ask(acp.MethodSessionClose, "", func(m message) {
		if m.Error != nil {
			s.h.t.Errorf("session/close: %s", m.Error)
		}
		s.open = false
	})
}

func (s *crashSession) delete() {
	s.deleting = true
	s.ask(acp.MethodSessionDelete, "", func(m message) {
		if m.Error != nil {
			s.h.t.Errorf("session/delete: %s", m.Error)
		}
		s.deleted, s.open = true, false
	})
}

func (s *crashSession) load() {
	s.loading, s.replay = true, nil
	s.ask(acp.MethodSessionLoad, fmt.Sprintf(`,"cwd":%q,"mcpServers":[]`, s.h.work), func(m message) {
		s.loading = false
		if m.Error != nil {
			s.h.t.Errorf("session/load: %s", m.Error)
			return
		}
		s.open = true
		s.checkAxes(m.Result)
		s.checkReplay()
	})
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }
