//go:build interop

package interop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

// goHost is our host with an agent on the TypeScript SDK.
type goHost struct {
	*host.Process
	place
	session *host.Session
	updates atomic.Int64 // that Handlers.SessionUpdate got
	letters atomic.Int64 // of the agent's text among them
	stderr  strings.Builder
}

type permissionFunc = func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error)

func newGoHost(t *testing.T, permission permissionFunc) *goHost {
	t.Helper()
	h := &goHost{place: newPlace(t)}
	ctx, cancel := context.WithTimeout(context.Background(), limit) // the process outlives t.Context, which ends before cleanups
	t.Cleanup(cancel)
	command := host.Command{Args: h.recorded(nodeProgram(t), abs(t, "ts/agent.mjs")), Dir: h.workspace, Env: h.env(), Stderr: &h.stderr}
	var err error
	h.Process, err = host.Launch(ctx, command, host.Config{Handlers: acp.ClientHandlers{
		SessionUpdate: func(_ context.Context, n *acp.SessionNotification) error {
			h.updates.Add(1)
			h.letters.Add(int64(len((&host.Turn{Updates: []acp.SessionUpdate{n.Update}}).Text())))
			return nil
		},
		SessionRequestPermission: permission,
		FSReadTextFile:           readTextFile,
		FSWriteTextFile:          writeTextFile,
	}})
	if err != nil {
		t.Fatal(err)
	}
	init, err := h.Initialize(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if name := init.AgentInfo.Name; name != "interop-ts-agent" {
		t.Errorf("the agent's name is %q", name)
	}
	if h.session, err = h.NewSession(ctx, h.workspace); err != nil {
		t.Fatal(err)
	}
	return h
}

func readTextFile(_ context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	data, err := os.ReadFile(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &acp.Error{Code: acp.ErrorCodeResourceNotFound, Message: err.Error()}
	}
	return &acp.ReadTextFileResponse{Content: string(data)}, err
}

func writeTextFile(_ context.Context, p *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return &acp.WriteTextFileResponse{}, os.WriteFile(p.Path, []byte(p.Content), 0o666)
}

// note is what note.txt holds, "" when there is none.
func (h *goHost) note() string {
	data, _ := os.ReadFile(filepath.Join(h.workspace, "note.txt"))
	return string(data)
}

// prompt runs one turn and returns what it showed.
func (h *goHost) prompt(ctx context.Context, t *testing.T, text string) goTurn {
	t.Helper()
	before, letters := h.updates.Load(), h.letters.Load()
	turn, err := h.session.Prompt(ctx, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	// The turn joins the pieces of a text.
	if n := h.updates.Load() - before; n < int64(len(turn.Updates)) || h.letters.Load()-letters != int64(len(turn.Text())) {
		t.Errorf("%s: SessionUpdate was called %d times, the turn has %d updates; %d and %d letters", text, n, len(turn.Updates), h.letters.Load()-letters, len(turn.Text()))
	}
	return goTurn{turn.StopReason, turn.Text(), shown(turn.Updates), h.note()}
}

// end ends the agent and judges what crossed.
func (h *goHost) end(t *testing.T) {
	t.Helper()
	if err := h.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	if h.stderr.Len() > 0 {
		t.Errorf("the TypeScript SDK complained:\n%s", h.stderr.String())
	}
	h.judged(t)
}

// goTurn is a turn in the words that the tests compare.
type goTurn struct {
	StopReason acp.StopReason
	Text       string
	Shown      []string // the other updates; those that follow each other and are equal stand once
	Note       string
}

// shown tells the updates but for the text.
func shown(updates []acp.SessionUpdate) (list []string) {
	for _, u := range updates {
		var s string
		switch u := u.(type) {
		case *acp.SessionUpdateAgentMessageChunk:
			continue
		case *acp.SessionUpdateAgentThoughtChunk:
			s = "thought"
		case *acp.Plan:
			s = fmt.Sprintf("plan %s %s", u.Entries[0].Priority, u.Entries[0].Status)
		case *acp.ToolCall:
			s = fmt.Sprintf("call %s %s%s", *u.Kind, *u.Status, contents(u.Content))
		case *acp.ToolCallUpdate:
			s = fmt.Sprintf("call %s%s", *u.Status, contents(u.Content))
		default:
			s = fmt.Sprintf("%T", u)
		}
		if n := len(list); n == 0 || list[n-1] != s {
			list = append(list, s)
		}
	}
	return list
}

func contents(all []acp.ToolCallContent) (s string) {
	for _, c := range all {
		switch c := c.(type) {
		case *acp.Diff:
			s += fmt.Sprintf(", diff to %q", c.NewText)
		case *acp.Content:
			s += fmt.Sprintf(", %q", c.Content.(*acp.TextContent).Text)
		default:
			s += fmt.Sprintf(", %T", c)
		}
	}
	return s
}

// asked are the updates of a turn that asks for permission, up to the question.
func asked(note string) []string {
	return []string{"thought", "plan high in_progress", fmt.Sprintf("call edit pending, diff to %q", note)}
}

// TestTypeScriptAgent drives an agent on the TypeScript SDK with our host package: a turn that is allowed, one that is
// refused, and a host that serves files and answers what it cannot do with the right codes.
func TestTypeScriptAgent(t *testing.T) {
	t.Parallel()
	kind := acp.PermissionOptionKindAllowOnce
	h := newGoHost(t, func(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		return host.Choose(req, kind), nil
	})
	const text = "one\ttwo “three” 🙂\nfour"
	for _, c := range []struct {
		answer acp.PermissionOptionKind
		prompt string
		want   goTurn
	}{
		{acp.PermissionOptionKindRejectOnce, "write " + text, goTurn{acp.StopReasonEndTurn, "I ask first. It was refused.", append(asked(text), `call failed, "refused"`), ""}},
		{acp.PermissionOptionKindAllowOnce, "write " + text, goTurn{acp.StopReasonEndTurn, "I ask first. It is written.", append(asked(text), "call in_progress",
			fmt.Sprintf("call completed, diff to %q, %q", text, "23 characters"), "plan high completed"), text}},
		{"", "probe", goTurn{acp.StopReasonEndTurn, "unknown method -32601, missing file -32002, no terminals -32601", nil, text}},
	} {
		kind = c.answer
		if d := cmp.Diff(c.want, h.prompt(t.Context(), t, c.prompt)); d != "" {
			t.Errorf("%s, %s (-want +got):\n%s", c.prompt, c.answer, d)
		}
	}
	h.end(t)
}

// TestTypeScriptAgentBurst: no chunk is lost, however fast they come, and none comes after its turn.
func TestTypeScriptAgentBurst(t *testing.T) {
	t.Parallel()
	h := newGoHost(t, nil)
	var want strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&want, "%d ", n)
	}
	for range 2 {
		if d := cmp.Diff(goTurn{acp.StopReasonEndTurn, want.String(), nil, ""}, h.prompt(t.Context(), t, "burst")); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	h.end(t)
}

// TestTypeScriptAgentCancel cancels a turn that streams, by ending its context, and the session goes on.
func TestTypeScriptAgentCancel(t *testing.T) {
	t.Parallel()
	h := newGoHost(t, nil) // which refuses
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for h.updates.Load() == 0 && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	got := h.prompt(ctx, t, "slow")
	if !strings.HasPrefix(got.Text, "1 ") {
		t.Errorf("the text is %q", got.Text)
	}
	got.Text = "" // how far it came is chance
	if d := cmp.Diff(goTurn{StopReason: acp.StopReasonCancelled}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	want := goTurn{acp.StopReasonEndTurn, "I ask first. It was refused.", append(asked("x"), `call failed, "refused"`), ""}
	if d := cmp.Diff(want, h.prompt(t.Context(), t, "write x")); d != "" {
		t.Errorf("after the cancellation (-want +got):\n%s", d)
	}
	h.end(t)
}

// TestTypeScriptAgentCancelPermission cancels a turn while its question is open. The host answers `cancelled` by itself.
func TestTypeScriptAgentCancelPermission(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	h := newGoHost(t, func(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		close(open)
		<-ctx.Done()                                                    // a user who does not answer
		return host.Choose(req, acp.PermissionOptionKindAllowOnce), nil // and then does, too late
	})
	go func() {
		<-open
		if err := h.session.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	want := goTurn{acp.StopReasonCancelled, "I ask first. ", append(asked("x"), `call failed, "cancelled"`), ""}
	if d := cmp.Diff(want, h.prompt(t.Context(), t, "write x")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	h.end(t)
}
