package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/acpkit/acpkit/conformance"
	"github.com/acpkit/acpkit/conformance/internal/fakeagent"
)

// The test binary is also the agent.
func TestMain(m *testing.M) {
	if os.Getenv("FAKE_AGENT") != "" {
		os.Exit(fakeagent.Main(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// fake is a play against the fake agent in a fresh directory.
func fake(t *testing.T, script string, args ...string) conformance.PlayConfig {
	return conformance.PlayConfig{
		Command: append([]string{os.Args[0]}, args...),
		Dir:     t.TempDir(),
		Env:     append(os.Environ(), "FAKE_AGENT=1", "GORACE=atexit_sleep_ms=0"),
		Script:  []byte(script),
	}
}

const turnScript = `# one turn with a permission request
send {"id":1,"method":"initialize","params":{"protocolVersion":1}}
await response 1
send {"id":2,"method":"session/new","params":{"cwd":"$WORK","mcpServers":[]}}
await response 2
send {"id":3,"method":"session/prompt","params":{"sessionId":"$session1","prompt":[{"type":"text","text":"Hi"}]}}
await request session/request_permission {"sessionId":"$session1"}
send {"id":4,"method":"nope"}
await response 4
answer session/request_permission {"outcome":{"outcome":"selected","optionId":"allow"}}
await response 3
`

const turnTranscript = `client {"id":1,"method":"initialize","params":{"protocolVersion":1}}
agent {"id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"fake","version":"$version"}}}
client {"id":2,"method":"session/new","params":{"cwd":"$WORK","mcpServers":[]}}
agent {"id":2,"result":{"sessionId":"$session1"}}
client {"id":3,"method":"session/prompt","params":{"sessionId":"$session1","prompt":[{"type":"text","text":"Hi"}]}}
agent {"method":"session/update","params":{"sessionId":"$session1","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}
agent {"method":"session/update","params":{"sessionId":"$session1","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Let me think about that."},"messageId":"$message1"}}}
agent {"method":"session/update","params":{"sessionId":"$session1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I shall ask: may I? It is $time — très tôt."},"messageId":"$message2"}}}
agent {"method":"session/update","params":{"sessionId":"$session1","update":{"sessionUpdate":"tool_call","toolCallId":"call_$id1","title":"Read $WORK/a.txt","status":"pending"}}}
agent {"id":1,"method":"session/request_permission","params":{"sessionId":"$session1","toolCall":{"toolCallId":"call_$id1"}}}
client {"id":4,"method":"nope"}
agent {"id":4,"error":{"code":-32601,"message":"method not found"}}
client {"id":1,"result":{"outcome":{"outcome":"selected","optionId":"allow"}}}
agent {"method":"session/update","params":{"sessionId":"$session1","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_$id1","rawOutput":{"outcome":{"outcome":"selected","optionId":"allow"}}}}}
agent {"id":3,"result":{"stopReason":"end_turn"}}
exit 0
`

// The agent cuts its text at random places and writes with random delays; the transcript must not show it.
func TestPlayIsDeterministic(t *testing.T) {
	for i := range 50 {
		got, err := conformance.Play(t.Context(), fake(t, turnScript, "jitter"))
		if err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
		if diff := cmp.Diff(turnTranscript, string(got.Bytes())); diff != "" {
			t.Fatalf("run %d: transcript (-want +got):\n%s", i, diff)
		}
	}
}

func TestParseTranscript(t *testing.T) {
	lines, err := conformance.ParseTranscript([]byte(turnTranscript))
	if err != nil {
		t.Fatal(err)
	}
	if got := string((&conformance.Transcript{Lines: lines}).Bytes()); got != turnTranscript {
		t.Errorf("written again:\n%s", got)
	}
	var answer struct{ Result struct{ StopReason string } }
	last := lines[len(lines)-2]
	if err := json.Unmarshal(last.Message, &answer); err != nil || last.From != conformance.Agent || answer.Result.StopReason != "end_turn" {
		t.Errorf("the answer to the prompt: %+v, %v", last, err)
	}
	if end := lines[len(lines)-1]; end.Kind != conformance.KindExit || end.Text != "0" {
		t.Errorf("the end: %+v", end)
	}
	if _, err := conformance.ParseTranscript([]byte("agent oops\n")); err == nil {
		t.Error("junk is accepted")
	}
}

func TestPlayErrors(t *testing.T) {
	got, err := conformance.Play(t.Context(), fake(t, "send {oops"))
	if got != nil || err == nil || !strings.HasPrefix(err.Error(), "script:1: ") {
		t.Errorf("a wrong script: %v, %v", got, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err = conformance.Play(ctx, fake(t, "send {\"id\":1,\"method\":\"fake/hang\"}\nawait response 1\n"))
	var failure *conformance.PlayError
	if !errors.As(err, &failure) || !errors.Is(err, context.Canceled) || got == nil {
		t.Errorf("a cancelled play: %v, %v", got, err)
	}

	got, err = conformance.Play(t.Context(), fake(t, `send {"method":"fake/emit","params":{"lines":["Hello!"]}}`))
	if !errors.As(err, &failure) || len(failure.Faults) != 1 || !strings.Contains(string(got.Bytes()), "agent raw \"Hello!\"\nexit 0\n") {
		t.Errorf("junk: %v\n%s", err, got.Bytes())
	}
}

// A line of some mebibytes crosses as any other.
func TestPlayBigLine(t *testing.T) {
	got, err := conformance.Play(t.Context(), fake(t, "send {\"id\":1,\"method\":\"fake/big\",\"params\":{\"size\":8388608}}\nawait response 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Lines[1].Message); n != 8<<20+len(`{"id":1,"result":""}`) {
		t.Errorf("%d bytes", n)
	}
}
