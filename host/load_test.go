package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

// raw is an agent of plain lines: answer gets each request and writes what it
// likes.
func raw(t *testing.T, c host.Config, answer func(id, method string, params json.RawMessage, say func(string, ...any))) *host.Host {
	t.Helper()
	agentIn, hostOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	hostIn, agentOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer agentOut.Close()
		defer agentIn.Close()
		d := json.NewDecoder(agentIn)
		for {
			var m struct {
				ID     json.RawMessage
				Method string
				Params json.RawMessage
			}
			if d.Decode(&m) != nil {
				return
			}
			answer(string(m.ID), m.Method, m.Params, func(format string, a ...any) { fmt.Fprintf(agentOut, format+"\n", a...) })
		}
	}()
	h := host.Connect(hostIn, hostOut, c)
	t.Cleanup(func() {
		_ = h.Close()
		<-ended
		hostIn.Close()
	})
	return h
}

const chunk = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`

// ordinary answers what a test does not care about; ok is false for the rest.
func ordinary(id, method string, say func(string, ...any)) (ok bool) {
	switch method {
	case acp.MethodInitialize:
		say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1}}`, id)
	case acp.MethodSessionNew:
		say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}`, id)
	default:
		return false
	}
	return true
}

// 100,000 updates of two sessions in one burst, of mixed sizes and to a slow
// handler: all arrive, in order, each in its own session, and without a record
// the memory stays flat. BL-028: any burst; BL-017: with a list of 5,000
// commands in it.
func TestBurst(t *testing.T) {
	const n = 100_000
	var mu sync.Mutex
	next := map[acp.SessionID]int{}
	var peak atomic.Uint64
	handler := func(_ context.Context, u *acp.SessionNotification) error {
		c, ok := u.Update.(*acp.SessionUpdateAgentMessageChunk)
		if !ok {
			return nil
		}
		var i int
		fmt.Sscanf(c.Content.(*acp.TextContent).Text, "%d", &i)
		mu.Lock()
		defer mu.Unlock()
		if i != next[u.SessionID] {
			t.Errorf("%s: %d instead of %d", u.SessionID, i, next[u.SessionID])
		}
		next[u.SessionID] = i + 1
		if i%5000 == 0 {
			time.Sleep(5 * time.Millisecond)
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapAlloc))
		}
		return nil
	}
	opened := 0
	h := raw(t, host.Config{NoRecord: true, Handlers: acp.ClientHandlers{SessionUpdate: handler}}, func(id, method string, params json.RawMessage, say func(string, ...any)) {
		switch method {
		case acp.MethodSessionNew:
			opened++
			say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s%d"}}`, id, opened)
		case acp.MethodSessionPrompt:
			commands := make([]string, 5000)
			for i := range commands {
				commands[i] = fmt.Sprintf(`{"name":"c%d","description":"%s"}`, i, strings.Repeat("d", 100))
			}
			say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"available_commands_update","availableCommands":[%s]}}}`, strings.Join(commands, ","))
			for i := range n / 2 {
				say(chunk, "s1", fmt.Sprint(i, " ", strings.Repeat("x", i%97)))
				say(chunk, "s2", fmt.Sprint(i, " ", strings.Repeat("y", i%13*100)))
			}
			say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, id)
		default:
			ordinary(id, method, say)
		}
	})
	s := session(t, h)
	if _, err := h.NewSession(t.Context(), "/"); err != nil {
		t.Fatal(err)
	}
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	turn, err := s.Prompt(t.Context(), "go")
	if err != nil || len(turn.Updates) != 0 {
		t.Errorf("%v, %d updates recorded", err, len(turn.Updates))
	}
	if next["s1"] != n/2 || next["s2"] != n/2 {
		t.Errorf("arrived: %v", next)
	}
	if grown := int64(peak.Load()) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	if got := len(s.State().Commands); got != 5000 {
		t.Errorf("%d commands", got)
	}
}

// Updates before and right behind the answer that opens a session, and before
// the first prompt, are not lost. BL-024, BL-025.
func TestEarlyUpdates(t *testing.T) {
	seen := make(chan string, 10)
	h := raw(t, host.Config{Handlers: acp.ClientHandlers{SessionUpdate: func(_ context.Context, n *acp.SessionNotification) error {
		if c, ok := n.Update.(*acp.SessionUpdateAgentMessageChunk); ok {
			seen <- c.Content.(*acp.TextContent).Text
		}
		return nil
	}}}, func(id, method string, _ json.RawMessage, say func(string, ...any)) {
		if method != acp.MethodSessionNew {
			ordinary(id, method, say)
			return
		}
		say(chunk, "s", "early")
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"old","description":"x"}]}}}`)
		say(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s","modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}}}`, id)
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"new","description":"x"}]}}}`)
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"current_mode_update","currentModeId":"b"}}}`)
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"session_info_update","title":"T"}}}`)
		say(chunk, "s", "late")
	})
	s := session(t, h)
	for _, want := range []string{"early", "late"} {
		if got := <-seen; got != want {
			t.Errorf("%q instead of %q", got, want)
		}
	}
	state := s.State()
	for range 100 { // the last update is handled and then recorded
		if state = s.State(); state.Title != "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if len(state.Commands) != 1 || state.Commands[0].Name != "new" || state.Modes.CurrentModeID != "b" || len(state.Modes.AvailableModes) != 2 || state.Title != "T" {
		t.Errorf("state %+v", state)
	}
}

// Updates for sessions that were never opened leave nothing behind, and a load
// that is refused leaves none known. BL-027.
func TestUnknownSessions(t *testing.T) {
	var log strings.Builder
	h := raw(t, host.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}, func(id, method string, _ json.RawMessage, say func(string, ...any)) {
		switch method {
		case acp.MethodSessionLoad:
			say(chunk, "gone", "replayed")
			say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown session"}}`, id)
		case acp.MethodSessionPrompt:
			for i := range 10_000 {
				say(chunk, fmt.Sprint("made-up-", i), strings.Repeat("x", 1000))
			}
			say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, id)
		default:
			ordinary(id, method, say)
		}
	})
	s := session(t, h)
	if _, _, err := h.LoadSession(t.Context(), "gone", "/"); err == nil || !strings.Contains(err.Error(), "unknown session") {
		t.Errorf("load: %v", err)
	}
	if turn, err := s.Prompt(t.Context(), "x"); err != nil || len(turn.Updates) != 0 {
		t.Errorf("%v, %d updates", err, len(turn.Updates))
	}
	if n := host.Known(h); n != 1 {
		t.Errorf("%d sessions are known", n)
	}
	_ = h.Close()
	if !strings.Contains(log.String(), "made-up-7") {
		t.Error("nothing in the log")
	}
}

// What is replayed belongs to no turn, whatever the load's result is, also when
// the agent goes on replaying behind its answer. BL-026.
func TestReplayIsNoTurn(t *testing.T) {
	for name, result := range map[string]string{"object": `{}`, "null": `null`, "options": `{"configOptions":[]}`} {
		t.Run(name, func(t *testing.T) {
			h := raw(t, host.Config{}, func(id, method string, _ json.RawMessage, say func(string, ...any)) {
				switch method {
				case acp.MethodSessionLoad:
					for i := range 10 {
						say(chunk, "s", fmt.Sprint("old ", i, ";"))
					}
					say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
					say(chunk, "s", "too late;")
				case acp.MethodSessionPrompt:
					say(chunk, "s", "new")
					say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, id)
				default:
					ordinary(id, method, say)
				}
			})
			if _, err := h.Initialize(t.Context()); err != nil {
				t.Fatal(err)
			}
			s, replay, err := h.LoadSession(t.Context(), "s", "/")
			if err != nil {
				t.Fatal(err)
			}
			if text := replay.Text(); !strings.HasPrefix(text, "old 0;") || !strings.Contains(text, "old 9;") {
				t.Errorf("replay %q", text)
			}
			time.Sleep(50 * time.Millisecond) // for what comes too late
			turn, err := s.Prompt(t.Context(), "x")
			if err != nil || turn.Text() != "new" {
				t.Errorf("turn %q, %v", turn.Text(), err)
			}
		})
	}
}

// A session that is resumed or closed: nothing is replayed, and a closed one is
// not known any more; its open question is answered `cancelled`.
func TestResumeAndClose(t *testing.T) {
	h := raw(t, host.Config{}, func(id, method string, _ json.RawMessage, say func(string, ...any)) {
		if !ordinary(id, method, say) {
			say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		}
	})
	if _, err := h.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := h.ResumeSession(t.Context(), "s", "/")
	if err != nil || s.ID != "s" || host.Known(h) != 1 {
		t.Errorf("resume: %v", err)
	}
	if err := s.Close(t.Context()); err != nil || host.Known(h) != 0 {
		t.Errorf("close: %v, %d known", err, host.Known(h))
	}
}

// Two sessions are opened at once and answered in the other order: each gets its
// own id and its own updates. BL-051.
func TestOpenedAtOnce(t *testing.T) {
	var first string
	h := raw(t, host.Config{}, func(id, method string, params json.RawMessage, say func(string, ...any)) {
		switch method {
		case acp.MethodSessionNew:
			var p struct{ CWD string }
			_ = json.Unmarshal(params, &p)
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":%q}}`, id, "s"+p.CWD)
			if first == "" {
				first = answer
				return
			}
			say("%s", answer)
			say("%s", first)
		case acp.MethodSessionPrompt:
			var p struct{ SessionID string }
			_ = json.Unmarshal(params, &p)
			say(chunk, p.SessionID, p.SessionID)
			say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, id)
		default:
			ordinary(id, method, say)
		}
	})
	var wg sync.WaitGroup
	for _, dir := range []string{"/a", "/b"} {
		wg.Go(func() {
			s, err := h.NewSession(t.Context(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			if turn, err := s.Prompt(t.Context(), "x"); err != nil || turn.Text() != "s"+dir {
				t.Errorf("%s: %q, %v", dir, turn.Text(), err)
			}
		})
	}
	wg.Wait()
}

// An agent that never answers: initialize has a limit, and says so. BL-125.
func TestSilentAgent(t *testing.T) {
	h := raw(t, host.Config{StartTimeout: 50 * time.Millisecond}, func(string, string, json.RawMessage, func(string, ...any)) {})
	if _, err := h.Initialize(t.Context()); err == nil || !strings.Contains(err.Error(), "does not answer `initialize`") {
		t.Errorf("got %v", err)
	}
}

// An agent that never answers a cancelled prompt is given up after a while; the
// late answer goes nowhere, and both sessions stay usable. BL-045.
func TestAgentThatDoesNotCancel(t *testing.T) {
	prompts := 0
	h := raw(t, host.Config{CancelGrace: 50 * time.Millisecond}, func(id, method string, _ json.RawMessage, say func(string, ...any)) {
		if method != acp.MethodSessionPrompt {
			ordinary(id, method, say)
			return
		}
		if prompts++; prompts > 1 {
			say(`{"jsonrpc":"2.0","id":1000,"result":{"stopReason":"end_turn"}}`)
			say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"refusal"}}`, id)
		}
	})
	s := session(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := s.Prompt(ctx, "x"); err == nil || !strings.Contains(err.Error(), "cancelled prompt") {
		t.Errorf("got %v", err)
	}
	if turn, err := s.Prompt(t.Context(), "y"); err != nil || turn.StopReason != acp.StopReasonRefusal {
		t.Errorf("the next prompt: %+v, %v", turn, err)
	}
}

// A bad update is logged and skipped, and an unknown one kept; the turn goes on.
// BL-110, BL-111, BL-112.
func TestBadUpdates(t *testing.T) {
	h := raw(t, host.Config{}, func(id, method string, _ json.RawMessage, say func(string, ...any)) {
		if method != acp.MethodSessionPrompt {
			ordinary(id, method, say)
			return
		}
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":null,"size":10}}}`)
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk"}}}`)
		say(`{"jsonrpc":"2.0","method":"session/update","params":[]}`)
		say(`{"jsonrpc":"2.0","method":"_future/thing","params":{}}`)
		say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"from_the_future","x":1}}}`)
		say(chunk, "s", "fine")
		say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"from_the_future"}}`, id)
	})
	s := session(t, h)
	turn, err := s.Prompt(t.Context(), "x")
	if err == nil || !strings.Contains(err.Error(), "from_the_future") || turn.Text() != "fine" || len(turn.Updates) != 2 {
		t.Fatalf("got %+v, %v", turn, err)
	}
	if _, err := s.Prompt(t.Context(), "again"); err == nil || strings.Contains(err.Error(), "running prompt") {
		t.Errorf("the session is stuck: %v", err)
	}
	if u, ok := turn.Updates[0].(*acp.Unknown); !ok || u.Tag != "from_the_future" || !strings.Contains(string(u.Raw), `"x":1`) {
		t.Errorf("kept: %+v", turn.Updates[0])
	}
}

// A rejected question is no cancel: the option goes back, and the turn goes on.
// BL-040.
func TestRejectionIsNoCancel(t *testing.T) {
	cancelled := false
	var prompt string
	h := raw(t, host.Config{}, func(id, method string, _ json.RawMessage, say func(string, ...any)) {
		switch method {
		case acp.MethodSessionPrompt:
			prompt = id
			say(`{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"no","name":"No","kind":"reject_once"}]}}`)
		case acp.MethodSessionCancel:
			cancelled = true
		case "":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, prompt)
		default:
			ordinary(id, method, say)
		}
	})
	turn, err := session(t, h).Prompt(t.Context(), "x")
	if err != nil || turn.StopReason != acp.StopReasonEndTurn {
		t.Errorf("%+v, %v", turn, err)
	}
	if _ = h.Close(); cancelled {
		t.Error("the host sent a cancel")
	}
}

// Close from several sides, while a prompt runs and while the agent floods: it
// returns, the prompt fails, and later calls fail at once.
func TestCloseUnderLoad(t *testing.T) {
	stop := make(chan struct{})
	h := raw(t, host.Config{NoRecord: true}, func(id, method string, _ json.RawMessage, say func(string, ...any)) {
		if method != acp.MethodSessionPrompt {
			ordinary(id, method, say)
			return
		}
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
					say(chunk, "s", "flood")
				}
			}
		}()
	})
	s := session(t, h)
	failed := make(chan error, 1)
	go func() { _, err := s.Prompt(t.Context(), "x"); failed <- err }()
	time.Sleep(20 * time.Millisecond)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { _ = h.Close() })
	}
	wg.Wait()
	close(stop)
	if err := <-failed; err == nil {
		t.Error("the prompt ended well")
	}
	if _, err := h.NewSession(t.Context(), "/"); err == nil {
		t.Error("a call after Close went well")
	}
}
