//go:build bubblewrap

package agent_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent"
)

// inside is set in a test that runs in bubblewrap: the folder that is special.
const inside = "AGENT_TEST_INSIDE"

// inBubblewrap runs the calling test again with other mounts, where dir is what
// they change; there it returns that folder. Outside it returns "" when the inner
// test has passed. Without bubblewrap the test fails.
func inBubblewrap(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if dir := os.Getenv(inside); dir != "" {
		return dir
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal("bubblewrap is needed for this test: install it (apt-get install bubblewrap)")
	}
	if out, err := exec.Command(bwrap, "--bind", "/", "/", "true").CombinedOutput(); err != nil {
		t.Fatalf("bubblewrap cannot run here, and this test needs it (user namespaces may be forbidden): %v\n%s", err, out)
	}
	args = append([]string{"--bind", "/", "/", "--dev", "/dev"}, args...)
	args = append(args, "--die-with-parent", "--", os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd := exec.Command(bwrap, args...)
	cmd.Env = append(os.Environ(), inside+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in bubblewrap: %v\n%s", err, out)
	}
	return ""
}

func outside() bool { return os.Getenv(inside) == "" }

// fill takes every byte that is left on the disk.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for n := 0; err == nil; n++ {
		if _, err = f.Write(make([]byte, 4096)); n > 1<<16 {
			t.Fatal("the disk has no end")
		}
	}
}

// TestBubblewrapDiskFull: a full disk is named, loses nothing that was
// acknowledged, and is over when there is room again.
func TestBubblewrapDiskFull(t *testing.T) {
	outer := ""
	if outside() {
		outer = t.TempDir()
	}
	dir := inBubblewrap(t, outer, "--size", "524288", "--tmpfs", outer)
	if dir == "" {
		return
	}
	long := strings.Repeat("x", 9000)
	writeHome(t, dir, `{"text":"first words"}`+"\n"+strings.Repeat(`{"text":"`+long+`"}`+"\n", 2)+
		strings.Repeat(`{"tools":[{"name":"todo_write","args":{"todos":[{"content":"`+long+`","status":"pending"}]}}]}`+"\n", 1)+strings.Repeat(`{"text":"last words"}`+"\n", 9))
	work := t.TempDir()
	d := talk(t, dir, agent.Config{})
	id := d.newSession(work)
	other := d.newSession(work)
	d.want("prompt", d.prompt(id, "begin"), `"end_turn"`)
	d.want("set_mode", d.on(id, "session/set_mode", `"modeId":"plan"`), "{}")
	filler := filepath.Join(dir, "filler")
	fill(t, filler)

	full := func(what, answer string) {
		t.Helper()
		d.want(what, answer, `"code":-32603`, "no space left on device")
	}
	for range 2 {
		full("prompt", d.prompt(id, "on a full disk"))
		d.want("status", d.on(id, "_reasonix.io/session/status", ""), `"state":"idle"`)
	}
	full("prompt with a call", d.prompt(id, "on a full disk"))
	full("new", d.create(work))
	mode, a := "plan", "{}"
	for i := 0; a == "{}" && i < 500; i++ { // until the last page has no room either
		next := []string{"normal", "plan"}[i%2]
		if a = d.on(id, "session/set_mode", `"modeId":"`+next+`"`); a == "{}" {
			mode = next
		}
	}
	full("set_mode", a)
	full("set_config_option", d.on(id, "session/set_config_option", `"configId":"tool_approval","value":"read-only"`))
	d.want("status", d.on(id, "_reasonix.io/session/status", ""), `"state":"idle"`, `"mode":"`+mode+`"`)
	d.want("list", d.call("session/list", ""), id, `"title":"begin"`)
	a, words := d.load(id, work)
	d.want("load", a, `"currentModeId":"`+mode+`"`, `"currentValue":"workspace-write"`)
	if !strings.HasPrefix(words, "user_message: begin\nagent_message: first words\n") || strings.Count(words, "first words") != 1 {
		t.Errorf("on a full disk the replay is\n%s", words)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	d.want("prompt with room", d.prompt(id, "with room"), `"end_turn"`)
	d.want("set_config_option", d.on(id, "session/set_config_option", `"configId":"tool_approval","value":"read-only"`), `"currentValue":"read-only"`)
	d.want("another session", d.prompt(other, "with room"), `"end_turn"`)
	d.want("close", d.on(id, "session/close", ""), "{}")
	a, words = d.load(id, work)
	d.want("load again", a, `"currentModeId":"`+mode+`"`, `"currentValue":"read-only"`)
	if !strings.HasPrefix(words, "user_message: begin\nagent_message: first words\n") || !strings.HasSuffix(words, "user_message: with room\nagent_message: last words\n") {
		t.Errorf("with room again the replay is\n%s", words)
	}

	fill(t, filler)
	d.want("close on a full disk", d.on(other, "session/close", ""), "{}")
	a, _ = d.load(other, work)
	d.want("load on a full disk", a, `"currentModeId":"normal"`)
	for _, gone := range []string{id, other} {
		d.want("delete", d.on(gone, "session/delete", ""), "{}")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "acp", "sessions", "*")); len(left) > 0 {
		t.Errorf("there is still %v", left)
	}
}

// TestBubblewrapReadOnly: a home that cannot be written is named; what is stored
// there can be listed, and --no-persist needs no home to write to.
func TestBubblewrapReadOnly(t *testing.T) {
	outer, work, id := "", t.TempDir(), ""
	if outside() {
		outer = t.TempDir()
		writeHome(t, outer, `{"text":"words"}`+"\n")
		d := talk(t, outer, agent.Config{NewID: func() string { return "stored" }})
		id = d.newSession(work)
		d.want("prompt", d.prompt(id, "begin"), `"end_turn"`)
		d.end()
	}
	dir := inBubblewrap(t, outer, "--ro-bind", outer, outer)
	if dir == "" {
		return
	}
	d := talk(t, dir, agent.Config{})
	d.want("new", d.create(work), `"code":-32603`, "session/new: ", "read-only file system")
	d.want("list", d.call("session/list", ""), `"stored"`, `"title":"begin"`)
	a, _ := d.load("stored", work)
	d.want("load", a, `"code":-32603`, "read-only file system")
	d.want("delete", d.on("stored", "session/delete", ""), `"code":-32603`, "read-only file system")
	d.end()
	d = talk(t, dir, agent.Config{NoPersist: true})
	d.want("prompt without a store", d.prompt(d.newSession(work), "go"), `"end_turn"`)
}

// TestBubblewrapUnreadable: what the system does not let us read is named. Root
// may read all, so this runs as nobody special.
func TestBubblewrapUnreadable(t *testing.T) {
	outer, work := "", t.TempDir()
	if outside() {
		outer = t.TempDir()
		writeHome(t, outer, `{"text":"words"}`+"\n")
		ids := []string{"closed", "open"}
		d := talk(t, outer, agent.Config{NewID: func() string { id := ids[0]; ids = ids[1:]; return id }})
		for range 2 {
			d.want("prompt", d.prompt(d.newSession(work), "begin"), `"end_turn"`)
		}
		d.end()
		if err := os.Chmod(filepath.Join(outer, "acp", "sessions", "closed", "log"), 0); err != nil {
			t.Fatal(err)
		}
	}
	dir := inBubblewrap(t, outer, "--unshare-user", "--uid", "1000", "--cap-drop", "ALL")
	if dir == "" {
		return
	}
	d := talk(t, dir, agent.Config{})
	a, _ := d.load("closed", work)
	d.want("load", a, `"code":-32603`, "permission denied")
	a, words := d.load("open", work)
	d.want("load of another", a+words, `"currentModeId"`, "agent_message: words")
	d.want("prompt", d.prompt("open", "go"), `"end_turn"`)
	if a := d.call("session/list", ""); !strings.Contains(a, `"open"`) {
		t.Errorf("list: %s", a)
	}
	d.want("delete", d.on("closed", "session/delete", ""), "{}")
	d.end()
	if err := os.Chmod(filepath.Join(dir, "config.toml"), 0); err != nil {
		t.Fatal(err)
	}
	d = talk(t, dir, agent.Config{})
	d.want("new", d.create(work), `"code":-32603`, "config.toml", "permission denied")
}
