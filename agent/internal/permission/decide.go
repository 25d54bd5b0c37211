package permission

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Verdict is a decision with what the user is told and may answer.
type Verdict struct {
	Decision Decision
	Reason   string   // why it is denied or asked about; for the user and the model, may be empty
	Fresh    bool     // see Access
	Subject  string   // what it is about: the command, the paths, the host
	Argv     []string // the command's words when it is one static simple command in the foreground; else nil
	Options  []Option // the answers to offer when Decision is Ask, in this order

	grants []grant // what an "always" is remembered as
}

// Reasons that users and models read.
const (
	reasonPlan     = "the session is in plan mode: propose a plan first; nothing is changed before the user has approved it"
	reasonRejected = "refused by the user"
	reasonOutside  = "it leaves the workspace"
	reasonUnread   = "the command cannot be read completely, so the rules cannot be applied to it"
	reasonOpen     = "no sandbox confines it"
	reasonEscape   = "it runs outside the sandbox"
	reasonNoBox    = "commands must be confined here (sandbox.bash = \"require\"), and no sandbox works on this machine"
	reasonGuarded  = "it changes what git or the agent itself does"
)

// Decide says what to do with a call of the tool that wants this access.
func (p *Policy) Decide(tool string, a Access) Verdict {
	preset, plan := p.state()
	c := &commandLine{}
	if a.Kind == Execute {
		c = p.parse(a.Command)
	}
	v := p.decide(tool, a, c, preset, plan)
	if v.Subject = p.subject(a); !a.Background {
		v.Argv = c.argv()
	}
	if a.Fresh || a.Unconfined {
		v.Fresh = true
	}
	if v.Decision != Ask {
		return v
	}
	v.Reason = strings.Join(slices.DeleteFunc([]string{v.Reason, a.Reason}, func(s string) bool { return s == "" }), ": ")
	if v.Fresh {
		v.Options = []Option{{AllowOnce, "Allow once"}, {RejectOnce, "Reject"}}
		return v
	}
	v.grants = p.grantsFor(tool, a, c)
	what := grantNames(v.grants)
	v.Options = []Option{
		{AllowOnce, "Allow once"}, {AllowAlways, "Allow " + what + " in this session"},
		{RejectOnce, "Reject once"}, {RejectAlways, "Reject " + what + " in this session"},
	}
	return v
}

func (p *Policy) decide(tool string, a Access, c *commandLine, preset Preset, plan bool) Verdict {
	r := request{tool: tool, access: a, line: c}
	if rule := p.rules.deny.any(r); rule != nil {
		return Verdict{Decision: Deny, Reason: "denied by the rule " + rule.text}
	}
	if plan && a.Kind != None && a.Kind != Read && a.Kind != Fetch && a.Kind != Approve && !(a.Kind == Execute && !a.Unconfined && p.harmless(c)) {
		return Verdict{Decision: Deny, Reason: reasonPlan}
	}
	granted, rejected := p.answered(tool, a, c)
	if rejected {
		return Verdict{Decision: Deny, Reason: reasonRejected}
	}
	if a.Kind == Execute && p.o.Required && !a.Unconfined && preset != FullAccess && !p.confined() {
		return Verdict{Decision: Deny, Reason: reasonNoBox}
	}
	switch {
	case a.Unconfined:
		return Verdict{Decision: Ask, Reason: reasonEscape}
	case a.Fresh:
		return Verdict{Decision: Ask}
	case granted:
		return Verdict{Decision: Allow}
	}
	if rule := p.rules.ask.any(r); rule != nil {
		return Verdict{Decision: Ask, Reason: "the rule " + rule.text}
	}
	if a.Kind == Execute {
		return p.execute(r, preset, plan)
	}
	if p.rules.allow.all(r) {
		return Verdict{Decision: Allow}
	}
	return preset.fallback(a, p.o.Root)
}

// execute decides about a command that no deny rule, ask rule or answer has decided.
func (p *Policy) execute(r request, preset Preset, plan bool) Verdict {
	c := r.line
	if c.opaque && p.rules.aboutCommands() {
		return Verdict{Decision: Ask, Reason: reasonUnread}
	}
	if preset == FullAccess {
		return Verdict{Decision: Allow}
	}
	harmless := p.harmless(c)
	switch {
	case p.allCovered(r, preset):
		return Verdict{Decision: Allow}
	case preset == WorkspaceWrite && (harmless || p.confined()):
		return Verdict{Decision: Allow}
	case harmless && p.confined(): // ReadOnly, which then confines it to reading
		return Verdict{Decision: Allow}
	case c.opaque:
		return Verdict{Decision: Ask, Reason: reasonUnread}
	case preset == WorkspaceWrite || plan:
		return Verdict{Decision: Ask, Reason: reasonOpen}
	}
	return Verdict{Decision: Ask}
}

// allCovered reports whether every simple command of a line is allowed by a rule or a grant. Harmless ones may stand
// between them where they could run alone.
func (p *Policy) allCovered(r request, preset Preset) bool {
	c := r.line
	if c.opaque || len(c.simple) == 0 {
		return p.rules.allow.whole(r)
	}
	harmless := preset == WorkspaceWrite || p.confined()
	for i := range c.simple {
		s := &c.simple[i]
		if !p.rules.allow.simple(r.tool, s) && !p.granted(s) && !(harmless && p.harmlessSimple(c, s)) {
			return false
		}
	}
	return true
}

// fallback is what a preset says about an access that nothing else has decided.
func (p Preset) fallback(a Access, root string) Verdict {
	switch {
	case p == FullAccess, a.Kind == None:
		return Verdict{Decision: Allow}
	case len(a.Outside) > 0:
		return Verdict{Decision: Ask, Reason: reasonOutside}
	case a.Kind == Read:
		return Verdict{Decision: Allow}
	case a.Kind == Edit && p == WorkspaceWrite:
		if slices.ContainsFunc(a.Paths, func(path string) bool { return guarded(root, path) }) {
			return Verdict{Decision: Ask, Reason: reasonGuarded}
		}
		return Verdict{Decision: Allow}
	}
	return Verdict{Decision: Ask}
}

// guarded are the files with which a change in the workspace would reach further: what stands in them runs when git or
// the agent comes by, outside every sandbox.
func guarded(root, path string) bool {
	names := strings.Split(filepath.ToSlash(path), "/")
	if rel, err := filepath.Rel(root, path); root != "" && err == nil && filepath.IsLocal(rel) {
		names = strings.Split(filepath.ToSlash(rel), "/")
	}
	return slices.ContainsFunc(names, func(name string) bool {
		switch strings.ToLower(name) {
		case ".git", ".reasonix", "reasonix.toml":
			return true
		}
		return false
	})
}

// subject is what a question is about, on one line; a path below the workspace's root is relative to it.
func (p *Policy) subject(a Access) string {
	switch a.Kind {
	case Execute:
		return a.Command
	case Fetch:
		return a.Host
	}
	names := make([]string, len(a.Paths))
	for i, path := range a.Paths {
		names[i] = path
		if rel, err := filepath.Rel(p.o.Root, path); p.o.Root != "" && err == nil && filepath.IsLocal(rel) {
			names[i] = filepath.ToSlash(rel)
		}
	}
	return strings.Join(names, ", ")
}

// String names the decision.
func (d Decision) String() string {
	switch d {
	case Deny:
		return "deny"
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	}
	return fmt.Sprintf("Decision(%d)", int(d))
}
