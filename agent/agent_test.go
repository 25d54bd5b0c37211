package agent_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/acpkit/acpkit/agent"
	"github.com/acpkit/acpkit/generated/acp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer speaks raw lines with an agent in this process, over real pipes.
type peer struct {
	t    *testing.T
	in   *os.File
	work string
	log  bytes.Buffer
	done chan error

	mu    sync.Mutex
	lines []map[string]json.RawMessage
	more  *sync.Cond
}

// start serves an agent whose model is the script.
func start(t *testing.T, script string) *peer {
	t.Helper()
	home := t.TempDir()
	writeHome(t, home, script)
	return serve(t, agent.Config{Home: home, Model: "scripted/case", Getenv: func(string) string { return "" }})
}

// serve serves an agent that names its sessions s1, s2 and so on.
func serve(t *testing.T, c agent.Config) *peer {
	t.Helper()
	agentIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, agentOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, in: in, work: t.TempDir(), done: make(chan error, 1)}
	p.more = sync.NewCond(&p.mu)
	ids := 0
	c.NewID = func() string { ids++; return fmt.Sprintf("s%d", ids) }
	c.Logger = slog.New(slog.NewTextHandler(&p.log, nil))
	a := agent.New(c)
	go func() {
		err := a.Serve(context.Background(), agentIn, agentOut)
		agentOut.Close()
		agentIn.Close()
		p.done <- err
	}()
	go func() {
		defer out.Close()
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadBytes('\n')
			p.mu.Lock()
			if len(line) > 0 {
				var m map[string]json.RawMessage
				if json.Unmarshal(line, &m) != nil {
					t.Errorf("not JSON: %q", line)
				}
				p.lines = append(p.lines, m)
			}
			p.more.Broadcast()
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(p.end)
	return p
}

// end closes the input and waits for the agent.
func (p *peer) end() {
	if p.in == nil {
		return
	}
	p.in.Close()
	p.in = nil
	select {
	case err := <-p.done:
		if err != nil {
			p.t.Errorf("Serve: %v", err)
		}
	case <-time.After(20 * time.Second):
		p.t.Error("the agent does not end at the end of its input")
	}
}

func (p *peer) send(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, text); err != nil {
		p.t.Fatal(err)
	}
}

// await returns the first message that fits.
func (p *peer) await(what string, fits func(map[string]json.RawMessage) bool) map[string]json.RawMessage {
	p.t.Helper()
	timeout := time.AfterFunc(20*time.Second, func() { p.mu.Lock(); p.more.Broadcast(); p.mu.Unlock() })
	defer timeout.Stop()
	deadline := time.Now().Add(20 * time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := 0; ; i++ {
		for i >= len(p.lines) {
			if time.Now().After(deadline) {
				p.t.Fatalf("no %s", what)
			}
			p.more.Wait()
		}
		if fits(p.lines[i]) {
			return p.lines[i]
		}
	}
}

func (p *peer) response(id string) string {
	p.t.Helper()
	m := p.await("response "+id, func(m map[string]json.RawMessage) bool { return string(m["id"]) == id && m["method"] == nil })
	if m["error"] != nil {
		return string(m["error"])
	}
	return transcriptPath.ReplaceAllString(string(m["result"]), "")
}

// transcriptPath differs from run to run.
var transcriptPath = regexp.MustCompile(`,"transcriptPath":"[^"]*"`)

// ask makes every write of the session ask.
func (p *peer) ask(session string) {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"ask","method":"session/set_config_option","params":{"sessionId":%q,"configId":"tool_approval","value":"read-only"}}`+"\n", session))
	if r := p.response(`"ask"`); !strings.Contains(r, "configOptions") {
		p.t.Fatal(r)
	}
}

func (p *peer) newSession(id string) {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", id, p.work))
	if r := p.response(id); !strings.Contains(r, "sessionId") {
		p.t.Fatal(r)
	}
}

func prompt(id, session string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`+"\n", id, session)
}

func cancel(session string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", session)
}

// TestCancelRightBehindPrompt: a cancel that comes in the same write as its
// prompt ends that prompt and no other, a thousand times over.
func TestCancelRightBehindPrompt(t *testing.T) {
	const n = 1000
	p := start(t, strings.Repeat(`{"text":"x","hang":true}`+"\n", n)+`{"text":"fine"}`+"\n")
	p.newSession(`"new"`)
	var all strings.Builder
	for i := range n {
		all.WriteString(prompt(fmt.Sprint(i), "s1") + cancel("s1"))
	}
	go func() { _, _ = io.WriteString(p.in, all.String()) }()
	for i := range n {
		if r := p.response(fmt.Sprint(i)); r != `{"stopReason":"cancelled"}` {
			t.Fatalf("prompt %d: %s", i, r)
		}
	}
}

// TestSessionsDoNotWaitForEachOther: while one hangs, others run and end.
func TestSessionsDoNotWaitForEachOther(t *testing.T) {
	p := start(t, `{"text":"x"}`+"\n"+`{"hang":true}`+"\n")
	p.newSession("1")
	p.newSession("2")
	p.send(prompt("3", "s1"))
	p.response("3")
	p.send(prompt("4", "s1")) // hangs
	p.send(prompt("5", "s2"))
	if r := p.response("5"); r != `{"stopReason":"end_turn"}` {
		t.Error(r)
	}
	p.send(cancel("s2") + prompt("6", "s2") + cancel("s2"))
	if r := p.response("6"); r != `{"stopReason":"cancelled"}` {
		t.Error(r)
	}
	p.send(cancel("s1"))
	if r := p.response("4"); r != `{"stopReason":"cancelled"}` {
		t.Error(r)
	}
}

// TestNothingAfterTheAnswer: the answer is the last that is heard of a turn, and
// its last status right before it.
func TestNothingAfterTheAnswer(t *testing.T) {
	p := start(t, strings.Repeat(`{"think":"hm","text":"some words in pieces","chunks":9,"tools":[{"name":"todo_write","args":{"todos":[]}}]}`+"\n"+`{"text":"end"}`+"\n", 20))
	p.newSession("0")
	for i := 1; i <= 20; i++ {
		p.send(prompt(fmt.Sprint(i), "s1"))
		p.response(fmt.Sprint(i))
	}
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	answers, before, text := 0, "", "" // what came before, "" at an answer; the last text
	for _, m := range p.lines {
		told := string(m["params"])
		switch {
		case strings.Contains(told, `"available_commands_update"`) && answers == 0 && before == "":
			continue // of the new session
		case told != "" && before == "" && !strings.Contains(told, `"phase":"starting"`):
			t.Fatalf("after %d answers, where a turn begins with its status: %s", answers, told)
		case told == "" && string(m["id"]) != "0":
			answers++
			if !strings.Contains(before, `"event":"completion"`) || !strings.Contains(text, `"text":"end"`) {
				t.Fatalf("answer %d comes behind %q and %q", answers, before, text)
			}
		}
		if before = told; string(m["method"]) == `"session/update"` {
			text = told
		}
	}
	if answers != 20 || before != "" {
		t.Errorf("%d answers, and then %q", answers, before)
	}
}

// TestEndOfInputAnswersWhatRuns: also a prompt that waits for a permission.
func TestEndOfInputAnswersWhatRuns(t *testing.T) {
	p := start(t, `{"tools":[{"name":"write_file","args":{"path":"a","content":"b"}}]}`+"\n")
	p.newSession("1")
	p.ask("s1")
	p.send(prompt("2", "s1"))
	p.await("permission request", func(m map[string]json.RawMessage) bool {
		return string(m["method"]) == `"`+acp.MethodSessionRequestPermission+`"`
	})
	p.end()
	if r := p.response("2"); r != `{"stopReason":"cancelled"}` {
		t.Error(r)
	}
	if _, err := os.Stat(filepath.Join(p.work, "a")); err == nil {
		t.Error("the file was written without permission")
	}
}

// handled are the methods that need params, but for initialize.
var handled = []string{acp.MethodAuthenticate, acp.MethodSessionNew, acp.MethodSessionPrompt, acp.MethodSessionLoad, acp.MethodSessionResume,
	acp.MethodSessionClose, acp.MethodSessionDelete, acp.MethodSessionSetMode, acp.MethodSessionSetConfigOption}

// TestParamsTable walks every method with params absent, null, [], 5 and a
// member of the wrong type: -32602 with the method's name, and never a crash.
func TestParamsTable(t *testing.T) {
	p := start(t, `{"text":"x"}`)
	id := 0
	for _, method := range handled {
		for _, params := range []string{"", `,"params":null`, `,"params":[]`, `,"params":[1]`, `,"params":5`, `,"params":"x"`, `,"params":{"methodId":1,"cwd":1,"sessionId":1}`} {
			id++
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q%s}`+"\n", id, method, params))
			if r := p.response(fmt.Sprint(id)); !strings.Contains(r, `"code":-32602`) || !strings.Contains(r, `"message":"`+method+`: `) {
				t.Errorf("%s with %q: %s", method, params, r)
			}
		}
	}
	for _, m := range acp.Methods {
		if m.Side != "agent" || m.Notification {
			continue
		}
		if m.Name == acp.MethodInitialize || m.Name == acp.MethodSessionList || slices.Contains(handled, m.Name) {
			continue
		}
		id++
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{}}`+"\n", id, m.Name))
		if r := p.response(fmt.Sprint(id)); !strings.Contains(r, `"code":-32601`) {
			t.Errorf("%s is not advertised, but answers %s", m.Name, r)
		}
	}
}

// TestPromiseAndBehaviourAgree: what initialize advertises is what is handled.
func TestPromiseAndBehaviourAgree(t *testing.T) {
	p := start(t, `{"text":"x"}`)
	p.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n")
	var res acp.InitializeResponse
	if err := json.Unmarshal([]byte(p.response("1")), &res); err != nil {
		t.Fatal(err)
	}
	c := res.AgentCapabilities
	promised := map[string]bool{
		acp.MethodSessionLoad: c.LoadSession, acp.MethodSessionList: c.SessionCapabilities.List != nil, acp.MethodSessionDelete: c.SessionCapabilities.Delete != nil,
		acp.MethodSessionResume: c.SessionCapabilities.Resume != nil, acp.MethodSessionClose: c.SessionCapabilities.Close != nil, acp.MethodLogout: c.Auth.Logout != nil,
	}
	id := 1
	for method, there := range promised {
		id++
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`+"\n", id, method))
		if missing := strings.Contains(p.response(fmt.Sprint(id)), `"code":-32601`); missing == there {
			t.Errorf("%s: advertised %v, missing %v", method, there, missing)
		}
	}
}

// TestErrorsAreBounded: however much a provider says.
func TestErrorsAreBounded(t *testing.T) {
	p := start(t, fmt.Sprintf(`{"status":500,"body":%q}`, strings.Repeat("ü", 9000))+"\n")
	p.newSession("1")
	p.send(prompt("2", "s1"))
	var e acp.Error
	if err := json.Unmarshal([]byte(p.response("2")), &e); err != nil {
		t.Fatal(err)
	}
	cause := strings.TrimPrefix(e.Message, "session/prompt: ")
	if e.Code != acp.ErrorCodeInternalError || len(cause) > 2048 || len(cause) < 1000 || !strings.HasSuffix(cause, "ü…") {
		t.Errorf("code %d, %d bytes, ends %q", e.Code, len(cause), cause[max(0, len(cause)-20):])
	}
}

// TestPromptAction: nothing to continue is -32600, an unknown word -32602, and
// the empty one an ordinary prompt.
func TestPromptAction(t *testing.T) {
	p := start(t, `{"text":"x"}`+"\n")
	p.newSession("1")
	for id, c := range map[string]struct{ action, want string }{
		"2": {"final_readiness_recovery", `"code":-32600`},
		"3": {"make_coffee", `"code":-32602`},
		"4": {"", `"stopReason":"end_turn"`},
	} {
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/prompt","params":{"sessionId":"s1","action":%q,"prompt":[{"type":"text","text":"go"}]}}`+"\n", id, c.action))
		if r := p.response(id); !strings.Contains(r, c.want) {
			t.Errorf("action %q: %s", c.action, r)
		}
	}
}

// TestCancelAsRequest: some hosts wait for an answer.
func TestCancelAsRequest(t *testing.T) {
	p := start(t, `{"hang":true}`+"\n")
	p.newSession("1")
	p.send(prompt("2", "s1") + `{"jsonrpc":"2.0","id":3,"method":"session/cancel","params":{"sessionId":"s1"}}` + "\n" +
		`{"jsonrpc":"2.0","id":4,"method":"session/cancel","params":{"sessionId":"nobody"}}` + "\n")
	for id, want := range map[string]string{"2": `{"stopReason":"cancelled"}`, "3": "{}", "4": "{}"} {
		if r := p.response(id); r != want {
			t.Errorf("%s: %s", id, r)
		}
	}
}

// TestCancelAheadOfAnAnswer: a host cancels and answers its open permission
// request right behind, as the protocol demands; the answer is no refusal that
// the model goes on from.
func TestCancelAheadOfAnAnswer(t *testing.T) {
	const n = 200
	p := start(t, strings.Repeat(`{"tools":[{"name":"write_file","args":{"path":"a","content":"b"}}]}`+"\n", n)+strings.Repeat(`{"text":"going on"}`+"\n", n))
	p.newSession(`"new"`)
	p.ask("s1")
	for i := 1; i <= n; i++ {
		p.send(prompt(fmt.Sprintf(`"p%d"`, i), "s1"))
		p.await("permission request", func(m map[string]json.RawMessage) bool {
			return string(m["id"]) == fmt.Sprint(i) && m["method"] != nil
		})
		p.send(cancel("s1") + fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"outcome":{"outcome":"cancelled"}}}`+"\n", i))
		if r := p.response(fmt.Sprintf(`"p%d"`, i)); r != `{"stopReason":"cancelled"}` {
			t.Fatalf("prompt %d: %s", i, r)
		}
	}
}
