package bench

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
	"github.com/acpkit/acpkit/rpc"
)

// The do-nothing agents and hosts that are compared, each written as its
// library wants it.

// agents start an agent whose prompt streams chunks pieces of 16 bytes, one
// notification each. What they return waits for its end.
var agents = []struct {
	side  string
	start func(r io.Reader, w io.Writer, chunks int) (wait func())
}{{"ours", ourAgent}, {"sdk", sdkAgent}}

const piece = "sixteen letters!"

func ourAgent(r io.Reader, w io.Writer, chunks int) (wait func()) {
	var client acp.Client
	handlers := acp.AgentHandlers{
		Initialize: func(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
			return &acp.InitializeResponse{ProtocolVersion: acp.Version}, nil
		},
		SessionNew: func(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
			return &acp.NewSessionResponse{SessionID: session}, nil
		},
		SessionSetMode: func(context.Context, *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
			return &acp.SetSessionModeResponse{}, nil
		},
		SessionPrompt: func(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
			for range chunks {
				text := acp.ContentChunk{Content: &acp.TextContent{Text: piece}}
				if err := client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: p.SessionID, Update: &acp.SessionUpdateAgentMessageChunk{ContentChunk: text}}); err != nil {
					return nil, err
				}
			}
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
		},
	}
	conn := rpc.New(r, w, rpc.Config{Handler: func(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
		return handlers.Handle(ctx, req.Method, req.ID == "", req.Params)
	}})
	client.Caller = conn
	var running sync.WaitGroup
	running.Go(func() { _ = conn.Run(context.Background()) })
	return running.Wait
}

type sdkAgentSide struct {
	sdk.Agent // for the methods that nothing here calls
	conn      *sdk.AgentSideConnection
	chunks    int
}

func sdkAgent(r io.Reader, w io.Writer, chunks int) (wait func()) {
	a := &sdkAgentSide{chunks: chunks}
	// Its goroutines read conn only after the first request.
	a.conn = sdk.NewAgentSideConnection(a, w, r)
	a.conn.SetLogger(quiet)
	return func() { <-a.conn.Done() }
}

func (a *sdkAgentSide) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber}, nil
}

func (a *sdkAgentSide) NewSession(context.Context, sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	return sdk.NewSessionResponse{SessionId: session}, nil
}

func (a *sdkAgentSide) SetSessionMode(context.Context, sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	return sdk.SetSessionModeResponse{}, nil
}

func (a *sdkAgentSide) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	for range a.chunks {
		if err := a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: p.SessionId, Update: sdk.UpdateAgentMessageText(piece)}); err != nil {
			return sdk.PromptResponse{}, err
		}
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
}

// floor answers every line with the same bytes.
func floor(r io.Reader, w io.Writer) (wait func()) {
	var running sync.WaitGroup
	running.Go(func() {
		for in := bufio.NewReader(r); ; {
			if _, err := in.ReadSlice('\n'); err != nil {
				return
			}
			if _, err := io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n"); err != nil {
				return
			}
		}
	})
	return running.Wait
}

// client is a host with an open session.
type client struct {
	prompt  func() error // returns when the turn has ended
	setMode func() error
	wait    func() // until the connection has ended
}

// hosts start a host and open a session. update is called for each update.
var hosts = []struct {
	side  string
	start func(r io.Reader, w io.WriteCloser, update func()) (*client, error)
}{{"ours", ourHost}, {"sdk", sdkHost}}

func ourHost(r io.Reader, w io.WriteCloser, update func()) (*client, error) {
	ctx := context.Background()
	h := host.Connect(r, w, host.Config{Handlers: acp.ClientHandlers{SessionUpdate: func(context.Context, *acp.SessionNotification) error {
		update()
		return nil
	}}})
	if _, err := h.Initialize(ctx); err != nil {
		return nil, err
	}
	s, err := h.NewSession(ctx, "/")
	if err != nil {
		return nil, err
	}
	return &client{
		prompt: func() error { _, err := s.Prompt(ctx, "go"); return err },
		setMode: func() error {
			_, err := h.Agent.SessionSetMode(ctx, &acp.SetSessionModeRequest{SessionID: session, ModeID: "code"})
			return err
		},
		wait: func() { <-h.Done() },
	}, nil
}

type sdkHostSide struct {
	sdk.Client
	update func()
}

func (c *sdkHostSide) SessionUpdate(context.Context, sdk.SessionNotification) error {
	c.update()
	return nil
}

func (*sdkHostSide) RequestPermission(context.Context, sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

func sdkHost(r io.Reader, w io.WriteCloser, update func()) (*client, error) {
	ctx := context.Background()
	conn := sdk.NewClientSideConnection(&sdkHostSide{update: update}, w, r)
	conn.SetLogger(quiet)
	if _, err := conn.Initialize(ctx, sdk.InitializeRequest{ProtocolVersion: sdk.ProtocolVersionNumber}); err != nil {
		return nil, err
	}
	if _, err := conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: "/", McpServers: []sdk.McpServer{}}); err != nil {
		return nil, err
	}
	return &client{
		prompt: func() error {
			_, err := conn.Prompt(ctx, sdk.PromptRequest{SessionId: session, Prompt: []sdk.ContentBlock{sdk.TextBlock("go")}})
			return err
		},
		setMode: func() error {
			_, err := conn.SetSessionMode(ctx, sdk.SetSessionModeRequest{SessionId: session, ModeId: "code"})
			return err
		},
		wait: func() { <-conn.Done() },
	}, nil
}

var quiet = slog.New(slog.DiscardHandler)
