package agent_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// Environment of the crash test: how many kills, and the first seed, to play a
// failure again.
const (
	crashKills = "AGENT_TEST_KILLS"
	crashSeed  = "AGENT_TEST_SEED"
)

// TestKill kills the agent with SIGKILL, each time at another moment of another
// run. A second process must then list and load every session with all that was
// acknowledged and shown, once and in order, go on with it, and delete it without
// a byte left.
func TestKill(t *testing.T) {
	kills := number(t, crashKills, 100)
	first := number(t, crashSeed, time.Now().UnixNano())
	t.Logf("seeds from %d on; to see one again: %s=SEED %s=1 go test ./agent -run TestKill", first, crashSeed, crashKills)
	program := filepath.Join(t.TempDir(), "reasonix")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/reasonix").CombinedOutput(); err != nil {
		t.Fatalf("building reasonix: %v\n%s", err, out)
	}
	// Most of the time goes into waiting for the disk.
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, 8)
	for i := range kills {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			seed := first + i
			t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { oneKill(t, program, seed) })
		})
	}
}

func number(t *testing.T, variable string, absent int64) int64 {
	text := os.Getenv(variable)
	if text == "" {
		return absent
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func oneKill(t *testing.T, program string, seed int64) {
	rnd := rand.New(rand.NewPCG(uint64(seed), 0))
	h := &crashHost{t: t, rnd: rnd, program: program, home: t.TempDir(), work: t.TempDir(), script: newCrashScript(rnd)}
	script := filepath.Join(t.TempDir(), "model.jsonl") // its words are not to be found in home
	for path, text := range map[string]string{
		script: h.script.text,
		filepath.Join(h.home, "config.toml"): fmt.Sprintf("[[providers]]\nname = \"scripted\"\nkind = \"scripted\"\nfile = %q\nmodels = [\"a\", \"b\"]\n"+
			"efforts = [\"low\", \"high\"]\n[agent]\nretry_seconds = 0\ncoalesce = %v\n", script, rnd.IntN(2) == 0),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.launch()
	for range rnd.IntN(150) {
		h.act()
		if len(h.pending) > 0 {
			h.read()
		}
	}
	h.act()
	if rnd.IntN(2) == 0 {
		time.Sleep(time.Duration(rnd.IntN(3000)) * time.Microsecond)
	}
	h.kill()
	h.checkFiles()
	h.launch()
	h.survived()
	h.end()
}

// survived checks what a second process finds, and leaves nothing.
func (h *crashHost) survived() {
	h.checkList()
	for _, s := range h.sessions {
		s.open, s.waiting, s.loading = false, 0, false
		switch {
		case s.deleted:
			s.checkDeleted()
			continue
		case s.deleting:
			s.delete() // as a host would; it may be gone
			h.settle()
			s.checkDeleted()
			continue
		}
		s.load()
		h.settle()
		s.checkStatus()
		s.prompt(s.mark + " once more")
		h.settle()
		s.set()
		h.settle()
		s.close()
		h.settle()
		s.load()
		h.settle()
	}
	h.checkList()
	for _, s := range h.sessions {
		if !s.deleted {
			s.delete()
			h.settle()
			s.checkDeleted()
		}
	}
	h.checkList()
}

// update takes in what the agent shows.
func (s *crashSession) update(u map[string]any) {
	kind := u["sessionUpdate"].(string)
	delete(u, "sessionUpdate")
	switch kind {
	case "available_commands_update", "config_option_update", "current_mode_update":
		return
	case "session_info_update":
		if s.titled = true; u["title"] != s.turns[0].text {
			s.h.t.Errorf("the title is %v, want %q", u["title"], s.turns[0].text)
		}
		return
	}
	if s.loading {
		s.replay = append(s.replay, tokenOf(kind, u))
		return
	}
	t := s.turn()
	if t == nil {
		s.h.t.Errorf("%s comes while no prompt runs: %v", kind, u)
		return
	}
	t.begun = true
	switch {
	case kind == "user_message_chunk": // of a local command; a replay has it too
		if tokenOf(kind, u) != userToken(t.text) {
			s.h.t.Errorf("command %q begins with %v", t.text, u)
		}
	case kind == "tool_call":
		t.call = u
	case kind == "tool_call_update":
		if t.call == nil || t.call["toolCallId"] != u["toolCallId"] {
			s.h.t.Errorf("an update of no open call: %v", u)
		} else if u["status"] != "in_progress" {
			t.call["status"], t.call["content"] = u["status"], u["content"]
			t.shown = append(t.shown, tokenOf("tool_call", t.call))
			t.call = nil
		}
	default:
		t.shown = append(t.shown, tokenOf(kind, u))
	}
}

func tokenOf(kind string, u map[string]any) token {
	text, _ := json.Marshal(u) // sorts the members
	return token{kind, string(text)}
}

func userToken(text string) token {
	return tokenOf("user_message_chunk", map[string]any{"content": map[string]any{"type": "text", "text": text}})
}

// checkReplay compares the last replay with what was shown. A turn that was cut
// off may hold more than its host has seen; from then on it stays as it is.
func (s *crashSession) checkReplay() {
	rest := s.replay
	for i, t := range s.turns {
		if len(rest) == 0 || rest[0] != userToken(t.text) {
			if t.begun || i < len(s.turns)-1 {
				s.h.t.Errorf("session %s, turn %d (%q, answered %q): the replay goes on with %v", s.id, i, t.text, t.answer, rest[:min(1, len(rest))])
			}
			s.turns = s.turns[:i] // the process was killed before it had read the prompt
			break
		}
		n := 1
		for n < len(rest) && rest[n].Kind != "user_message_chunk" {
			n++
		}
		s.checkTurn(i, t, rest[1:n])
		rest = rest[n:]
	}
	if len(rest) > 0 {
		s.h.t.Errorf("session %s: the replay has more than was prompted: %v", s.id, rest)
	}
}

func (s *crashSession) checkTurn(i int, t *crashTurn, replayed []token) {
	common := replayed
	if !t.over {
		common = replayed[:min(len(t.shown), len(replayed))]
		if t.call != nil && (len(replayed) <= len(t.shown) || !sameCall(t.call, replayed[len(t.shown)])) {
			s.h.t.Errorf("session %s, turn %d: call %v was shown and is not replayed", s.id, i, t.call)
		}
	}
	if d := cmp.Diff(t.shown, slices.Clone(common)); d != "" && len(t.shown)+len(common) > 0 {
		s.h.t.Errorf("session %s, turn %d (%q, answered %q): shown and replayed differ:\n%s", s.id, i, t.text, t.answer, d)
	}
	if !strings.HasPrefix(t.text, "/") {
		s.h.script.check(s.h.t, replayed)
	}
	t.over, t.begun, t.shown, t.call = true, true, replayed, nil
}

func sameCall(call map[string]any, replayed token) bool {
	var r map[string]any
	return replayed.Kind == "tool_call" && json.Unmarshal([]byte(replayed.Text), &r) == nil && r["toolCallId"] == call["toolCallId"] &&
		r["title"] == call["title"] && (r["status"] == "failed" || r["status"] == "completed")
}

// checkAxes compares what the answer to new or load says with what was acknowledged.
func (s *crashSession) checkAxes(result json.RawMessage) {
	var r struct {
		Modes         struct{ CurrentModeID string }
		ConfigOptions []struct{ ID, CurrentValue string }
	}
	if err := json.Unmarshal(result, &r); err != nil {
		s.h.t.Fatal(err)
	}
	got := map[string]string{"mode": r.Modes.CurrentModeID}
	for _, o := range r.ConfigOptions {
		got[o.ID] = o.CurrentValue
	}
	if len(got) != 4 {
		s.h.t.Errorf("the axes are %v", got)
	}
	for name, value := range got {
		if a := s.axes[name]; a != nil && a.acked != value && !slices.Contains(a.maybe, value) {
			s.h.t.Errorf("session %s: %s is %q, want %q or one of %q", s.id, name, value, a.acked, a.maybe)
		}
		s.axes[name] = &axis{acked: value}
	}
}

// checkStatus: what a dead process left running does not run, and what waited
// for the end of that turn is in force, not only wanted.
func (s *crashSession) checkStatus() {
	s.ask(reasonix.MethodReasonixSessionStatus, "", func(m message) {
		var r struct{ State, Mode, Model, Effort string }
		if err := json.Unmarshal(m.Result, &r); err != nil {
			s.h.t.Fatalf("status: %s%s", m.Error, m.Result)
		}
		if r.State != "idle" || r.Mode != s.axes["mode"].acked || r.Model != s.axes["model"].acked || r.Effort != s.axes["effort"].acked {
			s.h.t.Errorf("session %s: the status of a loaded session is %+v, its load said mode %s, model %s, effort %s",
				s.id, r, s.axes["mode"].acked, s.axes["model"].acked, s.axes["effort"].acked)
		}
	})
	s.h.settle()
}

// checkList: each session that has been prompted is there once, with its title.
func (h *crashHost) checkList() {
	got := map[string]string{}
	var page func(cursor string)
	page = func(cursor string) {
		h.request(acp.MethodSessionList, fmt.Sprintf(`{"cursor":%q}`, cursor), func(m message) {
			var r struct {
				Sessions []struct {
					SessionID, Title, CWD string
				}
				NextCursor string
			}
			if err := json.Unmarshal(m.Result, &r); err != nil || m.Error != nil {
				h.t.Errorf("session/list: %s%s", m.Error, m.Result)
			}
			for _, s := range r.Sessions {
				if _, twice := got[s.SessionID]; twice || s.CWD != h.work {
					h.t.Errorf("the list: %s", m.Result)
				}
				got[s.SessionID] = s.Title
			}
			if r.NextCursor != "" {
				page(r.NextCursor)
			}
		})
	}
	page("")
	h.settle()
	for _, s := range h.sessions {
		title, listed := got[s.id]
		delete(got, s.id)
		switch {
		case s.deleted && listed:
			h.t.Errorf("session %s was deleted and is listed", s.id)
		case s.deleting:
		case !listed && len(s.turns) > 0 && s.turns[0].begun:
			h.t.Errorf("session %s was prompted and is not listed", s.id)
		case len(s.turns) > 0 && title != s.turns[0].text && (listed && !s.open || s.titled):
			h.t.Errorf("session %s has title %q, want %q", s.id, title, s.turns[0].text)
		}
	}
	if len(got) > 0 {
		h.t.Errorf("nobody was told of the sessions %v", got)
	}
}

// checkDeleted: nothing of the session is left in home.
func (s *crashSession) checkDeleted() {
	s.ask(acp.MethodSessionLoad, fmt.Sprintf(`,"cwd":%q,"mcpServers":[]`, s.h.work), func(m message) {
		if !strings.Contains(string(m.Error), `"code":-32602`) {
			s.h.t.Errorf("session %s was deleted, and session/load answers %s%s", s.id, m.Error, m.Result)
		}
	})
	s.h.settle()
	err := filepath.WalkDir(s.h.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.Contains(path, s.id) {
			s.h.t.Errorf("session %s was deleted, and there is %s", s.id, path)
		}
		if d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), s.id) || strings.Contains(string(text), s.mark) {
			s.h.t.Errorf("session %s was deleted, and %s speaks of it", s.id, path)
		}
		return err
	})
	if err != nil {
		s.h.t.Error(err)
	}
}

// checkFiles: what the agent wrote in the workspace is whole.
func (h *crashHost) checkFiles() {
	files, _ := filepath.Glob(filepath.Join(h.work, "*.txt"))
	for _, path := range files {
		text, err := os.ReadFile(path)
		first, _, _ := strings.Cut(string(text), "\n")
		if err != nil || string(text) != crashFile(first) {
			h.t.Errorf("%s is not whole: %d bytes, %v", path, len(text), err)
		}
	}
}

func crashFile(line string) string { return strings.Repeat(line+"\n", 100) }

// crashScript is a model whose every word is another one.
type crashScript struct {
	text         string
	think, words []string // of each reply
}

func newCrashScript(rnd *rand.Rand) *crashScript {
	c := &crashScript{}
	for i := range 120 {
		words := func(kind string) string {
			var b strings.Builder
			for w := range rnd.IntN(12) {
				fmt.Fprintf(&b, "%s%d.%d ", kind, i, w)
			}
			return b.String()
		}
		reply := map[string]any{"chunks": rnd.IntN(6), "delayMs": rnd.IntN(2), "usage": map[string]any{"input": 10 + i, "output": 3}}
		var tools []any
		switch n := rnd.IntN(100); {
		case n < 55:
			for range 1 + rnd.IntN(2) {
				file := fmt.Sprintf("f%d.txt", rnd.IntN(3))
				name, args := "todo_write", any(map[string]any{"todos": []any{map[string]any{"content": fmt.Sprint("step ", i), "status": "pending"}}})
				switch rnd.IntN(6) {
				case 0, 1:
					name, args = "write_file", map[string]any{"path": file, "content": crashFile(fmt.Sprint("content ", i))}
				case 2:
					name, args = "read_file", map[string]any{"path": file, "limit": 3}
				case 3:
					name, args = "no_such_tool", "{ not JSON"
				}
				tools = append(tools, map[string]any{"name": name, "args": args})
			}
			reply["tools"] = tools
		case n < 60:
			reply["finish"] = pick(rnd, "length", "content_filter")
		case n < 64:
			reply["cut"] = true
		case n < 67:
			reply = map[string]any{"status": 500, "body": "out of order"}
		}
		if reply["status"] == nil {
			reply["think"], reply["text"] = words("think"), words("word")
		}
		c.think = append(c.think, str(reply["think"]))
		c.words = append(c.words, str(reply["text"]))
		line, _ := json.Marshal(reply)
		c.text += string(line) + "\n"
	}
	return c
}

func str(v any) string { s, _ := v.(string); return s }

var replyNumber = regexp.MustCompile(`^[a-z]+(\d+)\.`)

// check: the words of a turn are those of the script from some reply on, without
// a gap and none twice.
func (c *crashScript) check(t *testing.T, tokens []token) {
	for kind, words := range map[string][]string{"agent_thought_chunk": c.think, "agent_message_chunk": c.words} {
		var got strings.Builder
		for _, tok := range tokens {
			var u struct{ Content struct{ Text string } }
			if tok.Kind == kind && json.Unmarshal([]byte(tok.Text), &u) == nil {
				got.WriteString(u.Content.Text)
			}
		}
		if m := replyNumber.FindStringSubmatch(got.String()); m != nil {
			n, _ := strconv.Atoi(m[1])
			if !strings.HasPrefix(strings.Join(words[n:], ""), got.String()) {
				t.Errorf("the words of a turn are not those of the model: %s", got.String())
			}
		}
	}
}
