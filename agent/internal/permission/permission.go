// Package permission decides whether a tool call runs, needs an answer from the user, or is denied, and remembers the
// user's answers for the session. It knows accesses and tool names, but neither tools nor hosts.
package permission

import "sync"

// Access is what one call wants to touch. The zero value touches nothing outside the session.
type Access struct {
	Kind    Kind
	Paths   []string // Read, Edit: every file and folder, absolute and resolved (symlinks followed)
	Outside []string // those of Paths that lie outside the workspace
	Command string   // Execute: the shell text
	Host    string   // Fetch: host, with the port when it is not the scheme's own
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
	Approve             // the user's own decision: asked about in every mode and preset, and remembered nowhere
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

// Answers are the ones to offer for a question about an access.
func Answers(a Access) []Answer {
	if a.Kind == Approve {
		return []Answer{AllowOnce, RejectOnce}
	}
	return []Answer{AllowOnce, AllowAlways, RejectOnce, RejectAlways}
}

// Policy belongs to one session; its methods may be called at the same time. The zero value is ReadOnly without grants.
type Policy struct {
	mu     sync.Mutex // guards all below
	preset Preset
	plan   bool               // nothing is written before the plan is approved
	grants map[grant]Decision // Allow or Deny, from the "always" answers
}

// A grant covers one tool with one reach, so that it does not grow when the tool later reaches further.
type grant struct {
	tool    string
	kind    Kind
	outside bool
}

func grantOf(tool string, a Access) grant { return grant{tool, a.Kind, len(a.Outside) > 0} }

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

// Decide says what to do with a call of the tool that wants this access.
func (p *Policy) Decide(tool string, access Access) Decision {
	p.mu.Lock()
	defer p.mu.Unlock()
	if access.Kind == Approve {
		return Ask
	}
	if p.plan && access.Kind != None && access.Kind != Read {
		return Deny
	}
	decision := p.preset.decide(access)
	granted, found := p.grants[grantOf(tool, access)]
	switch {
	case !found || decision == Deny:
		return decision
	case granted == Deny:
		return Deny
	default:
		return Allow
	}
}

// Settle takes the user's answer to a call that Decide asked about, remembers it when it is meant for the whole session
// and reports whether the call may run.
func (p *Policy) Settle(tool string, access Access, answer Answer) bool {
	switch answer {
	case AllowOnce:
		return true
	case AllowAlways:
		p.remember(grantOf(tool, access), Allow)
		return true
	case RejectAlways:
		p.remember(grantOf(tool, access), Deny)
	}
	return false
}

func (p *Policy) remember(g grant, d Decision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.grants == nil {
		p.grants = map[grant]Decision{}
	}
	p.grants[g] = d
}

func (p Preset) decide(access Access) Decision {
	if p == FullAccess {
		return Allow
	}
	switch {
	case access.Kind == None:
		return Allow
	case len(access.Outside) > 0:
		return Ask
	case access.Kind == Read:
		return Allow
	case access.Kind == Edit && p == WorkspaceWrite:
		return Allow
	}
	return Ask
}
