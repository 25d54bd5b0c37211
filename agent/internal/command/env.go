package command

import (
	"context"
	"time"
)

// Env is what the local commands show and change. A nil function means that it
// is not available: the command says so and how to get it. What is returned is
// shown as it is, but for line breaks, so it must hold no secrets; an error is
// shown with its text.
type Env struct {
	// Others lists what is advertised beside the Set, for /help.
	Others func() []Entry

	Status  func() Status
	Session func() Session
	// Save forces everything to disk and rebuilds the index.
	Save func() (Saved, error)

	Providers    func() ([]Provider, error)
	Models       func() ([]string, error) // references
	CurrentModel func() string            // a reference; "" = none
	// SwitchModel takes a reference, or "" for the configured default, and
	// returns the reference that holds from now on.
	SwitchModel func(ctx context.Context, ref string) (string, error)

	Experiments   func() []Experiment
	SetExperiment func(name string, on bool) error // for this session

	MCP func() []MCPServer
	// Sessions lists the stored sessions of this working directory, in any order.
	Sessions func() ([]StoredSession, error)

	// The last n, or all, oldest first.
	History     func(n int) ([]Message, error)
	Events      func(n int) ([]Event, error)
	Compactions func(n int) ([]Compaction, error)
	// Tree lists the turns, oldest first.
	Tree func() ([]Turn, error)

	// Team lists the agents that can be delegated to.
	Team func() []Member

	Checkpoint func() (Checkpoint, error)

	Processes func() []Process
	// Process gives one process and the end of its output; more than is shown
	// does no harm.
	Process func(id string) (p Process, tail string, err error)
	// StopProcess ends its process group.
	StopProcess func(id string) error
}

// Status is the state of the session.
type Status struct {
	SessionID                string
	State, Phase             string
	Model                    string // "" = none chosen
	Effort, Mode, Preset     string
	Sandbox                  string // the engine
	ContextUsed, ContextSize uint64 // tokens; a size of 0 is unknown
	Turns                    int
	Tokens                   Tokens // of all turns
	Cost                     string // with its currency; "" = unknown
}

// Tokens are counted by kind. Cached is part of Input, Reasoning of Output.
type Tokens struct{ Input, Cached, Output, Reasoning uint64 }

// Session is what is stored of the session.
type Session struct {
	ID, CWD          string
	Dirs             []string // additional ones
	Title            string
	Created, Updated time.Time
	Messages, Events int
	Bytes            int64
	Folder           string // "" = in memory only
}

// Saved is what /save has done.
type Saved struct {
	Folder   string
	Events   int
	Checksum string // of the last event
}

// Provider is a configured provider.
type Provider struct {
	Name, Kind string
	BaseURL    string // "" = none; shown without credentials and query
	Models     []string
	Default    string // model id; "" = the first of Models
	KeyEnv     string // the variable that holds the key; "" = needs none
	HasKey     bool
}

// Experiment is a switch.
type Experiment struct {
	Name, Description string
	On                bool
}

// MCPServer is a server of the session.
type MCPServer struct {
	Name, Transport, State string
	Tools                  []string
	LastError              string
}

// StoredSession is a session on the disk.
type StoredSession struct {
	ID, Title string
	Updated   time.Time
}

// Message is one message of the conversation.
type Message struct {
	Role string // "user", "assistant", "tool read_file"
	Text string
}

// Event is one event of the ledger.
type Event struct {
	Seq  uint64
	Time time.Time
	Kind string
	Size int // bytes
}

// Turn is one prompt and what followed.
type Turn struct {
	Prompt  string
	Steps   []Step
	Outcome string // "end_turn", "error: …"; "" = still running
}

// Step is something that happened in a turn.
type Step struct {
	Kind    StepKind
	Text    string // the call's title, the steer's words, what was compacted
	Outcome string // of a tool call; "" = none yet
}

// StepKind says what a step is.
type StepKind int

// The kinds of steps.
const (
	ToolCall StepKind = iota
	Steer
	Compacted
)

// Member is an agent that can be delegated to.
type Member struct {
	Name, Description string
	Doing             string // "" = idle
}

// Compaction is one shortening of the history.
type Compaction struct {
	Time                        time.Time
	MessagesBefore, MessagesNow int
	TokensBefore, TokensNow     uint64
}

// Checkpoint is the readiness checkpoint.
type Checkpoint struct {
	Set     bool // false = none
	Time    time.Time
	Missing []string // the checks that are open
	LastSeq uint64   // the last durable event
}

// Process is a process in the background.
type Process struct {
	ID, State, Command string
	Since              time.Time
}
