// Package permission decides whether a tool call runs, needs an answer from the user, or is denied, and remembers the
// user's answers for the session. It knows accesses, tool names and the grammar of shell commands, but neither tools nor
// hosts, and it confines nothing: it says how a command is to be confined, and a sandbox does it.
//
// Deny rules win over everything. Then come what the user has said in this session, the ask rules, the allow rules and,
// last, what the preset makes of the access. A rule that allows never lifts the confinement of a command.
package permission

import (
	"fmt"
	"sync"
)

// Access is what one call wants to touch. The zero value touches nothing outside the session.
type Access struct {
	Kind    Kind
	Paths   []string // Read, Edit: every file and folder, absolute and resolved (symlinks followed)
	Outside []string // those of Paths that lie outside the workspace
	Command string   // Execute: the shell text
	Host    string   // Fetch: host, with the port when it is not the scheme's own

	Background bool   // Execute: it goes on after the call
	Unconfined bool   // Execute: outside the sandbox
	Fresh      bool   // only a person may approve it, each time anew: no rule, grant or preset does
	Reason     string // why the model wants it, for the person who is asked; may be empty
}

// Kind sorts accesses. Any other one is asked about.
type Kind int

// The kinds.
const (
	None    Kind = iota // nothing outside the session
	Read                // reads files
	Edit                // changes, creates, moves or removes files
	Execute             // runs a command
	Fetch               // asks a host on the network
	Approve             // nothing by itself: the user decides something, in plan mode too; with Fresh
)

// Preset is the user's general choice. Any other word, the empty one too, counts as ReadOnly.
type Preset string

// The three presets, strictest first.
const (
	ReadOnly       Preset = "read-only"
	WorkspaceWrite Preset = "workspace-write"
	FullAccess     Preset = "danger-full-access"
)

// Decision is the policy's word on one call. The zero value denies.
type Decision int

// The decisions; deny wins over ask, ask over allow.
const (
	Deny Decision = iota
	Ask
	Allow
)

// Answer is what the user chose. Only AllowOnce and AllowAlways approve; any other word denies.
type Answer string

// The answers a user can give. Cancelled stands for closing the question without choosing.
const (
	AllowOnce    Answer = "allow_once"
	AllowAlways  Answer = "allow_always"
	RejectOnce   Answer = "reject_once"
	RejectAlways Answer = "reject_always"
	Cancelled    Answer = "cancelled"
)

// Option is an answer to offer, with its name for the user.
type Option struct {
	Answer Answer
	Name   string
}

// Confinement is how far a command may reach when it runs.
type Confinement int

// The confinements, widest first.
const (
	Free         Confinement = iota // none
	ConfineWrite                    // writes in the workspace only
	ConfineRead                     // writes nothing of the user's
)

// Options is what a policy needs to know. The zero value has no rules and no sandbox.
type Options struct {
	Rules Rules
	Root  string // of the workspace: absolute and resolved; the base of relative patterns
	Home  string // the user's, for patterns that begin with ~/; empty: they match nothing
	// Resolve says where a path of a command leads (workspace.Workspace.Resolve). Nil: no path is known to be inside, so no
	// command that names one is known to be harmless.
	Resolve func(path string) (abs string, inside bool, err error)
	// Confined says whether commands are confined. It is asked when a command comes, so it may look at the machine then. Nil
	// means never.
	Confined func() bool
	// Required denies commands that would have to be confined and cannot be.
	Required bool
	// POSIX is set when commands go to a shell that does not know the words of bash.
	POSIX bool
}

// Policy belongs to one session; its methods may be called at the same time. The zero value is ReadOnly without rules,
// sandbox and grants.
type Policy struct {
	o     Options
	rules ruleset

	mu     sync.Mutex // guards all below
	preset Preset
	plan   bool               // nothing is written before the plan is approved
	grants map[grant]Decision // Allow or Deny, from the "always" answers
}

// New makes the policy of a session. The error names the rule that cannot be read.
func New(o Options) (*Policy, error) {
	rules, err := o.Rules.compile(o.Root, o.Home)
	if err != nil {
		return nil, fmt.Errorf("permissions: %w", err)
	}
	return &Policy{o: o, rules: rules}, nil
}

// SetPreset changes the preset for every decision from now on. Grants stay.
func (p *Policy) SetPreset(preset Preset) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.preset = preset
}

// SetPlan begins or ends plan mode, in which no write is allowed or asked about.
func (p *Policy) SetPlan(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = on
}

// Plan reports whether plan mode is on.
func (p *Policy) Plan() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plan
}

// state is what may change while the session is open, read once per decision.
func (p *Policy) state() (preset Preset, plan bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.preset, p.plan
}

func (p *Policy) confined() bool { return p.o.Confined != nil && p.o.Confined() }

// Confinement says how a command that was allowed runs, by what holds at this moment: a preset that has become stricter
// since it was allowed confines it more.
func (p *Policy) Confinement(a Access) Confinement {
	preset, plan := p.state()
	switch {
	case plan:
		return ConfineRead
	case a.Unconfined || preset == FullAccess:
		return Free
	case preset == WorkspaceWrite:
		return ConfineWrite
	}
	if c := p.parse(a.Command); p.harmless(c) {
		return ConfineRead
	}
	return ConfineWrite // the user, or the user's rule, has allowed this one
}
