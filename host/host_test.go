package host_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
	"github.com/acpkit/acpkit/rpc"
)

// fake is an agent that does what a test tells it.
type fake struct {
	version acp.ProtocolVersion
	name    string
	early   bool // sends an update before the session exists
	prompt  func(ctx context.Context, c acp.Client, p *acp.PromptRequest) (*acp.PromptResponse, error)
}

func serve(in io.Reader, out io.Writer, f fake) error {
	var c acp.Client
	h := acp.AgentHandlers{
		Initialize: func(_ context.Context, p *acp.InitializeRequest) (*acp.InitializeResponse, error) {
			return &acp.InitializeResponse{ProtocolVersion: 1 + f.version, AgentInfo: &acp.Implementation{Name: f.name, Version: "0"}}, nil
		},
		SessionNew: func(ctx context.Context, p *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
			if f.early {
				_ = c.SessionUpdate(ctx, message("s", "early"))
			}
			return &acp.NewSessionResponse{SessionID: "s"}, nil
		},
		SessionPrompt: func(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
			rpc.Admitted(ctx)
			if f.prompt != nil {
				return f.prompt(ctx, c, p)
			}
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
		},
		SessionCancel: func(context.Context, *acp.CancelNotification) error { return nil },
	}
	conn := rpc.New(in, out, rpc.Config{Handler: func(ctx context.Context, r *rpc.Request) (rpc.Appender, error) {
		return h.Handle(ctx, r.Method, r.ID == "", r.Params)
	}})
	c = acp.Client{Caller: conn}
	return conn.Run(context.Background())
}

func message(id acp.SessionID, text string) *acp.SessionNotification {
	return &acp.SessionNotification{SessionID: id, Update: &acp.SessionUpdateAgentMessageChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: text}}}}
}

// connect runs the fake behind real pipes.
func connect(t *testing.T, f fake, c host.Config) *host.Host {
	t.Helper()
	agentIn, hostOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	hostIn, agentOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = serve(agentIn, agentOut, f)
		agentOut.Close()
		agentIn.Close()
	}()
	h := host.Connect(hostIn, hostOut, c)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		<-ended
		hostIn.Close()
	})
	return h
}

func session(t *testing.T, h *host.Host) *host.Session {
	t.Helper()
	if _, err := h.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := h.NewSession(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPromptCollectsEverythingInOrder(t *testing.T) {
	const n = 20000
	var want strings.Builder
	for i := range n {
		fmt.Fprintf(&want, "%d ", i)
	}
	seen := 0
	h := connect(t, fake{early: true, prompt: func(ctx context.Context, c acp.Client, p *acp.PromptRequest) (*acp.PromptResponse, error) {
		for i := range n {
			if err := c.SessionUpdate(ctx, message(p.SessionID, fmt.Sprintf("%d ", i))); err != nil {
				return nil, err
			}
		}
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}}, host.Config{Handlers: acp.ClientHandlers{SessionUpdate: func(context.Context, *acp.SessionNotification) error { seen++; return nil }}})
	turn, err := session(t, h).Prompt(t.Context(), "count")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), turn.Text()); diff != "" || turn.StopReason != acp.StopReasonEndTurn {
		t.Errorf("%s, %d bytes differ", turn.StopReason, len(diff))
	}
	if seen != n+1 { // the early one too
		t.Errorf("the handler saw %d of %d updates", seen, n+1)
	}
}

// askFirst is a turn that asks for permission and says what it was told.
func askFirst(ctx context.Context, c acp.Client, p *acp.PromptRequest) (*acp.PromptResponse, error) {
	res, err := c.SessionRequestPermission(ctx, &acp.RequestPermissionRequest{SessionID: p.SessionID, ToolCall: acp.ToolCallUpdate{ToolCallID: "c"},
		Options: []acp.PermissionOption{{OptionID: "y", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}, {OptionID: "n", Name: "No", Kind: acp.PermissionOptionKindRejectOnce}}})
	if err != nil {
		return nil, err
	}
	if o, ok := res.Outcome.(*acp.SelectedPermissionOutcome); ok {
		_ = c.SessionUpdate(ctx, message(p.SessionID, string(o.OptionID)))
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
}

func TestPermissionIsRefusedByDefault(t *testing.T) {
	turn, err := session(t, connect(t, fake{prompt: askFirst}, host.Config{})).Prompt(t.Context(), "x")
	if err != nil || turn.Text() != "n" {
		t.Errorf("got %v, %v", turn, err)
	}
}

func TestPermissionIsTheHandlers(t *testing.T) {
	allow := func(_ context.Context, r *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		return host.Choose(r, acp.PermissionOptionKindAllowAlways, acp.PermissionOptionKindAllowOnce), nil
	}
	turn, err := session(t, connect(t, fake{prompt: askFirst}, host.Config{Handlers: acp.ClientHandlers{SessionRequestPermission: allow}})).Prompt(t.Context(), "x")
	if err != nil || turn.Text() != "y" {
		t.Errorf("got %v, %v", turn, err)
	}
}

// TestCancelAnswersOpenQuestions: a cancelled prompt's permission request gets
// the outcome cancelled, though the user has said nothing.
//
// BL-041: what stands on the wire is in TestStopWithAnOpenQuestion.
func TestCancelAnswersOpenQuestions(t *testing.T) {
	asked := make(chan struct{})
	never := func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s := session(t, connect(t, fake{prompt: askFirst}, host.Config{Handlers: acp.ClientHandlers{SessionRequestPermission: never}}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	turn, err := s.Prompt(ctx, "x")
	if err != nil || turn.StopReason != acp.StopReasonCancelled {
		t.Errorf("got %+v, %v", turn, err)
	}
	if _, err := s.Prompt(ctx, "again"); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended before gives %v", err)
	}
}

func TestTwoPromptsAtOnce(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	s := session(t, connect(t, fake{prompt: func(context.Context, acp.Client, *acp.PromptRequest) (*acp.PromptResponse, error) {
		close(started)
		<-release
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}}, host.Config{}))
	first := make(chan error, 1)
	go func() { _, err := s.Prompt(t.Context(), "1"); first <- err }()
	<-started
	if _, err := s.Prompt(t.Context(), "2"); err == nil || !strings.Contains(err.Error(), "running prompt") {
		t.Errorf("the second prompt: %v", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestOtherVersionIsAnError(t *testing.T) {
	h := connect(t, fake{version: 8}, host.Config{})
	if _, err := h.Initialize(t.Context()); err == nil || !strings.Contains(err.Error(), "version 9") {
		t.Errorf("got %v", err)
	}
}

func TestErrorAnswersKeepTheirCode(t *testing.T) {
	s := session(t, connect(t, fake{prompt: func(context.Context, acp.Client, *acp.PromptRequest) (*acp.PromptResponse, error) {
		return nil, &acp.Error{Code: acp.ErrorCodeInternalError, Message: "session/prompt: no luck"}
	}}, host.Config{}))
	_, err := s.Prompt(t.Context(), "x")
	var e *acp.Error
	if !errors.As(err, &e) || e.Code != acp.ErrorCodeInternalError || e.Message != "session/prompt: no luck" {
		t.Errorf("got %v", err)
	}
}

// TestChoose: BL-059. An answer goes by the kind of an option, never by its place;
// without an option of the wanted kind the answer is `cancelled`.
func TestChoose(t *testing.T) {
	option := func(id string, kind acp.PermissionOptionKind) acp.PermissionOption {
		return acp.PermissionOption{OptionID: acp.PermissionOptionID(id), Name: id, Kind: kind}
	}
	allow, reject, odd := option("yes", acp.PermissionOptionKindAllowOnce), option("no", acp.PermissionOptionKindRejectOnce), option("hm", "allow_for_now")
	for name, c := range map[string]struct {
		options []acp.PermissionOption
		want    string // "" is cancelled
	}{
		"reject last":   {[]acp.PermissionOption{allow, odd, reject}, "no"},
		"reject first":  {[]acp.PermissionOption{reject, odd, allow}, "no"},
		"none":          {nil, ""},
		"unknown kinds": {[]acp.PermissionOption{odd}, ""},
		"only allowing": {[]acp.PermissionOption{allow}, ""},
	} {
		got := ""
		res := host.Choose(&acp.RequestPermissionRequest{Options: c.options}, acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways)
		if o, ok := res.Outcome.(*acp.SelectedPermissionOutcome); ok {
			got = string(o.OptionID)
		}
		if got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
