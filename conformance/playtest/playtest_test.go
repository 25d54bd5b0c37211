package playtest_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/acpkit/acpkit/conformance/internal/fakeagent"
	"github.com/acpkit/acpkit/conformance/playtest"
)

func TestMain(m *testing.M) {
	// Testscript hands this on; without it a process built with -race sleeps for a second before it exits.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	testscript.Main(m, map[string]func(){"fake": func() { os.Exit(fakeagent.Main(os.Args[1:])) }})
}

var commands = map[string]func(*testscript.TestScript, bool, []string){
	"play": playtest.Cmd, "provider": playtest.Provider, "requests": playtest.Requests, "post": post,
}

// post URL FILE posts a file, as an agent does that talks to its model, and leaves the answer as stdout.
func post(ts *testscript.TestScript, _ bool, args []string) {
	resp, err := http.Post(args[0], "application/json", strings.NewReader(ts.ReadFile(args[1])))
	ts.Check(err)
	defer resp.Body.Close()
	_, err = io.Copy(ts.Stdout(), resp.Body)
	ts.Check(err)
}

func TestScripts(t *testing.T) {
	defer goleak.VerifyNone(t)
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Cmds: commands, RequireUniqueNames: true})
}

// run runs a testscript apart from the running test and returns its log and whether it passed.
func run(t *testing.T, script string, update bool) (log string, passed bool, file string) {
	file = filepath.Join(t.TempDir(), "case.txtar")
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	r := &recorder{passed: true}
	func() {
		defer func() {
			if e := recover(); e != nil && e != errStop {
				panic(e)
			}
		}()
		testscript.RunT(r, testscript.Params{Files: []string{file}, Cmds: commands, UpdateScripts: update})
	}()
	return r.log.String(), r.passed, file
}

// recorder is a testscript.T that remembers.
type recorder struct {
	log    strings.Builder
	passed bool
}

var errStop = fmt.Errorf("stop")

func (r *recorder) Run(_ string, f func(testscript.T)) { f(r) }
func (r *recorder) Log(args ...any)                    { fmt.Fprintln(&r.log, args...) }
func (r *recorder) Parallel()                          {}
func (r *recorder) Verbose() bool                      { return true }
func (r *recorder) Skip(...any)                        { panic(errStop) }
func (r *recorder) Fatal(args ...any)                  { r.Log(args...); r.FailNow() }
func (r *recorder) FailNow()                           { r.passed = false; panic(errStop) }

func TestUpdate(t *testing.T) {
	const before = `play fake
cmp stdout transcript
-- script --
send {"id":1,"method":"session/new"}
await response 1
-- transcript --
what it was
-- other --
untouched
`
	if log, passed, _ := run(t, before, false); passed || !strings.Contains(log, "stdout and transcript differ") {
		t.Errorf("a wrong transcript: passed %v\n%s", passed, log)
	}
	log, passed, file := run(t, before, true)
	if !passed || !strings.Contains(log, "case.txtar updated") {
		t.Errorf("update: passed %v\n%s", passed, log)
	}
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(before, "what it was\n", `client {"id":1,"method":"session/new"}
agent {"id":1,"result":{"sessionId":"$session1"}}
agent {"method":"session/update","params":{"sessionId":"$session1","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}
exit 0
`, 1)
	if string(after) != want {
		t.Errorf("updated to:\n%s", after)
	}
	if log, passed, _ := run(t, want, false); !passed {
		t.Errorf("the updated script fails:\n%s", log)
	}
}

// A failure must say enough to find the cause, and an update run must not hide it.
func TestFailure(t *testing.T) {
	log, passed, file := run(t, `play fake
cmp stdout transcript
-- script --
send {"id":1,"method":"fake/stderr","params":{"text":"no such key"}}
await response 1
timeout 300ms
await update plan
-- transcript --
`, true)
	if passed {
		t.Error("passed")
	}
	for _, want := range []string{
		"[stdout]\nclient {\"id\":1,", "[stderr]\nno such key\n", "case.txtar:1: play: script:4: await update plan: timed out after 300ms\n",
		"the transcript ends with:\n", "seen behind the last match: nothing\n", "end of the agent's stderr:\n",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("log without %q:\n%s", want, log)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !strings.HasSuffix(string(got), "-- transcript --\n") {
		t.Errorf("the script was rewritten: %v\n%s", err, got)
	}
	for script, want := range map[string]string{
		"play\n":                           "usage: play",
		"play -x fake\n":                   "usage: play",
		"play fake\n":                      "script: no such file",
		"provider -x\n":                    "usage: provider",
		"provider script\n-- script --\n":  "provider: script has no $PROVIDER_URL",
		"provider -script s\n-- s --\n{]":  "script: line 1: ",
		"requests\n":                       "usage: requests, after provider",
		"play fake\n-- script --\noops\n":  "play: script:1: a step begins with",
		"! play fake\n-- script --\neof\n": "which this script does not want",
	} {
		if log, passed, _ := run(t, script, false); passed || !strings.Contains(log, want) {
			t.Errorf("%q: passed %v, want %q\n%s", script, passed, want, log)
		}
	}
}
