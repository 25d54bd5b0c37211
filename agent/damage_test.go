package agent_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent"
)

// sealed is a line of the log with its checksum.
func sealed(object string) string {
	return fmt.Sprintf("%08x %s\n", crc32.Checksum([]byte(object), crc32.MakeTable(crc32.Castagnoli)), object)
}

// TestDamagedLogs: what another program, a newer version, a torn disk or a hand
// has made of a session's log is told plainly or passed over. The list, the other
// sessions and new ones do not suffer, and a delete removes it all the same.
func TestDamagedLogs(t *testing.T) {
	lines := func(edit func(l [][]byte) [][]byte) func([]byte) []byte {
		return func(log []byte) []byte { return bytes.Join(edit(bytes.SplitAfter(log, []byte("\n"))), nil) }
	}
	without := func(kind string) func([]byte) []byte {
		return lines(func(l [][]byte) (kept [][]byte) {
			for _, line := range l {
				if !bytes.Contains(line, []byte(`"k":"`+kind+`"`)) {
					kept = append(kept, line)
				}
			}
			return kept
		})
	}
	const loads = `"currentModeId":"normal"`
	for name, c := range map[string]struct {
		edit   func(log []byte) []byte
		answer []string // of session/load
		words  string   // in the replay, if it loads
	}{
		"as it was": {func(log []byte) []byte { return log }, []string{loads}, "agent_message: one\n"},
		"newer format": {lines(func(l [][]byte) [][]byte {
			l[0] = []byte(sealed(`{"format":"reasonix-acp-session","version":99}`))
			return l
		}), []string{`-32603`, "format 99", "newer version"}, ""},
		"foreign":             {func([]byte) []byte { return []byte("PK\x03\x04 something else\n\n") }, []string{`-32603`, "damaged|not a file of this program"}, ""},
		"foreign, no newline": {func([]byte) []byte { return bytes.Repeat([]byte{0xff}, 100_000) }, []string{`-32603`, "damaged|not a file of this program"}, ""},
		"empty":               {func([]byte) []byte { return nil }, []string{`-32603`, "damaged|not a file of this program"}, ""},
		"zeroed":              {func(log []byte) []byte { return make([]byte, len(log)) }, []string{`-32603`, "damaged|not a file of this program"}, ""},
		"cut in the head":     {func(log []byte) []byte { return log[:20] }, []string{`-32603`, "damaged|not a file of this program"}, ""},
		"cut in a record":     {func(log []byte) []byte { return log[:len(log)-9] }, []string{loads}, "agent_message: one\n"},
		"zeroed at the end":   {func(log []byte) []byte { return append(log, make([]byte, 8192)...) }, []string{loads}, "agent_message: one\n"},
		"zeroed within": {lines(func(l [][]byte) [][]byte {
			for i, line := range l {
				if bytes.Contains(line, []byte(`"k":"text"`)) {
					l[i] = make([]byte, len(line))
				}
			}
			return l
		}), []string{loads}, "user_message: go\n"},
		"no first record": {without("opened"), []string{`-32603`, "first record is missing"}, ""},
		"no prompt":       {without("prompt"), []string{loads}, "agent_message: one\n"},
		"no call":         {without("tool_call"), []string{loads}, "agent_message: one\n"},
		"no end of it":    {without("tool_end"), []string{loads}, "agent_message: one\n"},
		"a kind to come": {func(log []byte) []byte {
			n := bytes.Count(log, []byte("\n"))
			return append(log, sealed(fmt.Sprintf(`{"n":%d,"t":1767225600000,"k":"to_come","d":{"x":[1]}}`, n))...)
		}, []string{loads}, "agent_message: one\n"},
		"a value of another type": {func(log []byte) []byte {
			n := bytes.Count(log, []byte("\n"))
			return append(log, sealed(fmt.Sprintf(`{"n":%d,"t":1767225600000,"k":"prompt","d":{"Text":5}}`, n))...)
		}, []string{`-32603`, `a record of kind \"prompt\"`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			home, work := t.TempDir(), t.TempDir()
			writeHome(t, home, `{"text":"one","tools":[{"name":"todo_write","args":{"todos":[{"content":"step","status":"pending"}]}}]}`+"\n"+strings.Repeat(`{"text":"two"}`+"\n", 9))
			ids := []string{"bad", "good", "new"}
			d := talk(t, home, agent.Config{NewID: func() string { id := ids[0]; ids = ids[1:]; return id }})
			for range 2 {
				id := d.newSession(work)
				d.want("prompt", d.prompt(id, "go"), `"end_turn"`)
				d.want("close", d.on(id, "session/close", ""), "{}")
			}
			path := filepath.Join(home, "acp", "sessions", "bad", "log")
			log, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.edit(log), 0o600); err != nil {
				t.Fatal(err)
			}
			answer, words := d.load("bad", work)
			for _, part := range c.answer {
				if one, other, both := strings.Cut(part, "|"); both && strings.Contains(answer, other) {
					continue
				} else {
					d.want("load", answer, one)
				}
			}
			if c.words != "" {
				d.want("replay", words, c.words)
				for _, command := range []string{"/tree", "/history", "/events", "/session", "/status", "go on"} {
					d.want(command, d.prompt("bad", command), `"end_turn"`)
				}
				d.want("close", d.on("bad", "session/close", ""), "{}")
				again, words := d.load("bad", work)
				d.want("load again", again, loads)
				d.want("replay again", words, c.words, "user_message: go on\n")
			}
			list := d.call("session/list", "")
			d.want("list", list, `"good"`)
			d.want("new", d.create(work), `"new"`)
			a, w := d.load("good", work)
			d.want("load of another", a+w, loads, "agent_message: one\nagent_message: two\n")
			d.want("delete", d.on("bad", "session/delete", ""), "{}")
			if _, err := os.Stat(filepath.Dir(path)); err == nil {
				t.Error("it was deleted and is there")
			}
		})
	}
}

// TestVanishedCWD: the stored folder is gone. That is -32002, and another folder
// can be given; it is never made anew.
func TestVanishedCWD(t *testing.T) {
	home, work := t.TempDir(), filepath.Join(t.TempDir(), "project")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	writeHome(t, home, strings.Repeat(`{"text":"words"}`+"\n", 3))
	d := talk(t, home, agent.Config{})
	id := d.newSession(work)
	d.want("prompt", d.prompt(id, "go"), `"end_turn"`)
	d.want("close", d.on(id, "session/close", ""), "{}")
	if err := os.Remove(work); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"session/load", "session/resume"} {
		for _, cwd := range []string{"", fmt.Sprintf(`"cwd":%q,"mcpServers":[]`, work)} {
			d.want(method+cwd, d.on(id, method, cwd), `"code":-32002`, "does not exist")
		}
	}
	if _, err := os.Stat(work); err == nil {
		t.Error("the folder was made")
	}
	d.want("list", d.call("session/list", ""), id)
	a, words := d.load(id, t.TempDir())
	d.want("load elsewhere", a+words, `"currentModeId"`, "agent_message: words")
	d.want("prompt", d.prompt(id, "go"), `"end_turn"`)
}
