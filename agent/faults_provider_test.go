package agent_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent"
)

// TestFinishOnEveryChunk: BL-145. A finish mark on every chunk, arguments in fifty
// pieces and two calls whose pieces take turns: each call runs once, with all of
// its arguments.
func TestFinishOnEveryChunk(t *testing.T) {
	long := strings.Repeat("ä line of text\\n", 40)
	o := startOnline(t, fmt.Sprintf(`{"text":"so","tools":[{"id":"a","name":"write_file","args":{"path":"a","content":"%s"},"pieces":50},{"id":"b","name":"write_file","args":{"path":"b","content":"%s"},"pieces":50}],"interleave":true,"finishOn":"every"}`+"\n", long, long)+fine, "")
	o.create()
	o.want("s1", "go", ended)
	for _, call := range []string{"a", "b"} {
		if s := o.statuses(call); s != "pending in_progress completed" {
			t.Errorf("call %s: %s", call, s)
		}
		if text, err := os.ReadFile(filepath.Join(o.work, call)); err != nil || string(text) != strings.ReplaceAll(long, `\n`, "\n") {
			t.Errorf("file %s: %d bytes, %v", call, len(text), err)
		}
	}
	if n := len(o.server.Calls()); n != 2 {
		t.Errorf("%d model calls", n)
	}
	o.chats()
}

// TestBadCallsPoisonNothing: BL-146, BL-147. Whatever is wrong with a call, it is
// a failed call, the model is told, and the provider can take the next request,
// also after a second process has read the session again.
func TestBadCallsPoisonNothing(t *testing.T) {
	for name, calls := range map[string]string{
		"arguments that are no JSON":   `{"id":"c","name":"read_file","args":"{\"path\":"}`,
		"arguments that are a list":    `{"id":"c","name":"read_file","args":["a"]}`,
		"arguments of another type":    `{"id":"c","name":"read_file","args":{"path":5}}`,
		"no arguments":                 `{"id":"c","name":"read_file","args":""}`,
		"an unknown tool":              `{"id":"c","name":"launch_rocket","args":{}}`,
		"a tool of an impossible name": `{"id":"c","name":"läunch rocket!","args":{}}`,
		"no id":                        `{"name":"read_file","args":{"path":"nothing"}}`,
		"the same id twice":            `{"id":"c","name":"read_file","args":{"path":"nothing"}},{"id":"c","name":"ls","args":{"path":"nothing"}}`,
		"no index":                     `{"id":"c","name":"read_file","args":{"path":"nothing"},"noIndex":true,"whole":true}`,
		"a file that is missing":       `{"id":"c","name":"read_file","args":{"path":"nothing"}}`,
		"a command that fails":         `{"id":"c","name":"bash","args":{"command":"exit 3"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			o := startOnline(t, fmt.Sprintf(`{"tools":[%s]}`+"\n", calls)+fine+fine+fine, "")
			o.create()
			o.want("s1", "go", ended)
			if n := strings.Count(calls, `"name"`); o.count(`"status":"failed"`) != n {
				t.Errorf("%d of %d calls failed", o.count(`"status":"failed"`), n)
			}
			if told := o.last(); told.Role != "tool" || told.Content == "" {
				t.Errorf("the model is told %+v", told)
			}
			o.want("s1", "again", ended)
			o.again()
			o.call("session/load", `"sessionId":"s1","cwd":%q,"mcpServers":[]`, o.work)
			o.want("s1", "and again", ended)
			o.chats()
			if o.count(`"status":"completed"`) != 0 {
				t.Error("a failed call is replayed as completed")
			}
		})
	}
}

// TestBadProviders: BL-010, BL-147. Whatever a provider does, the prompt has its
// answer, its cause is bounded, and the session takes the next prompt.
func TestBadProviders(t *testing.T) {
	for name, c := range map[string]struct{ reply, want string }{
		"HTML with status 200":               {`{"status":200,"body":"<html><body>Sign in</body></html>"}`, `{"code":-32603`},
		"a body without an answer":           {`{"status":200,"body":"{}"}`, `{"code":-32603`},
		"429":                                {`{"status":429,"body":"slow down"}`, `{"code":-32603`},
		"500":                                {`{"status":500,"body":"oops"}`, `{"code":-32603`},
		"closed before the first byte":       {`{"cut":true,"at":"connection"}`, `{"code":-32603`},
		"reset behind the headers":           {`{"cut":true,"at":"head","cutBy":"reset"}`, `{"code":-32603`},
		"closed inside the JSON":             {`{"text":"half of it","cut":true,"at":"json"}`, `{"code":-32603`},
		"closed inside a character":          {`{"text":"half of ü","cut":true,"at":"character"}`, `{"code":-32603`},
		"an end without a reason":            {`{"text":"words","finishOn":"never","framing":{"noDone":true}}`, ""},
		"calls, and an end without a reason": {`{"tools":[{"name":"write_file","args":{"path":"a","content":"b"}}],"cut":true,"cutBy":"end"}`, `{"code":-32603`},
		"an error in the stream":             {`{"text":"words","error":{"message":"overloaded"}}`, `{"code":-32603`},
		"events that are no JSON":            {`{"events":["{","]","not json"]}`, `{"code":-32603`},
		"silence":                            {`{"hang":true,"at":"head"}`, `{"code":-32603`},
		"an unknown reason to end":           {`{"text":"words","finish":"aliens"}`, ""},
		"characters cut everywhere":          {`{"text":"ü🙂ü🙂","chunks":4,"framing":{"split":1}}`, ended},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := startOnline(t, c.reply+"\n"+fine, "idle_seconds = 1\n[agent]\nretry_seconds = 0\n")
			o.create()
			if r := o.response(o.say("s1", "go")); !strings.HasPrefix(r, c.want) || len(r) > 2600 {
				t.Errorf("%.600s, want %s", r, c.want)
			}
			o.server.Release()
			if o.exists("a") {
				t.Error("a call of a broken answer was run")
			}
			o.want("s1", "again", ended)
			o.chats()
		})
	}
}

// TestOutputsOfCommands: BL-031. Bytes that are no text, and more of them than
// anybody reads, reach the host and the provider as bounded text.
func TestOutputsOfCommands(t *testing.T) {
	for name, command := range map[string]string{
		"invalid UTF-8 and NUL": `printf 'a\377\0b\303'`,
		"100 MB":                `head -c 100000000 /dev/zero | tr '\0' x; echo; echo the end`,
		"without an end":        `yes`,
		"one endless line":      `tr '\0' y </dev/zero`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := startOnline(t, fmt.Sprintf(`{"tools":[{"id":"c","name":"bash","args":{"command":%q,"timeout_ms":1500}}]}`+"\n", command)+fine+fine, "")
			o.create()
			o.want("s1", "go", ended)
			told := o.last().Content
			if told == "" || len(told) > 64<<10 || strings.ContainsRune(told, 0) {
				t.Errorf("the model is told %d bytes: %.40q", len(told), told)
			}
			o.want("s1", "again", ended)
			o.chats()
		})
	}
}

// TestSymlinkLoops: searching comes to an end where links go in circles.
func TestSymlinkLoops(t *testing.T) {
	o := startOnline(t, `{"tools":[{"id":"g","name":"glob","args":{"pattern":"**/*.go"}},{"id":"s","name":"grep","args":{"pattern":"package"}},{"id":"l","name":"ls","args":{"path":"loop"}},{"id":"r","name":"read_file","args":{"path":"self"}}]}`+"\n"+fine, "")
	for _, err := range []error{
		os.Symlink(".", filepath.Join(o.work, "loop")), os.Symlink("self", filepath.Join(o.work, "self")), os.Mkdir(filepath.Join(o.work, "d"), 0o700),
		os.Symlink("..", filepath.Join(o.work, "d", "up")), os.WriteFile(filepath.Join(o.work, "d", "a.go"), []byte("package a\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	o.create()
	o.want("s1", "go", ended)
	list := o.chats()
	for _, m := range list[len(list)-1].Messages {
		if m.Role == "tool" && (m.ToolCallID == "g" || m.ToolCallID == "s") && strings.Count(m.Content, "a.go") != 1 {
			t.Errorf("call %s: %q", m.ToolCallID, m.Content)
		}
	}
	if s := o.statuses("r"); !strings.HasSuffix(s, "failed") {
		t.Errorf("reading a link to itself: %s", s)
	}
}

// TestKeyNeverLeaks: BL-141. The key of the provider is in no frame, no log line
// and no file of the session, whoever says it: the provider in its errors, the
// model in pieces, or a command.
func TestKeyNeverLeaks(t *testing.T) {
	o := startOnline(t, fmt.Sprintf(`{"status":401,"body":"the key %s is wrong"}`, testKey)+"\n"+
		fmt.Sprintf(`{"status":400,"body":"Bearer %s","headers":{"X-Key":"%s"}}`, testKey, testKey)+"\n"+
		fmt.Sprintf(`{"text":"x","error":{"message":"key %s"}}`, testKey)+"\n"+
		fmt.Sprintf(`{"tools":[{"id":"c","name":"bash","args":{"command":"env; cat config.toml; printf %%s%%s %s %s"}}]}`, testKey[:9], testKey[9:])+"\n"+fine,
		"[agent]\nretry_seconds = 0\n")
	o.create()
	o.want("s1", "one", `{"code":-32603`)
	o.want("s1", "two", `{"code":-32603`)
	o.want("s1", "three", `{"code":-32603`)
	o.want("s1", "four", ended)
	o.end()
	if strings.Contains(o.log.String(), testKey) {
		t.Error("the key is in the log")
	}
	if n := o.count(testKey); n > 0 {
		t.Errorf("the key is in %d messages", n)
	}
	for _, m := range o.lines {
		if strings.Contains(string(m["error"]), testKey) {
			t.Errorf("the key is in an error: %s", m["error"])
		}
	}
	if err := filepath.WalkDir(o.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(testKey)) {
			t.Errorf("the key is in %s", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range o.chats() {
		for _, m := range c.Messages {
			if strings.Contains(m.Content, testKey) {
				t.Errorf("the key goes to the provider as a message: %q", m.Content)
			}
		}
	}
}

// TestEnvironmentStaysOut: variables of other programs change nothing that the
// provider gets; only what the configuration names does.
func TestEnvironmentStaysOut(t *testing.T) {
	o := startOnline(t, fine, "")
	o.create()
	o.want("s1", "go", ended)
	r := o.server.Calls()[0]
	if strings.Contains(string(r.Body)+fmt.Sprint(r.Header), "from-the-environment") || r.Path != "/v1/chat/completions" {
		t.Errorf("%s %v %s", r.Path, r.Header, r.Body)
	}
}

// TestSignIn: BL-141, BL-142, BL-143. Without a key session/new says -32000 and
// how to sign in; once the key is there it works in the same process, whether the
// host calls authenticate or not, and the session is stored like any other. A key
// that the provider refuses, or one without credit, is no reason to sign in.
func TestSignIn(t *testing.T) {
	o := startOnline(t, `{"status":401,"body":"bad key"}`+"\n"+`{"status":402,"body":"no credit"}`+"\n"+fine+fine, "[agent]\nretry_seconds = 0\n")
	o.peer.end()
	key := ""
	o.peer = serve(t, agent.Config{Home: o.home, Model: "net/m", Getenv: func(name string) string {
		if name == "TEST_KEY" {
			return key
		}
		return ""
	}})
	create := fmt.Sprintf(`"cwd":%q,"mcpServers":[]`, o.work)
	if r := o.call("session/new", "%s", create); !strings.Contains(r, `"code":-32000`) || !strings.Contains(r, "TEST_KEY") {
		t.Errorf("without a key: %s", r)
	}
	key = testKey
	o.call("authenticate", `"methodId":"reasonix-setup"`)
	if r := o.call("session/new", "%s", create); !strings.Contains(r, `"sessionId"`) {
		t.Fatalf("with a key: %s", r)
	}
	id := "s1"
	if strings.Contains(o.call("session/list", ""), `"s2"`) {
		id = "s2"
	}
	for _, want := range []string{"401", "402"} {
		if r := o.response(o.say(id, "go")); !strings.HasPrefix(r, `{"code":-32603`) || !strings.Contains(r, want) || strings.Contains(r, testKey) {
			t.Errorf("%s: %s", want, r)
		}
	}
	o.want(id, "go", ended)
	o.again()
	if r := o.call("session/load", `"sessionId":%q,"cwd":%q,"mcpServers":[]`, id, o.work); !strings.Contains(r, "configOptions") {
		t.Errorf("stored: %s", r)
	}
}
