package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/acpkit/acpkit/conformance/internal/fakeagent"
	"github.com/acpkit/acpkit/conformance/internal/transcript"
)

// The test binary is also the agent.
func TestMain(m *testing.M) {
	if os.Getenv("FAKE_AGENT") != "" {
		os.Exit(fakeagent.Main(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// config plays script in a fresh directory, against the fake agent with args.
func config(t *testing.T, script string, args ...string) Config {
	return Config{
		Command: append([]string{os.Args[0]}, args...),
		Dir:     t.TempDir(),
		// Without GORACE a process built with -race sleeps for a second before it exits.
		Env:    append(os.Environ(), "FAKE_AGENT=1", "GORACE=atexit_sleep_ms=0"),
		Script: []byte(script),
	}
}

// emit is the step that makes the fake agent write lines as they stand.
func emit(lines ...string) string {
	list, err := json.Marshal(lines)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("send {\"method\":\"fake/emit\",\"params\":{\"lines\":%s}}\n", strings.ReplaceAll(string(list), "$", `\u0024`))
}

// play plays a script that must succeed and returns the transcript without the fake/ notifications that steer the agent.
func play(t *testing.T, script string, args ...string) string {
	t.Helper()
	r, err := Run(t.Context(), config(t, script, args...))
	if err != nil {
		t.Fatalf("%v\n%s", err, transcript.Format(r.Lines))
	}
	return shown(r)
}

func shown(r Result) string {
	var b strings.Builder
	for _, l := range r.Lines {
		if !strings.HasPrefix(l.String(), `client {"method":"fake/`) {
			b.WriteString(l.String() + "\n")
		}
	}
	return b.String()
}

func plan(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","n":%d}}}`, n)
}

func response(id string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":null}`, id) }

func TestOrder(t *testing.T) {
	const updates = `agent {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","n":%d}}}` + "\n"
	for _, c := range []struct{ name, script, want string }{
		{
			"what is not awaited stands behind the next line of the host",
			emit(plan(1), plan(2), plan(3)) + "await update plan\nsend {\"method\":\"n1\",\"id\":1}\nawait response 1\n",
			fmt.Sprintf(updates, 1) + `client {"method":"n1","id":1}` + "\n" + fmt.Sprintf(updates, 2) + fmt.Sprintf(updates, 3) +
				`agent {"id":1,"error":{"code":-32601,"message":"method not found"}}` + "\nexit 0\n",
		}, {
			"two awaits want two updates",
			emit(plan(1), plan(2)) + "await update plan\nawait update plan\nsend {\"method\":\"\"}\n",
			fmt.Sprintf(updates, 1) + fmt.Sprintf(updates, 2) + `client {"method":""}` + "\nexit 0\n",
		}, {
			"responses in any order, each once",
			emit(response("2"), response("1"), response(`"1"`), response("1")) + "await response 1\nawait response 2\nawait response 1\nawait response \"1\"\nsend {\"method\":\"\"}\n",
			`agent {"id":2,"result":null}
agent {"id":1,"result":null}
agent {"id":"1","result":null}
agent {"id":1,"result":null}
client {"method":""}
exit 0
`,
		}, {
			"params decide",
			emit(plan(1), plan(2), plan(3)) + `await update plan {"update":{"n":2}}` + "\nsend {\"method\":\"\"}\n",
			fmt.Sprintf(updates, 1) + fmt.Sprintf(updates, 2) + `client {"method":""}` + "\n" + fmt.Sprintf(updates, 3) + "exit 0\n",
		}, {
			"answers go to the oldest request; an answer waits for its request",
			emit(`{"jsonrpc":"2.0","id":"$session9","method":"m"}`, plan(1), `{"jsonrpc":"2.0","id":7,"method":"m"}`) + "answer m {\"x\": 1}\nanswer-error m {\"code\":1}\n",
			`agent {"id":"$session9","method":"m"}
client {"id":"$session9","result":{"x":1}}
` + fmt.Sprintf(updates, 1) + `agent {"id":7,"method":"m"}
client {"id":7,"error":{"code":1}}
exit 0
`,
		}, {
			"requests and notifications are told apart; an error without an id",
			emit(`{"jsonrpc":"2.0","method":"m"}`, `{"jsonrpc":"2.0","id":1,"method":"m"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}`, `{"jsonrpc":"2.0","method":"m"}`) +
				"await request m\nsend {\"method\":\"1\"}\nawait notification m\nsend {\"method\":\"2\"}\nawait error -32600\n",
			`agent {"method":"m"}
agent {"id":1,"method":"m"}
client {"method":"1"}
agent {"id":null,"error":{"code":-32600,"message":"x"}}
agent {"method":"m"}
client {"method":"2"}
exit 0
`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, play(t, c.script)); diff != "" {
				t.Errorf("transcript (-want +got):\n%s", diff)
			}
		})
	}
}

func TestText(t *testing.T) {
	script := `send {"id":1,"method":"session/new"}
await response 1
send {"id":2,"method":"session/prompt","params":{"sessionId":"$session1","prompt":[{"text":"hang"}]}}
await text "très tôt."
send {"method":"session/cancel"}
await response 2
`
	got := play(t, script)
	if !strings.Contains(got, `It is $time — très tôt."},"messageId":"$message2"}}}
client {"method":"session/cancel"}
agent {"id":2,"result":{"stopReason":"cancelled"}}
exit 0
`) {
		t.Errorf("transcript:\n%s", got)
	}
}

func TestRawAndBytes(t *testing.T) {
	got := play(t, `raw {oops
await error -32700
raw "[\t"
await error -32700
bytes "{\"jsonrpc\":\"2.0\","
bytes "\"id\":5,\"method\":\"x\"}\n"
await response 5
`)
	want := `client raw "{oops"
agent {"id":null,"error":{"code":-32700,"message":"parse error"}}
client raw "[\t"
agent {"id":null,"error":{"code":-32700,"message":"parse error"}}
client bytes "{\"jsonrpc\":\"2.0\","
client bytes "\"id\":5,\"method\":\"x\"}\n"
agent {"id":5,"error":{"code":-32601,"message":"method not found"}}
exit 0
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

func TestPadded(t *testing.T) {
	got := play(t, `send {"id":1,"method":"session/new"}
await update available_commands_update
padded 200000 {"id":2,"method":"x","params":{"sessionId":"$session1"}}
await response 2
`)
	want := `client padded 200000 {"id":2,"method":"x","params":{"sessionId":"$session1"}}
agent {"id":2,"error":{"code":-32601,"message":"method not found"}}
`
	if !strings.Contains(got, want) {
		t.Errorf("transcript:\n%s\nwithout:\n%s", got, want)
	}
}

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name, script, want string
		args               []string
	}{
		{name: "an agent that exits on its own; what is sent to it is shown", script: "send {\"method\":\"initialize\"}\nsend {\"method\":\"x\"}\neof\n", args: []string{"quit"},
			want: "client {\"method\":\"initialize\"}\nclient {\"method\":\"x\"}\nexit 2\n"},
		{name: "nonzero exit", script: `send {"method":"fake/exit","params":{"code":3}}`, want: "exit 3\n"},
		{name: "kill leaves out what no await reached", script: emit(plan(1)) + "await update plan\nsend {\"method\":\"fake/stream\"}\nawait update plan\nkill\nrestart\nkill\n",
			want: strings.Repeat(`agent {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan",`, 1) + `"n":1}}}
agent {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}}
kill
restart
kill
`},
		{name: "names outlive a restart, lines do not", script: `send {"id":1,"method":"session/new"}
await response 1
eof
restart
send {"id":1,"method":"x","params":{"sessionId":"$session1"}}
await response 1
`, want: `client {"id":1,"method":"session/new"}
agent {"id":1,"result":{"sessionId":"$session1"}}
agent {"method":"session/update","params":{"sessionId":"$session1","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}
exit 0
restart
client {"id":1,"method":"x","params":{"sessionId":"$session1"}}
agent {"id":1,"error":{"code":-32601,"message":"method not found"}}
exit 0
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, play(t, c.script, c.args...)); diff != "" {
				t.Errorf("transcript (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	const short = "timeout 300ms\n" // only before the step that fails: the others may take their time on a slow machine
	for _, c := range []struct {
		name, script string
		args         []string
		want         []string // parts of the error
	}{
		{
			name: "an await that times out",
			script: "\n" + `send {"id":1,"method":"fake/stderr","params":{"text":"cannot reach the model"}}` + "\nawait response 1\n" +
				emit(response("2"), plan(1), plan(2)) + "await response 2\ntimeout 2s\nawait response 9\n",
			want: []string{
				"script:7: await response 9: timed out after 2s\nthe transcript ends with:\n\tclient {\"id\":1,", "\n\tagent {\"id\":2,\"result\":null}\n",
				"\nseen behind the last match:\n\tagent " + plan(1) + "\n\tagent " + plan(2) + "\n", "end of the agent's stderr:\n\tcannot reach the model",
			},
		}, {
			name: "nothing was seen", script: short + "await update plan\n",
			want: []string{"script:2: await update plan: timed out after 300ms", "the transcript ends with: nothing\n", "seen behind the last match: nothing"},
		}, {
			name: "what was missed", script: emit(plan(1), response("1")) + "await response 1\n" + short + "await update plan\n",
			want: []string{"script:4: await update plan: timed out after 300ms\na line that fits stands in the transcript already"},
		}, {
			name: "an answer without a request", script: short + "answer m {}\n",
			want: []string{"script:2: answer m {}: timed out"},
		}, {
			name: "an agent that ended", script: "await response 1\n", args: []string{"quit"},
			want: []string{"script:1: await response 1: it cannot come any more: the agent has ended (exit 2)", "fake: no such model"},
		}, {
			name: "an agent that closed its output", script: "send {\"method\":\"fake/mute\"}\nawait response 1\n",
			want: []string{"it cannot come any more: the agent has closed its output but still runs"},
		}, {
			name: "an agent that stays", script: short + "eof\n", args: []string{"ignore-eof"},
			want: []string{"script:2: eof: the agent still ran 300ms after its input was closed"},
		}, {
			name: "an agent that stays at the end", script: short, args: []string{"ignore-eof"},
			want: []string{"eof (implied by the end of the script): the agent still ran"},
		}, {
			name: "an agent that does not read", script: "send {\"method\":\"fake/deaf\"}\n" + short + "send {\"params\":\"" + strings.Repeat("x", 1<<20) + "\"}\n",
			want: []string{"script:3: send", "the agent did not read its input for 300ms"},
		}, {
			name: "junk", script: emit("Welcome!", plan(1), "\x1b[2J") + "send {\"id\":1,\"method\":\"x\"}\nawait response 1\n",
			want: []string{
				"the agent wrote what is no ACP message\nnot ACP messages:\n\tnot JSON: invalid character 'W' looking for beginning of value: \"Welcome!\"\n\tnot JSON",
			},
		}, {
			name: "junk and a failure", script: emit("Welcome!", response("1")) + "await response 1\n" + short + "await response 1\n",
			want: []string{"script:4: await response 1: timed out", "not ACP messages:\n\tnot JSON"},
		}, {
			name: "a last line without a newline", script: `send {"method":"fake/bytes","params":{"text":"{\"jsonrpc\":\"2.0\",\"method\":\"x\"}"}}`,
			want: []string{"the last line has no newline"},
		}, {
			name: "a message longer than its line", script: `padded 10 {"id":1}`,
			want: []string{"script:1: padded 10", "the message alone has 24 bytes"},
		}, {
			name: "a name too early", script: `send {"id":1,"params":"$session1"}`,
			want: []string{"script:1: send", "$session1: nothing has that name yet (names so far: $WORK)"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Run(t.Context(), config(t, c.script, c.args...))
			var failure *Error
			if !errors.As(err, &failure) {
				t.Fatalf("error %v", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error without %q:\n%v", part, err)
				}
			}
		})
	}
}

func TestUnusable(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "no command"},
		{Config{Command: []string{"x"}, Script: []byte("oops")}, "script:1"},
		{Config{Command: []string{"no-such-agent"}, Env: []string{"PATH=/nowhere"}}, "start: no-such-agent: executable file not found in $PATH (PATH=/nowhere)"},
		{Config{Command: []string{"./no-such-agent"}}, "start: "},
	} {
		_, err := Run(t.Context(), c.cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func TestContext(t *testing.T) {
	cause := errors.New("the test is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
	_, err := Run(ctx, config(t, "await response 1\n"))
	if !errors.Is(err, cause) {
		t.Errorf("error %v", err)
	}
}

// A process that the agent left behind must neither keep the play from ending nor live on.
func TestGrandchild(t *testing.T) {
	for _, end := range []string{"eof\n", "kill\n"} {
		began := time.Now()
		r, err := Run(t.Context(), config(t, "send {\"id\":1,\"method\":\"fake/child\"}\nawait response 1\n"+end))
		if err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d > DefaultTimeout {
			t.Errorf("the play took %s", d)
		}
		var pid int
		if _, err := fmt.Sscanf(string(r.Lines[1].Message), `{"id":1,"result":%d}`, &pid); err != nil {
			t.Fatal(err)
		}
		gone(t, pid)
	}
}

// TestNames: a caller's own names are checked before anything is started.
func TestNames(t *testing.T) {
	for name, value := range map[string]string{"WORK": "x", "url": "x", "": "x", "A-B": "x", "URL": ""} {
		if _, err := Run(t.Context(), Config{Command: []string{"nothing"}, Script: []byte("eof\n"), Names: map[string]string{name: value}}); err == nil || !strings.Contains(err.Error(), "is no name for") {
			t.Errorf("%q for %q: %v", name, value, err)
		}
	}
}
