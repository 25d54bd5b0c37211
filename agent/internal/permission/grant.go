package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// grant is what one "always" of the user covers. It is exact, so it cannot grow when a tool later reaches further.
type grant struct {
	tool string // empty: any tool
	kind Kind
	reach
	key string // see reach
}

type reach int

const (
	inWorkspace reach = iota // key is empty
	below                    // key is a directory outside, or one file
	words                    // key is the beginning of a simple command, word by word
	argv                     // key is a simple command, word by word
	text                     // key is the whole text of a command
	host                     // key is a host
)

// Settle takes the user's answer to a verdict that asked, remembers it when it is meant for the whole session and reports
// whether the call may run. An answer that was not on offer denies.
func (p *Policy) Settle(v Verdict, answer Answer) bool {
	if !slices.ContainsFunc(v.Options, func(o Option) bool { return o.Answer == answer }) {
		return false
	}
	switch answer {
	case AllowOnce:
		return true
	case AllowAlways:
		p.remember(v.grants, Allow)
		return true
	case RejectAlways:
		p.remember(v.grants, Deny)
	}
	return false
}

func (p *Policy) remember(grants []grant, d Decision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.grants == nil {
		p.grants = map[grant]Decision{}
	}
	for _, g := range grants {
		p.grants[g] = d
	}
}

func (p *Policy) lookup(g grant) (d Decision, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, found = p.grants[g]
	return d, found
}

// grantsFor is what an "always" to this access would be remembered as. All of them together cover the access.
func (p *Policy) grantsFor(tool string, a Access, c *commandLine) []grant {
	switch {
	case a.Kind == Execute:
		return commandGrants(a.Command, c, p)
	case a.Kind == Fetch:
		return []grant{{tool: tool, kind: Fetch, reach: host, key: strings.ToLower(a.Host)}}
	case len(a.Outside) == 0:
		return []grant{{tool: tool, kind: a.Kind}}
	}
	var out []grant
	for _, path := range a.Outside {
		g := grant{kind: a.Kind, reach: below, key: p.narrow(path)}
		if !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	if len(a.Outside) < len(a.Paths) {
		out = append(out, grant{tool: tool, kind: a.Kind})
	}
	return out
}

// narrow is the directory that a grant for a path outside covers: its own, unless that holds the workspace or the home.
func (p *Policy) narrow(path string) string {
	dir := filepath.Dir(path)
	for _, wide := range []string{p.o.Root, p.o.Home} {
		if wide != "" && contains(dir, wide) {
			return path
		}
	}
	if dir == filepath.Dir(dir) {
		return path
	}
	return dir
}

func contains(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// answered says what the user has already said to all of this access.
func (p *Policy) answered(tool string, a Access, c *commandLine) (granted, rejected bool) {
	switch {
	case a.Kind == Execute:
		return p.answeredCommand(a.Command, c)
	case a.Kind == Fetch, len(a.Outside) == 0:
		d, found := p.lookup(p.grantsFor(tool, a, c)[0])
		return found && d == Allow, found && d == Deny
	}
	granted = true
	for _, path := range a.Outside {
		d, found := p.lookupBelow(a.Kind, path)
		granted = granted && found && d == Allow
		rejected = rejected || found && d == Deny
	}
	if len(a.Outside) < len(a.Paths) { // the part inside is as it would be alone
		preset, _ := p.state()
		d, found := p.lookup(grant{tool: tool, kind: a.Kind})
		alone := preset.fallback(Access{Kind: a.Kind, Paths: a.Paths}, p.o.Root).Decision
		granted = granted && (found && d == Allow || alone == Allow)
		rejected = rejected || found && d == Deny
	}
	return granted, rejected
}

// lookupBelow finds the nearest grant for a path or a directory above it.
func (p *Policy) lookupBelow(kind Kind, path string) (Decision, bool) {
	for dir := path; ; dir = filepath.Dir(dir) {
		if d, found := p.lookup(grant{kind: kind, reach: below, key: dir}); found {
			return d, true
		}
		if dir == filepath.Dir(dir) {
			return Deny, false
		}
	}
}

func (p *Policy) answeredCommand(command string, c *commandLine) (granted, rejected bool) {
	if d, found := p.lookup(grant{kind: Execute, reach: text, key: command}); found {
		return d == Allow, d == Deny
	}
	for i := range c.simple {
		for _, g := range c.simple[i].grants() {
			if d, found := p.lookup(g); found && d == Deny {
				return false, true
			}
		}
	}
	return false, false // what is allowed goes through allCovered, together with rules
}

// granted reports whether the user has allowed a simple command.
func (p *Policy) granted(s *simple) bool {
	for _, g := range s.grants() {
		if d, found := p.lookup(g); found && d == Allow {
			return true
		}
	}
	return false
}

// grants are those that would cover the command, or none when only its whole text says what it does.
func (s *simple) grants() []grant {
	argvWords, ok := s.static()
	if !ok || !s.plain {
		return nil
	}
	out := []grant{{kind: Execute, reach: argv, key: strings.Join(argvWords, "\x00")}}
	if n := leading(argvWords); n > 0 {
		out = append(out, grant{kind: Execute, reach: words, key: strings.Join(argvWords[:n], "\x00")})
	}
	return out
}

// commandGrants covers what no rule allows yet: the leading words of a command that has subcommands, else the command
// with all its words, else the text as a whole.
func commandGrants(command string, c *commandLine, p *Policy) []grant {
	whole := []grant{{kind: Execute, reach: text, key: command}}
	if c.opaque || len(c.simple) == 0 {
		return whole
	}
	var out []grant
	for i := range c.simple {
		s := &c.simple[i]
		all := s.grants()
		switch {
		case p.rules.allow.simple("bash", s), p.harmlessSimple(c, s) && len(c.simple) > 1:
			continue
		case len(all) == 0:
			return whole
		}
		if g := all[len(all)-1]; !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	if len(out) == 0 {
		return whole
	}
	return out
}

// leading is how many words name what a command does, 0 when only all of them do.
func leading(argv []string) int {
	if len(argv) < 2 || !plainWord(argv[1]) {
		return 0
	}
	switch argv[0] {
	case "npm", "pnpm", "yarn", "bun":
		if argv[1] == "run" || argv[1] == "exec" || argv[1] == "x" || argv[1] == "dlx" {
			if len(argv) > 2 && plainWord(argv[2]) && argv[1] == "run" {
				return 3
			}
			return 0
		}
		return 2
	case "go":
		if argv[1] == "run" || argv[1] == "tool" || argv[1] == "generate" || argv[1] == "env" {
			return 0
		}
		return 2
	case "git":
		if argv[1] == "config" || argv[1] == "bisect" || argv[1] == "submodule" || argv[1] == "rebase" || argv[1] == "filter-branch" {
			return 0
		}
		return 2
	case "cargo", "make", "just", "task", "dotnet", "gh", "terraform", "helm", "mvn", "gradle", "bazel", "cmake", "brew", "pip", "pip3", "poetry", "apt", "apt-get":
		return 2
	case "docker", "kubectl":
		if argv[1] == "run" || argv[1] == "exec" || argv[1] == "compose" {
			return 0
		}
		return 2
	}
	return 0
}

// plainWord reports whether a word looks like the name of a subcommand: no flag, no path, no assignment.
func plainWord(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:") == ""
}

// grantNames is what the user reads in the name of an "always".
func grantNames(grants []grant) string {
	var names []string
	for _, g := range grants {
		names = append(names, g.name())
	}
	const most = 3
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and the others"
	}
	return strings.Join(names, ", ")
}

func (g grant) name() string {
	switch g.reach {
	case below:
		verb := "reading"
		if g.kind != Read {
			verb = "changes"
		}
		return verb + " below " + oneLine(g.key)
	case words:
		return "`" + oneLine(quoted(g.key)) + " *`"
	case argv:
		return "`" + oneLine(quoted(g.key)) + "`"
	case text:
		return "exactly this command"
	case host:
		return g.tool + " from " + oneLine(g.key)
	}
	return g.tool
}

// quoted is the words of a key as they are written in a shell, so that one word with a space is not taken for two.
func quoted(key string) string {
	list := strings.Split(key, "\x00")
	for i, w := range list {
		if q, err := syntax.Quote(w, syntax.LangBash); err == nil {
			list[i] = q
		}
	}
	return strings.Join(list, " ")
}

// oneLine keeps names short enough for a button.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '`' {
			return ' '
		}
		return r
	}, s)
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
