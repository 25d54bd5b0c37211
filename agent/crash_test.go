package agent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acpkit/acpkit/agent"
)

// serveChild is the agent as a process of its own; see TestMain.
func serveChild(home string) {
	a := agent.New(agent.Config{Home: home, Model: "scripted/case"})
	if err := a.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// story is what the host of a process that is going to be killed knows.
type story struct {
	mu      sync.Mutex
	session string
	texts   strings.Builder // chunks shown, each with its kind, in order
	calls   []string        // tool calls shown as finished
	preset  []string        // asked for; the first acked of them is acknowledged
	acked   int
	answers int // prompts answered
	title   string
}

// TestKilledAtAnyMoment kills the agent in the middle of its work, again and
// again: what was acknowledged or shown is there afterwards, in order, exactly
// once, and the session goes on, is listed and can be deleted without a trace.
func TestKilledAtAnyMoment(t *testing.T) {
	kills := 60
	if testing.Short() {
		kills = 20
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	home := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("config.toml", "[[providers]]\nname = \"scripted\"\nkind = \"scripted\"\nfile = \"model.jsonl\"\n[agent]\ncoalesce = false\n")
	var script strings.Builder
	for i := range 40 {
		fmt.Fprintf(&script, `{"think":"thought %[1]d of marker-7f3a9c","text":"words of answer %[1]d in many pieces","chunks":12,"tools":[{"name":"todo_write","args":{"todos":[{"content":"step %[1]d","status":"pending"}]}}],"usage":{"input":10,"output":2}}`+"\n", i)
		fmt.Fprintf(&script, `{"text":"end of answer %d","chunks":5,"delayMs":1}`+"\n", i)
	}
	write("model.jsonl", script.String())
	survived, finished := 0, 0
	span := 2 * firstAnswer(t, home)
	for range kills {
		s := killOne(t, home, time.Duration(random.Int64N(int64(span))))
		if s.session == "" {
			continue // killed before the session was acknowledged
		}
		survived++
		finished += s.answers
		checkStory(t, home, s)
	}
	if survived < kills/6 || finished == 0 {
		t.Errorf("only %d of %d kills came behind a session, and %d prompts were answered: the times do not fit this machine", survived, kills, finished)
	}
	t.Logf("%d kills, %d with a session, %d prompts answered", kills, survived, finished)
}

// firstAnswer is how long a process takes here until its first prompt is answered.
func firstAnswer(t *testing.T, home string) time.Duration {
	t.Helper()
	for span := 10 * time.Millisecond; span < 10*time.Second; span *= 2 {
		if s := killOne(t, home, span); s.answers > 0 {
			return span
		}
	}
	t.Fatal("no prompt was answered within 10 s")
	return 0
}

// killOne drives a process until it is killed.
func killOne(t *testing.T, home string, after time.Duration) *story {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "AGENT_TEST_HOME="+home)
	cmd.Stderr = os.Stderr
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &story{}
	send := func(format string, a ...any) { fmt.Fprintf(in, format+"\n", a...) }
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return // a cut line was not shown
			}
			s.take(line, send)
		}
	}()
	send(`{"jsonrpc":"2.0","id":"new","method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, home)
	time.Sleep(after)
	_ = cmd.Process.Kill()
	<-done
	_ = cmd.Wait()
	return s
}

// take notes a line, and goes on with the next request.
func (s *story) take(line []byte, send func(string, ...any)) {
	var m struct {
		ID     json.RawMessage
		Result json.RawMessage
		Error  json.RawMessage
		Params struct{ Update update }
	}
	if json.Unmarshal(line, &m) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	prompt := func() {
		send(`{"jsonrpc":"2.0","id":"prompt","method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go on %d"}]}}`, s.session, s.answers)
	}
	switch string(m.ID) {
	case `"new"`:
		var r struct{ SessionID string }
		_ = json.Unmarshal(m.Result, &r)
		s.session = r.SessionID
		prompt()
	case `"prompt"`:
		if m.Error == nil {
			s.answers++
		}
		preset := []string{"read-only", "workspace-write"}[len(s.preset)%2]
		s.preset = append(s.preset, preset)
		send(`{"jsonrpc":"2.0","id":"set","method":"session/set_config_option","params":{"sessionId":%q,"configId":"tool_approval","value":%q}}`, s.session, preset)
	case `"set"`:
		s.acked++
		prompt()
	case "":
		s.show(m.Params.Update)
	}
}

type update struct {
	SessionUpdate string
	Content       json.RawMessage
	ToolCallID    string
	Status        string
	Title         string
}

func (s *story) show(u update) {
	switch u.SessionUpdate {
	case "agent_thought_chunk", "agent_message_chunk":
		var c struct{ Text string }
		_ = json.Unmarshal(u.Content, &c)
		s.texts.WriteString(c.Text)
	case "tool_call", "tool_call_update":
		if u.Status == "completed" || u.Status == "failed" {
			s.calls = append(s.calls, u.ToolCallID+" "+u.Status)
		}
	case "session_info_update":
		s.title = u.Title
	}
}

// checkStory opens the session in another process (this one).
func checkStory(t *testing.T, home string, s *story) {
	t.Helper()
	p := startAt(t, home)
	defer p.end()
	ask := func(id, method, params string) string {
		t.Helper()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`+"\n", id, method, params))
		return p.response(fmt.Sprintf("%q", id))
	}
	list := ask("list", "session/list", `{}`)
	if s.title != "" && !strings.Contains(list, s.session) {
		t.Errorf("%s is not listed: %s", s.session, list)
	}
	loaded := ask("load", "session/load", fmt.Sprintf(`{"sessionId":%q}`, s.session))
	var options struct {
		ConfigOptions []struct{ ID, CurrentValue string }
	}
	if json.Unmarshal([]byte(loaded), &options) != nil || len(options.ConfigOptions) == 0 {
		t.Fatalf("load: %s", loaded)
	}
	preset := options.ConfigOptions[len(options.ConfigOptions)-1].CurrentValue
	possible := append([]string{"workspace-write"}, s.preset...)[s.acked:] // the last acknowledged, or one behind it
	if preset != possible[0] && preset != possible[len(possible)-1] {
		t.Errorf("the preset is %s, acknowledged was %s", preset, possible[0])
	}
	var again story
	users := 0
	p.mu.Lock()
	for _, m := range p.lines {
		var params struct{ Update update }
		if m["method"] != nil && json.Unmarshal(m["params"], &params) == nil {
			if params.Update.SessionUpdate == "user_message_chunk" {
				users++
			}
			again.show(params.Update)
		}
	}
	p.mu.Unlock()
	if !strings.HasPrefix(again.texts.String(), s.texts.String()) {
		t.Errorf("shown:\n%s\nreplayed:\n%s", s.texts.String(), again.texts.String())
	}
	if got, want := strings.Join(again.calls, ","), strings.Join(s.calls, ","); !strings.HasPrefix(got, want) {
		t.Errorf("calls shown %s, replayed %s", want, got)
	}
	if users < s.answers {
		t.Errorf("%d prompts replayed, %d were answered", users, s.answers)
	}
	if r := ask("go on", "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"are you there"}]}`, s.session)); !strings.Contains(r, "end_turn") {
		t.Errorf("the next prompt: %s", r)
	}
	if r := ask("delete", "session/delete", fmt.Sprintf(`{"sessionId":%q}`, s.session)); r != "{}" {
		t.Errorf("delete: %s", r)
	}
	_ = filepath.WalkDir(filepath.Join(home, "acp"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if text, _ := os.ReadFile(path); strings.Contains(string(text), "marker-7f3a9c") && strings.Contains(path, s.session) {
				t.Errorf("%s is left", path)
			}
		}
		return nil
	})
}
