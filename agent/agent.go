// Package agent is the reasonix coding agent: it answers the protocol's
// methods, one file each, and leaves the work to the packages below internal,
// which know no JSON-RPC and no protocol version. What it advertises is read
// off the handlers that are set.
package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/uuid"

	"github.com/acpkit/acpkit/agent/internal/config"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
	"github.com/acpkit/acpkit/rpc"
)

// Config says what the agent runs on. The zero value works.
type Config struct {
	// Home is the folder of the user's configuration; default $REASONIX_HOME,
	// else ~/.reasonix.
	Home string
	// Model is the model reference of --model: provider/model, a provider, or a
	// model id that only one provider has. "" takes the configured default.
	Model string
	// Version is what the agent calls its own version.
	Version string
	// Getenv reads the environment; default os.Getenv.
	Getenv func(string) string
	// NewID makes session ids; default random UUIDs.
	NewID func() string
	// Logger gets diagnostics; default none.
	Logger *slog.Logger
}

// Agent is a configured agent; Serve may be called for several connections.
type Agent struct {
	conf   Config
	warned sync.Map // configuration warnings already logged
}

// New returns an agent. It reads no file yet: a host gets its first answer at
// once, and a broken configuration is told where it matters, in session/new.
func New(c Config) *Agent {
	c.Version = cmp.Or(c.Version, "0.0.0")
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.NewID == nil {
		c.NewID = uuid.NewString
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Agent{conf: c}
}

// connection is the agent's side of one connection.
type connection struct {
	*Agent
	client   acp.Client
	handlers reasonix.AgentHandlers
	sessions session.Registry
}

// Serve answers the host at the other end of in and out until in ends. It
// returns nil at the end of in: running turns are then cancelled and answered.
func (a *Agent) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	c := &connection{Agent: a}
	c.handlers = reasonix.AgentHandlers{
		Initialize:    c.initialize,
		Authenticate:  c.authenticate,
		SessionNew:    c.sessionNew,
		SessionPrompt: c.sessionPrompt,
		SessionCancel: c.sessionCancel,
	}
	conn := rpc.New(in, out, rpc.Config{Handler: c.handle, Key: orderKey, Inline: takesEffectAtOnce, Logger: a.conf.Logger})
	c.client = acp.Client{Caller: conn}
	return conn.Run(ctx)
}

func (c *connection) handle(ctx context.Context, req *rpc.Request) (rpc.Appender, error) {
	if req.Method == acp.MethodInitialize {
		req.Params = tolerant(req.Params)
	}
	return c.handlers.Handle(ctx, req.Method, req.ID == "", req.Params)
}

// takesEffectAtOnce: a host that cancels answers its open permission requests
// right behind the cancel, and such an answer must find the turn cancelled.
func takesEffectAtOnce(method string) bool { return method == acp.MethodSessionCancel }

// orderKey keeps a session's prompt and cancel in wire order, so that a cancel
// right behind a prompt always ends it.
func orderKey(method string, params json.RawMessage) string {
	if method != acp.MethodSessionPrompt && method != acp.MethodSessionCancel {
		return ""
	}
	return rpc.Member(params, "sessionId")
}

// load reads the configuration for a workspace. Warnings are logged once.
func (a *Agent) load(project string) (*config.Config, error) {
	conf, err := config.Load(config.Options{Home: a.conf.Home, Project: project, Getenv: a.conf.Getenv})
	if err != nil {
		a.conf.Logger.Error("configuration", "error", err)
		return nil, err
	}
	for _, w := range conf.Warnings {
		if _, again := a.warned.LoadOrStore(w, true); !again {
			a.conf.Logger.Warn(w)
		}
	}
	return conf, nil
}

// isDir reports why path cannot be a workspace, "" when it can.
func isDir(path string) string {
	if !filepath.IsAbs(path) {
		return "is not an absolute path"
	}
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		return "does not exist"
	case err != nil:
		return "cannot be read: " + err.Error()
	case !info.IsDir():
		return "is a file, not a directory"
	}
	return ""
}
