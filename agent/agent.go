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
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/acpkit/acpkit/agent/internal/config"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/model/openai"
	"github.com/acpkit/acpkit/agent/internal/sandbox"
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
	// Preset is the permission preset of new sessions: read-only,
	// workspace-write, which is the default, or danger-full-access. It must be
	// the user's own word, as a flag is: the agent looks for none elsewhere.
	Preset string
	// Checker asks providers over the network, for CheckProvider and Diagnose
	// only; nil means that they do not.
	Checker Checker
	// NoPersist keeps sessions in memory: nothing is written, and what is closed
	// is gone.
	NoPersist bool
	// Launcher is a command that ends up in Launch: the program itself and a word.
	// Without it commands are confined by bubblewrap or not at all.
	Launcher []string
	// NewID makes session ids; default random UUIDs.
	NewID func() string
	// Logger gets diagnostics; default none.
	Logger *slog.Logger
}

// Agent is a configured agent; Serve may be called for several connections.
type Agent struct {
	conf      Config
	warned    sync.Map // configuration warnings already logged
	store     func() (ledger.Store, error)
	sandbox   *sandbox.Sandbox
	transport func() *http.Transport // shared by all sessions, made when the first model is opened
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
	a := &Agent{conf: c, sandbox: sandbox.New(sandbox.Config{Launcher: c.Launcher})}
	if c.Checker == nil {
		a.conf.Checker = online{a}
	}
	a.store = sync.OnceValues(a.openStore)
	a.transport = sync.OnceValue(func() *http.Transport { return openai.NewTransport(openai.Limits{}) })
	return a
}

// openStore finds the folder of the sessions; it touches nothing there.
func (a *Agent) openStore() (ledger.Store, error) {
	o := ledger.Options{Fold: session.Fold, Logger: a.conf.Logger}
	if a.conf.NoPersist {
		return ledger.Memory(o), nil
	}
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	return ledger.Files(filepath.Join(home, "acp"), o), nil
}

// home is the folder of the user's files.
func (a *Agent) home() (string, error) {
	if a.conf.Home != "" {
		return a.conf.Home, nil
	}
	return config.HomeDir(a.conf.Getenv)
}

// connection is the agent's side of one connection.
type connection struct {
	*Agent
	conn     *rpc.Conn
	client   reasonix.Client // of conn
	handlers reasonix.AgentHandlers
	sessions session.Registry
	pages    pages
	host     atomic.Pointer[acp.ClientSessionCapabilities] // as initialize said; nil: nothing
}

// Serve answers the host at the other end of in and out until in ends. It
// returns nil at the end of in: running turns are then cancelled and answered.
func (a *Agent) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	c := &connection{Agent: a}
	c.handlers = reasonix.AgentHandlers{
		Initialize:             c.initialize,
		Authenticate:           c.authenticate,
		SessionNew:             c.sessionNew,
		SessionLoad:            c.sessionLoad,
		SessionResume:          c.sessionResume,
		SessionList:            c.sessionList,
		SessionClose:           c.sessionClose,
		SessionDelete:          c.sessionDelete,
		SessionPrompt:          c.sessionPrompt,
		SessionCancel:          c.sessionCancel,
		SessionSetMode:         c.sessionSetMode,
		SessionSetConfigOption: c.sessionSetConfigOption,
		SessionSetModel:        c.sessionSetModel,
		ReasonixSessionStatus:  c.reasonixSessionStatus,
	}
	c.conn = rpc.New(in, out, rpc.Config{Handler: c.handle, Key: orderKey, Inline: takesEffectAtOnce, Logger: a.conf.Logger})
	c.client = reasonix.Client{Caller: c.conn}
	err := c.conn.Run(ctx)
	for _, s := range c.sessions.All() {
		s.Shell.Close()
		if lost := s.Log.Close(); lost != nil {
			a.conf.Logger.Error("a session could not be saved", "session", s.ID, "error", lost)
		}
	}
	return err
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

// orderKey keeps what is said about a session in wire order, so that a cancel
// right behind a prompt always ends it. A question about its status is answered
// at once, whatever is going on.
func orderKey(method string, params json.RawMessage) string {
	switch method {
	case acp.MethodSessionPrompt, acp.MethodSessionCancel, acp.MethodSessionLoad, acp.MethodSessionResume, acp.MethodSessionClose,
		acp.MethodSessionDelete, acp.MethodSessionSetMode, acp.MethodSessionSetConfigOption, reasonix.MethodSessionSetModel:
		return rpc.Member(params, "sessionId")
	}
	return ""
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
