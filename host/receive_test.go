package host_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

// counter is a SessionUpdate handler that checks the order: the text of each
// update begins with its number.
type counter struct {
	t    *testing.T
	next map[acp.SessionID]*atomic.Int64
	slow int // every so many updates sleep; 0: none
}

func newCounter(t *testing.T, sessions ...acp.SessionID) *counter {
	c := &counter{t: t, next: map[acp.SessionID]*atomic.Int64{}}
	for _, id := range sessions {
		c.next[id] = new(atomic.Int64)
	}
	return c
}

func (c *counter) update(_ context.Context, n *acp.SessionNotification) error {
	var got int64
	fmt.Sscan(texts([]acp.SessionUpdate{n.Update}), &got)
	want := c.next[n.SessionID].Add(1) - 1
	if got != want {
		c.t.Errorf("session %s: got %d, want %d", n.SessionID, got, want)
	}
	if c.slow > 0 && want%int64(c.slow) == 0 {
		time.Sleep(time.Millisecond)
	}
	return nil
}

// burst writes n numbered pieces of a session in as few writes as the pipe
// takes. Every size-th carries some kilobytes more.
func burst(w *wire, session string, n, size int) (joined string) {
	var lines, all strings.Builder
	for i := range n {
		s := fmt.Sprintf("%d ", i)
		if size > 0 && i%size == 0 {
			s += strings.Repeat("x", rand.IntN(9000))
		}
		all.WriteString(s)
		lines.WriteString(text(session, s) + "\n")
	}
	w.send(strings.TrimSuffix(lines.String(), "\n"))
	return all.String()
}

// Any number of updates in one burst, ahead of the answer to session/new, behind
// it and in a turn: none is lost, the order is kept, and the pieces of a text
// are one update in the end.
//
// BL-024: what comes before the id is known. BL-028: one update per token.
func TestBurst(t *testing.T) {
	for _, c := range []struct{ ahead, behind, within int }{{20_000, 20_000, 20_000}, {200_000, 0, 0}, {0, 0, 200_000}} {
		if underRace && c.within == 200_000 {
			continue // too slow to be worth it; without the race detector it is tried
		}
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			seen := newCounter(t, "s")
			w := dial(t, host.Config{Handlers: acp.ClientHandlers{SessionUpdate: seen.update}})
			opened := async(func() *host.Session {
				s, err := w.h.NewSession(t.Context(), "/")
				if err != nil {
					t.Error(err)
				}
				return s
			})
			req := w.expect("session/new")
			before := burst(w, "s", c.ahead, 100)
			w.send(result1(req, `{"sessionId":"s"}`))
			s := receive(t, opened)
			if got := s.Unprompted(); texts(got) != before || len(got) > 1 {
				t.Errorf("ahead of the answer: %d updates, %d of %d bytes", len(got), len(texts(got)), len(before))
			}
			if n := seen.next["s"].Swap(0); int(n) != c.ahead {
				t.Errorf("ahead of the answer: the handler saw %d", n)
			}

			after := burst(w, "s", c.behind, 0)
			eventually(t, "seen", func() bool { return int(seen.next["s"].Load()) == c.behind })
			turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
			req = w.expect("session/prompt")
			if got := s.Unprompted(); texts(got) != after || len(got) > 1 {
				t.Errorf("behind the answer: %d updates, %d of %d bytes", len(got), len(texts(got)), len(after))
			}
			seen.next["s"].Store(0)
			during := burst(w, "s", c.within, 100)
			w.send(result1(req, `{"stopReason":"end_turn"}`))
			o := receive(t, turn)
			if o.err != nil || o.turn.Text() != during || len(o.turn.Updates) > 1 || o.turn.Omitted != 0 || int(seen.next["s"].Load()) != c.within {
				t.Errorf("in the turn: %v, %d bytes of %d", o.err, len(o.turn.Text()), len(during))
			}
			if rest := s.Unprompted(); len(rest) != 0 {
				t.Errorf("%d updates too many", len(rest))
			}
		})
	}
}

// Sessions that stream at the same time, with a handler that is slow now and
// then: each turn has its own updates, all of them, in order.
func TestInterleavedSessions(t *testing.T) {
	const sessions, n = 8, 2500
	ids := make([]acp.SessionID, sessions)
	for i := range ids {
		ids[i] = acp.SessionID(fmt.Sprint("s", i))
	}
	seen := newCounter(t, ids...)
	seen.slow = 50
	w := dial(t, host.Config{Handlers: acp.ClientHandlers{SessionUpdate: seen.update}})
	turns := map[acp.SessionID]<-chan outcome{}
	var answers []string
	for _, id := range ids {
		s := w.open(string(id))
		turns[id] = async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
		answers = append(answers, result1(w.expect("session/prompt"), `{"stopReason":"end_turn"}`))
	}
	want := map[acp.SessionID]*strings.Builder{}
	var lines []string
	for i := range n {
		for k, id := range ids {
			s := fmt.Sprintf("%d %s ", i, strings.Repeat(string(id), i*k%40))
			if want[id] == nil {
				want[id] = &strings.Builder{}
			}
			want[id].WriteString(s)
			lines = append(lines, text(string(id), s))
		}
	}
	w.send(append(lines, answers...)...)
	for _, id := range ids {
		if o := receive(t, turns[id]); o.err != nil || o.turn.Text() != want[id].String() {
			t.Errorf("%s: %v, %d of %d bytes", id, o.err, len(o.turn.Text()), want[id].Len())
		}
	}
}

// A handler that does not keep up stops the agent: little is read ahead, and
// nothing is lost for it.
func TestSlowHandlerStopsTheAgent(t *testing.T) {
	const n = 20_000
	hold := make(chan struct{})
	seen := 0
	w := dial(t, host.Config{Handlers: acp.ClientHandlers{SessionUpdate: func(context.Context, *acp.SessionNotification) error {
		<-hold
		seen++
		return nil
	}}})
	s := w.open("s")
	turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	req := w.expect("session/prompt")
	var written atomic.Int64
	sent := async(func() bool {
		for i := range n {
			w.send(text("s", fmt.Sprint(i, " ")))
			written.Add(1)
		}
		w.send(result1(req, `{"stopReason":"end_turn"}`))
		return true
	})
	last := int64(-1)
	eventually(t, "stopped", func() bool {
		time.Sleep(50 * time.Millisecond)
		before := last
		last = written.Load()
		return last > 0 && last == before
	})
	if last > 5000 { // the queue, the pipe and the reader's buffer
		t.Errorf("%d updates are read ahead", last)
	}
	close(hold)
	receive(t, sent)
	if o := receive(t, turn); o.err != nil || seen != n || strings.Count(o.turn.Text(), " ") != n {
		t.Errorf("%v, %d seen, %d recorded", o.err, seen, strings.Count(o.turn.Text(), " "))
	}
}

// A turn keeps what MaxRecord allows and counts the rest; the handler gets all.
func TestMaxRecord(t *testing.T) {
	const n = 1000
	for _, c := range []struct{ max, atLeast, atMost int }{{100_000, 100, 500}, {-1, 0, 0}, {0, n, n}} {
		t.Run(fmt.Sprint(c.max), func(t *testing.T) {
			seen := 0
			w := dial(t, host.Config{MaxRecord: c.max, Handlers: acp.ClientHandlers{SessionUpdate: func(context.Context, *acp.SessionNotification) error { seen++; return nil }}})
			s := w.open("s")
			turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
			req := w.expect("session/prompt")
			var lines []string
			for i := range n { // nothing to join
				lines = append(lines, piece([]string{"agent_message_chunk", "agent_thought_chunk"}[i%2], "s", fmt.Sprint(i, " ")))
			}
			w.send(append(lines, result1(req, `{"stopReason":"end_turn"}`))...)
			o := receive(t, turn)
			if o.err != nil || seen != n {
				t.Fatalf("%v, %d seen", o.err, seen)
			}
			got := len(o.turn.Updates)
			if got < c.atLeast || got > c.atMost || got+o.turn.Omitted != n {
				t.Errorf("%d kept, %d omitted", got, o.turn.Omitted)
			}
			if s := texts(o.turn.Updates); got > 0 && !strings.HasSuffix(s, fmt.Sprint(" ", got-1, " ")) { // no holes
				t.Errorf("%d kept, the last of which is %.20s", got, s[max(0, len(s)-20):])
			}
		})
	}
}

// One long text is joined within MaxRecord too.
func TestMaxRecordOfOneText(t *testing.T) {
	w := dial(t, host.Config{MaxRecord: 10_000})
	s := w.open("s")
	turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	req := w.expect("session/prompt")
	burst(w, "s", 5000, 0)
	w.send(result1(req, `{"stopReason":"end_turn"}`))
	if o := receive(t, turn); o.err != nil || o.turn.Omitted == 0 || len(o.turn.Text()) > 10_000 || len(o.turn.Text()) < 9_000 || len(o.turn.Updates) != 1 {
		t.Errorf("%v, %d bytes, %d omitted", o.err, len(o.turn.Text()), o.turn.Omitted)
	}
}

// Pieces are joined only where that loses nothing.
func TestJoining(t *testing.T) {
	var first *acp.SessionUpdateAgentMessageChunk
	w := dial(t, host.Config{Handlers: acp.ClientHandlers{SessionUpdate: func(_ context.Context, n *acp.SessionNotification) error {
		if c, ok := n.Update.(*acp.SessionUpdateAgentMessageChunk); ok && first == nil {
			first = c
		}
		return nil
	}}})
	s := w.open("s")
	turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	req := w.expect("session/prompt")
	chunk := func(more, content string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk"` + more + `,"content":{"type":"text","text":` + content + `}}}}`
	}
	w.send(
		text("s", "a"), text("s", "b"), text("s", "c"), // one
		piece("agent_thought_chunk", "s", "d"), piece("agent_thought_chunk", "s", "e"), // two
		chunk(`,"messageId":"1"`, `"f"`), chunk(`,"messageId":"1"`, `"g"`), // three
		chunk(`,"messageId":"2"`, `"h"`),                                             // four: another message
		chunk(``, `"i"`),                                                             // five
		chunk(``, `"j","_meta":{"k":1}`),                                             // six: it says more
		chunk(`,"_meta":{"k":2}`, `"l"`),                                             // seven
		chunk(``, `"m","annotations":{}`),                                            // eight
		piece("user_message_chunk", "s", "n"), piece("user_message_chunk", "s", "o"), // nine
		result1(req, `{"stopReason":"end_turn"}`))
	o := receive(t, turn)
	if o.err != nil {
		t.Fatal(o.err)
	}
	var got []string
	for _, u := range o.turn.Updates {
		got = append(got, texts([]acp.SessionUpdate{u}))
	}
	if s := strings.Join(got, "|"); s != "abc|de|fg|h|i|j|l|m|no" {
		t.Error(s)
	}
	if s := first.Content.(*acp.TextContent).Text; s != "a" {
		t.Errorf("what the handler was given has become %q", s)
	}
	if id := o.turn.Updates[2].(*acp.SessionUpdateAgentMessageChunk).MessageID; id == nil || *id != "1" {
		t.Error("the message's id is lost")
	}
}

// BL-025: what comes without any prompt is there, and belongs to no turn.
func TestUpdatesBeforeTheFirstPrompt(t *testing.T) {
	var seen atomic.Int64
	w := dial(t, host.Config{Handlers: acp.ClientHandlers{SessionUpdate: func(context.Context, *acp.SessionNotification) error { seen.Add(1); return nil }}})
	s := w.open("s")
	w.send(text("s", "hello"),
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"current_mode_update","currentModeId":"ask"}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"test","description":"runs tests"}]}}}`)
	eventually(t, "seen", func() bool { return seen.Load() == 3 })
	turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	w.answer("session/prompt", `{"stopReason":"end_turn"}`)
	if o := receive(t, turn); o.err != nil || len(o.turn.Updates) != 0 {
		t.Errorf("the turn: %+v, %v", o.turn, o.err)
	}
	got := s.Unprompted()
	if want := "hello<*acp.CurrentModeUpdate><*acp.AvailableCommandsUpdate>"; texts(got) != want {
		t.Errorf("got %s", texts(got))
	}
	if again := s.Unprompted(); len(again) != 0 {
		t.Errorf("%d are there twice", len(again))
	}
}

// BL-051: two calls of session/new are two sessions, whatever the order of the
// answers, and each has its own updates.
func TestTwoNewSessions(t *testing.T) {
	w := dial(t, host.Config{})
	open := func(cwd string) <-chan *host.Session {
		return async(func() *host.Session {
			s, err := w.h.NewSession(t.Context(), cwd)
			if err != nil {
				t.Error(err)
			}
			return s
		})
	}
	first := open("/1")
	one := w.expect("session/new")
	second := open("/2")
	two := w.expect("session/new")
	w.send(text("a", "for a"), text("b", "for b"), result1(two, `{"sessionId":"b"}`), text("a", ", more"), result1(one, `{"sessionId":"a"}`))
	for s, id := range map[*host.Session]acp.SessionID{receive(t, first): "a", receive(t, second): "b"} {
		want := map[acp.SessionID]string{"a": "for a, more", "b": "for b"}[id]
		if got := texts(s.Unprompted()); s.ID != id || got != want {
			t.Errorf("%s has %q", s.ID, got)
		}
	}
	again := async(func() error { _, err := w.h.NewSession(t.Context(), "/3"); return err })
	w.answer("session/new", `{"sessionId":"a"}`)
	if err := receive(t, again); err == nil || !strings.Contains(err.Error(), `"a" is open already`) {
		t.Errorf("an id given twice: %v", err)
	}
}

// BL-027: what comes for ids that nobody opened reaches the handler, but is kept
// only while session/new is under way, and then within MaxRecord. A load that
// was refused leaves nothing.
func TestUnknownSessionsDoNotGrow(t *testing.T) {
	var seen atomic.Int64
	w := dial(t, host.Config{MaxRecord: 50_000, Handlers: acp.ClientHandlers{SessionUpdate: func(context.Context, *acp.SessionNotification) error { seen.Add(1); return nil }}})
	flood := func(n int) {
		t.Helper()
		var lines []string
		for i := range n {
			lines = append(lines, text(fmt.Sprint("id", i), "lost"))
		}
		before := seen.Load()
		w.send(lines...)
		eventually(t, "seen", func() bool { return seen.Load()-before >= int64(n) })
	}

	flood(2000)                                                     // no session/new: counted
	if n := strings.Count(w.log.String(), "is not kept"); n != 11 { // 1, 2, 4 … 1024
		t.Errorf("%d lines in the log", n)
	}
	if ids, size := w.h.Early(); ids != 0 || size != 0 {
		t.Errorf("%d ids, %d bytes are kept", ids, size)
	}

	opened := async(func() *host.Session { s, _ := w.h.NewSession(t.Context(), "/"); return s })
	req := w.expect("session/new")
	w.send(text("s", "first"))
	eventually(t, "seen", func() bool { return seen.Load() == 2001 })
	flood(2000)
	if ids, size := w.h.Early(); ids == 0 || ids > 50_000/256 || size > 50_000 {
		t.Errorf("%d ids, %d bytes are kept", ids, size)
	}
	w.send(result1(req, `{"sessionId":"s"}`))
	if got := texts(receive(t, opened).Unprompted()); got != "first" {
		t.Errorf("what came before the flood: %q", got)
	}
	if ids, size := w.h.Early(); ids != 0 || size != 0 {
		t.Errorf("%d ids, %d bytes are kept", ids, size)
	}

	refused := async(func() error { _, _, err := w.h.LoadSession(t.Context(), "gone", "/"); return err })
	l := w.expect("session/load")
	w.send(text("gone", "replay"), fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"no such session"}}`, l.ID))
	if err := receive(t, refused); err == nil {
		t.Error("no error")
	}
	before := seen.Load()
	w.send(text("gone", "more"))
	eventually(t, "seen", func() bool { return seen.Load() == before+1 })
	if n := w.h.Open(); n != 1 {
		t.Errorf("%d sessions are open", n)
	}
}

// Permission requests for ids that nobody opened leave nothing either.
func TestPermissionOfAnUnknownSession(t *testing.T) {
	w := dial(t, host.Config{Handlers: acp.ClientHandlers{SessionRequestPermission: func(_ context.Context, r *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		return host.Choose(r, acp.PermissionOptionKindAllowOnce), nil
	}}})
	for i := range 100 {
		w.send(question(i, fmt.Sprint("id", i)))
		if l := w.recv(); string(l.Result) != `{"outcome":{"outcome":"selected","optionId":"y"}}` {
			t.Fatal(string(l.Result), string(l.Error))
		}
	}
	if n := w.h.Open(); n != 0 {
		t.Errorf("%d sessions are open", n)
	}
}

// question asks for permission.
func question(id int, session string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":%q,"toolCall":{"toolCallId":"c"},"options":[`+
		`{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}`, id, session)
}

// BL-017: a list of 5,000 commands with long descriptions is an update like any
// other, and one beyond MaxLine costs itself alone.
func TestOversizedCommandList(t *testing.T) {
	commands := make([]string, 5000)
	for i := range commands {
		commands[i] = fmt.Sprintf(`{"name":"c%d","description":%q}`, i, strings.Repeat("long ", 200))
	}
	list := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[` + strings.Join(commands, ",") + `]}}}`
	for _, c := range []struct {
		max  int
		want string
	}{{0, "<*acp.AvailableCommandsUpdate>after"}, {1 << 20, "after"}} {
		w := dial(t, host.Config{MaxLine: c.max})
		s := w.open("s")
		turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
		req := w.expect("session/prompt")
		w.send(list, text("s", "after"), result1(req, `{"stopReason":"end_turn"}`))
		if o := receive(t, turn); o.err != nil || texts(o.turn.Updates) != c.want {
			t.Errorf("MaxLine %d: %v, %s", c.max, o.err, texts(o.turn.Updates))
		}
	}
}

// BL-110: an update that does not decode is logged and skipped; the text around
// it is intact, and the agent gets no answer to it.
func TestBadUpdate(t *testing.T) {
	w := dial(t, host.Config{})
	s := w.open("s")
	turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	req := w.expect("session/prompt")
	bad := func(update string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + update + `}}`
	}
	w.send(text("s", "one "),
		bad(`{"sessionUpdate":"usage_update","used":null,"size":null}`), bad(`5`), bad(`{}`), bad(`null`),
		`{"jsonrpc":"2.0","method":"session/update"}`, `{"jsonrpc":"2.0","method":"session/update","params":[]}`,
		text("s", "two"), result1(req, `{"stopReason":"end_turn"}`))
	if o := receive(t, turn); o.err != nil || o.turn.Text() != "one two" {
		t.Errorf("%v, %q", o.err, o.turn.Text())
	}
	if log := w.log.String(); strings.Count(log, "is skipped") != 6 || !strings.Contains(log, "/update/used") {
		t.Errorf("log: %s", log)
	}
	second := async(func() outcome { turn, err := s.Prompt(t.Context(), "again"); return outcome{turn, err} })
	w.answer("session/prompt", `{"stopReason":"end_turn"}`) // and nothing before it
	if o := receive(t, second); o.err != nil {
		t.Error(o.err)
	}
}

// BL-111: what a newer agent may send is kept as it is. BL-112: notifications and
// requests that nobody knows do not hold up the turn.
func TestUnknownInATurn(t *testing.T) {
	w := dial(t, host.Config{})
	s := w.open("s")
	turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	req := w.expect("session/prompt")
	up := func(update string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + update + `}}`
	}
	w.send(up(`{"sessionUpdate":"of_the_future","x":[1,2]}`),
		up(`{"sessionUpdate":"agent_message_chunk","content":{"type":"smell","nose":1}}`),
		up(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","kind":"dance","status":"dreaming"}`),
		`{"jsonrpc":"2.0","method":"_vendor/note","params":{"sessionId":"s"}}`, `{"jsonrpc":"2.0","method":"nonsense"}`,
		`{"jsonrpc":"2.0","id":"q","method":"_vendor/ask","params":{"sessionId":"s"}}`,
		text("s", "end"), result1(req, `{"stopReason":"end_turn"}`))
	o := receive(t, turn)
	if o.err != nil || texts(o.turn.Updates) != "<*acp.Unknown><*acp.Unknown><*acp.ToolCall>end" {
		t.Fatalf("%v, %+v", o.err, o.turn)
	}
	if u := o.turn.Updates[0].(*acp.Unknown); string(u.Raw) != `{"sessionUpdate":"of_the_future","x":[1,2]}` {
		t.Errorf("the update is %s", u.Raw)
	}
	if l := w.recv(); string(l.ID) != `"q"` || !strings.Contains(string(l.Error), "-32601") {
		t.Errorf("the answer: %s %s", l.ID, l.Error)
	}
	// The stop reasons are a closed list: another is an error, of that turn alone.
	for reason, ok := range map[string]bool{"out_of_ink": false, "refusal": true} {
		turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
		req := w.expect("session/prompt")
		w.send(text("s", "shown"), result1(req, fmt.Sprintf(`{"stopReason":%q}`, reason)))
		if o := receive(t, turn); (o.err == nil) != ok || o.turn.Text() != "shown" {
			t.Errorf("%s: %v, %q", reason, o.err, o.turn.Text())
		}
	}
}

// A handler that panics costs neither the update nor the turn.
func TestHandlerPanics(t *testing.T) {
	w := dial(t, host.Config{Handlers: acp.ClientHandlers{
		SessionUpdate: func(context.Context, *acp.SessionNotification) error { panic("update") },
		SessionRequestPermission: func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			panic("ask")
		},
	}})
	s := w.open("s")
	turn := async(func() outcome { turn, err := s.Prompt(t.Context(), "go"); return outcome{turn, err} })
	req := w.expect("session/prompt")
	w.send(text("s", "kept"), question(7, "s"))
	if l := w.recv(); string(l.ID) != "7" || !strings.Contains(string(l.Error), "-32603") {
		t.Errorf("the question: %s %s", l.Result, l.Error)
	}
	w.send(result1(req, `{"stopReason":"end_turn"}`))
	if o := receive(t, turn); o.err != nil || o.turn.Text() != "kept" {
		t.Errorf("%v, %q", o.err, o.turn.Text())
	}
}
