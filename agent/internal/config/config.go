// Package config reads what the user and the project have configured, and
// writes the little that `reasonix setup` asks for.
//
// It knows the files config.toml (user), reasonix.toml (project) and .env
// (keys), how the first two merge, and what a model reference such as
// "deepseek/deepseek-v4-flash" means. It deliberately does not know flags,
// JSON-RPC, error codes or HTTP: callers apply flags on top, turn errors into
// wire errors, and open the connections.
//
// A project file comes with whatever repository somebody opened, so it is not
// trusted: it can choose models and add providers, but it can neither carry a
// key nor have one sent to an address that the user did not choose (merge.go),
// and it can tighten permissions and the sandbox, but not loosen them
// (confine.go).
package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/acpkit/agent/internal/permission"
)

// Names of the files, below the home and below the project.
const (
	userFile    = "config.toml"
	projectFile = "reasonix.toml"
	envFile     = ".env"
)

// Kinds of provider. KindOffline is built in and cannot be configured.
const (
	KindOpenAI   = "openai"
	KindScripted = "scripted"
	KindOffline  = "offline"
)

// The built-in provider and its one model.
const (
	OfflineProvider = "offline"
	OfflineModel    = "demo"
)

// Options says where Load looks. The zero value reads the user's own files and
// no project.
type Options struct {
	// Home is the folder of config.toml and .env; empty means HomeDir(Getenv).
	Home string
	// Project is the session's working directory; empty means no project file.
	Project string
	// Getenv reads the environment; nil means os.Getenv. It is kept, so that
	// keys are looked up when they are needed.
	Getenv func(string) string
}

// Config is the merged configuration: project over user over defaults. It holds
// no keys, so it can be printed and logged; Secret fetches them. It is read-only
// after Load and safe for concurrent use.
type Config struct {
	// Home is the absolute folder the user's files were looked for in.
	Home string
	// DefaultModel is the reference of `default_model`, unresolved; may be empty.
	DefaultModel string
	// Providers are in file order; one that the project replaces keeps its place.
	Providers []Provider
	Agent     Agent
	// Permissions are the rules of `[permissions]`; each can be read.
	Permissions permission.Rules
	Sandbox     Sandbox
	WebFetch    WebFetch
	// Warnings are complete lines, each with its file, for the caller to print
	// on stderr. Nothing in them stops the agent.
	Warnings []string

	defaultModelFrom string // "FILE, line N", for messages
	getenv           func(string) string
}

// Agent is the `[agent]` table.
type Agent struct {
	// Coalesce joins small pieces of model text; default true.
	Coalesce bool
	// MaxSteps bounds the model calls of one turn; 0 means no bound. Never negative.
	MaxSteps int
	// TaskTime and TaskTokens bound one turn too: its time, and the tokens of its
	// model calls together, read and written. 0 means no bound.
	TaskTime   time.Duration
	TaskTokens uint64
	// Retry is how long a failing model call is tried again; default 60 s.
	Retry time.Duration
}

// WebFetch is the `[web_fetch]` table, of the user's file alone.
type WebFetch struct {
	// AllowPrivate are hosts that may have an address that is not public.
	AllowPrivate []string
}

// Provider is one `[[providers]]` entry.
type Provider struct {
	// Name is unique, at most 256 bytes, without slash, space or control characters.
	Name string
	Kind string
	// BaseURL is an http or https URL without credentials; empty unless Kind is
	// KindOpenAI.
	BaseURL string
	// Models are the ids it offers, without duplicates. Empty means that any id
	// is accepted after the provider's name.
	Models []string
	// Default is the model a bare provider name means; empty means Models[0].
	Default string
	// Efforts are the levels of reasoning effort of its models, as `efforts`
	// lists them; see Config.Efforts.
	Efforts []string
	// APIKeyEnv names the variable with the key, for Config.Secret. It is empty
	// when no key is needed, and when the key is withheld from a project's provider.
	APIKeyEnv string
	// Window is how many tokens its models can have before them, as `context_window`
	// says; see Config.Window. MaxOutput bounds the tokens of one answer; 0 leaves
	// that to the provider.
	Window, MaxOutput int
	// Idle is how long a stream may be silent before it is given up; 0 is the default of the client.
	Idle time.Duration
	// ExtraBody is added to each request: JSON by member name. Members that are ours
	// are not in it.
	ExtraBody map[string]json.RawMessage
	// File is the absolute path of the script; empty unless Kind is KindScripted.
	File string
	// Headers are sent with each request. Their values may be confidential.
	Headers map[string]Secret
	// Source is the file that defines it; empty for the built-in one.
	Source string

	line     int
	withheld string // the variable a project asked for and does not get
}

// HomeDir is the folder of the user's files: $REASONIX_HOME, else ~/.reasonix.
// A leading "~/" is expanded, because editors pass variables without a shell.
// The result is absolute; the folder need not exist. It fails only when neither
// variable nor home directory is known.
func HomeDir(getenv func(string) string) (string, error) {
	if getenv == nil {
		getenv = os.Getenv
	}
	dir := getenv("REASONIX_HOME")
	if dir != "" && dir != "~" && !strings.HasPrefix(dir, "~/") {
		return filepath.Abs(dir)
	}
	home := userHome(getenv)
	if home == "" {
		return "", errors.New("config: no home directory is known; set REASONIX_HOME to a folder")
	}
	if dir == "" {
		dir = "~/.reasonix"
	}
	return filepath.Abs(filepath.Join(home, strings.TrimPrefix(dir, "~")))
}

func userHome(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return getenv("USERPROFILE")
	}
	return getenv("HOME")
}

// Load reads the user's and the project's file and merges them. Files that do
// not exist count as empty.
//
// The error, if any, is a *FileError: a file that cannot be read, is larger than
// 1 MiB, is not UTF-8 or not TOML, or a key whose value cannot be used. Unknown
// keys only warn: the same files configure other programs too.
func Load(o Options) (*Config, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	home, err := absHome(o)
	if err != nil {
		return nil, err
	}
	user, err := readLayer(filepath.Join(home, userFile))
	if err != nil {
		return nil, err
	}
	project := &layer{}
	if o.Project != "" {
		dir, err := filepath.Abs(o.Project)
		if err != nil {
			return nil, err
		}
		if project, err = readLayer(filepath.Join(dir, projectFile)); err != nil {
			return nil, err
		}
	}
	c := merge(home, user, project)
	c.getenv = o.Getenv
	for i, dir := range c.Sandbox.Write {
		if below, ok := strings.CutPrefix(dir, "~/"); ok && userHome(o.Getenv) != "" { // else it stays, and exists nowhere
			c.Sandbox.Write[i] = filepath.Join(userHome(o.Getenv), below)
		}
	}
	return c, nil
}

func absHome(o Options) (string, error) {
	if o.Home == "" {
		return HomeDir(o.Getenv)
	}
	return filepath.Abs(o.Home)
}

// Provider finds a provider by name, the built-in one included.
func (c *Config) Provider(name string) (Provider, bool) {
	if name == OfflineProvider {
		return Provider{
			Name: OfflineProvider, Kind: KindOffline,
			Models: []string{OfflineModel}, Default: OfflineModel,
		}, true
	}
	i := slices.IndexFunc(c.Providers, func(p Provider) bool { return p.Name == name })
	if i < 0 {
		return Provider{}, false
	}
	return c.Providers[i], true
}

// Models lists what the configured providers offer, in file order. The built-in
// model is not among them, and a provider without `models` contributes only its
// default, if it has one.
func (c *Config) Models() []Model {
	var all []Model
	for _, p := range c.Providers {
		for _, id := range p.known() {
			all = append(all, Model{Provider: p.Name, ID: id})
		}
	}
	return all
}

// known lists the ids the provider names itself.
func (p Provider) known() []string {
	if len(p.Models) == 0 && p.Default != "" {
		return []string{p.Default}
	}
	return p.Models
}

// Efforts lists the levels of reasoning effort of a model: those of the
// provider's `efforts`, else what is known of DeepSeek's V4 models, else none.
func (c *Config) Efforts(m Model) []string {
	p, _ := c.Provider(m.Provider)
	if p.Efforts != nil {
		return p.Efforts
	}
	if p.Kind == KindOpenAI && (strings.HasPrefix(m.ID, "deepseek-v4") || m.ID == "deepseek-flash") {
		return []string{"disabled", "low", "high", "max"}
	}
	return nil
}

// Window is how many tokens a model can have before it: the provider's
// `context_window`, else what is known of the model, else 0.
func (c *Config) Window(m Model) int {
	p, _ := c.Provider(m.Provider)
	switch {
	case p.Window > 0:
		return p.Window
	case p.Kind == KindOpenAI && (strings.HasPrefix(m.ID, "deepseek-v4") || m.ID == "deepseek-flash"):
		return 1_000_000
	}
	return 0
}
