package permission

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Rules are what a configuration says, each entry in the form Tool or Tool(specifier).
//
// Tool is a tool's name, in which * stands for any characters, or in any letter case one of the groups Read, Edit and
// Bash: whatever reads files, changes files, or runs commands. The specifier narrows it by what the access touches:
//
//   - files: a glob (** crosses folders), relative to the workspace, absolute, or from ~/. Paths are compared after every
//     symlink was followed.
//   - commands: the words of a simple command, a last * for any further ones: "git log *" covers "git log" too.
//   - the network: a host, or *.example.com for those below it.
type Rules struct {
	Deny, Ask, Allow []string
}

// Check reports the first entry that cannot be read.
func (r Rules) Check() error {
	_, err := r.compile("", "")
	return err
}

type ruleset struct{ deny, ask, allow rules }

// aboutCommands reports whether a rule that denies or asks looks at what a command is.
func (s *ruleset) aboutCommands() bool {
	for _, list := range []rules{s.deny, s.ask} {
		for _, r := range list {
			if r.kind == Execute && !r.any {
				return true
			}
		}
	}
	return false
}

type rules []*rule

// rule is one compiled entry. At most one of the specifiers is set; without one it covers every use of the tool.
type rule struct {
	text string
	tool string // pattern of the name; empty for a group
	kind Kind   // of a group

	any   bool     // no specifier
	spec  string   // as it stands there
	glob  string   // for paths: absolute, with slashes
	words []string // for commands
	open  bool     // words may go on
}

// request is an access as rules see it.
type request struct {
	tool   string
	access Access
	line   *commandLine
}

func (r Rules) compile(root, home string) (s ruleset, err error) {
	for _, part := range []struct {
		name string
		from []string
		to   *rules
	}{{"deny", r.Deny, &s.deny}, {"ask", r.Ask, &s.ask}, {"allow", r.Allow, &s.allow}} {
		for _, text := range part.from {
			c, err := compileRule(text, root, home)
			if err != nil {
				return s, fmt.Errorf("%s rule %q: %w", part.name, text, err)
			}
			*part.to = append(*part.to, c)
		}
	}
	return s, nil
}

func compileRule(text, root, home string) (*rule, error) {
	r := &rule{text: text}
	name, rest, narrowed := strings.Cut(strings.TrimSpace(text), "(")
	spec, closed := strings.CutSuffix(rest, ")")
	switch {
	case name == "" || strings.ContainsAny(name, " \t)"):
		return nil, errors.New("expected Tool or Tool(specifier)")
	case narrowed && !closed:
		return nil, errors.New("the closing parenthesis is missing")
	case narrowed && strings.TrimSpace(spec) == "":
		return nil, errors.New("the specifier is empty; leave the parentheses out to cover every use")
	}
	switch strings.ToLower(name) {
	case "read":
		r.kind = Read
	case "edit":
		r.kind = Edit
	case "bash":
		r.kind = Execute
	default:
		r.tool = name
		if _, err := path.Match(name, ""); err != nil || strings.ContainsAny(name, "[]?\\") {
			return nil, errors.New("only * is a wildcard in the name of a tool")
		}
	}
	if r.any = !narrowed; r.any {
		return r, nil
	}
	r.spec = strings.TrimSpace(spec)
	if r.words = strings.Fields(r.spec); r.words[len(r.words)-1] == "*" {
		r.words, r.open = r.words[:len(r.words)-1], true
	}
	if r.kind == Execute {
		return r, nil
	}
	if !doublestar.ValidatePattern(filepath.ToSlash(r.spec)) {
		return nil, errors.New("the pattern is malformed")
	}
	r.glob = fold(absoluteGlob(filepath.ToSlash(r.spec), root, home))
	return r, nil
}

// absoluteGlob puts a pattern below the folder that it starts from, whose own name is no pattern. It is empty when that
// folder is unknown.
func absoluteGlob(spec, root, home string) string {
	base := root
	if below, fromHome := strings.CutPrefix(spec, "~/"); fromHome {
		base, spec = home, below
		if resolved, err := filepath.EvalSymlinks(home); err == nil {
			base = resolved
		}
	} else if path.IsAbs(spec) || filepath.IsAbs(spec) {
		return resolvedGlob(spec)
	}
	if base == "" {
		return ""
	}
	meta := strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)
	return path.Join(meta.Replace(filepath.ToSlash(base)), strings.TrimPrefix(spec, "./"))
}

// resolvedGlob follows the symlinks of the part before the first wildcard, as paths are resolved too. What does not
// exist stays as it is written.
func resolvedGlob(spec string) string {
	base, pattern := doublestar.SplitPattern(spec)
	resolved, err := filepath.EvalSymlinks(filepath.FromSlash(base))
	if err != nil || strings.ContainsAny(resolved, `*?[]{}\`) {
		return spec
	}
	return path.Join(filepath.ToSlash(resolved), pattern)
}

// fold makes names equal that are equal for the file system.
func fold(s string) string {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return strings.ToLower(s)
	}
	return s
}

// names reports whether the rule is about this tool.
func (r *rule) names(tool string, kind Kind) bool {
	if r.tool == "" {
		return r.kind == kind
	}
	ok, _ := path.Match(r.tool, tool)
	return ok
}

func (r *rule) path(p string) bool {
	if r.any {
		return true
	}
	ok, err := doublestar.Match(r.glob, fold(filepath.ToSlash(p)))
	return err == nil && ok && r.glob != ""
}

// host compares without letter case. A rule without a port covers every port when it forbids, else the usual ones only.
func (r *rule) host(h string, everyPort bool) bool {
	if r.any {
		return true
	}
	h, want := strings.ToLower(strings.TrimSuffix(h, ".")), strings.ToLower(r.spec)
	if bare, _, ok := cutPort(h); ok && everyPort && !hasPort(want) {
		h = bare
	}
	if below, wild := strings.CutPrefix(want, "*."); wild {
		return strings.HasSuffix(h, "."+below)
	}
	return h == want
}

func hasPort(h string) bool { _, _, ok := cutPort(h); return ok }

func cutPort(h string) (host, port string, ok bool) {
	i := strings.LastIndexByte(h, ':')
	if i < 0 || strings.HasSuffix(h, "]") || i+1 == len(h) || strings.Trim(h[i+1:], "0123456789") != "" || strings.Count(h, ":") > 1 && h[0] != '[' {
		return h, "", false
	}
	return h[:i], h[i+1:], true
}

// command compares the words of a simple command with those of the rule.
func (r *rule) command(argv []word) bool {
	if r.any {
		return true
	}
	if len(argv) < len(r.words) || len(argv) > len(r.words) && !r.open {
		return false
	}
	for i, w := range r.words {
		if !argv[i].static || argv[i].text != w {
			return false
		}
	}
	return true
}

// any finds a rule that covers any part of the request: what denies and asks. Commands are looked at through wrappers
// such as sudo, and by the name behind the last slash.
func (list rules) any(q request) *rule {
	for _, r := range list {
		if !r.names(q.tool, q.access.Kind) {
			// What a command reads and writes by name is read and written.
			if q.access.Kind == Execute && r.tool == "" && !r.any && (r.kind == Read || r.kind == Edit) && q.line.touches(r) {
				return r
			}
			continue
		}
		if r.any {
			return r
		}
		switch q.access.Kind {
		case Execute:
			for i := range q.line.simple {
				for _, argv := range q.line.simple[i].unwrapped() {
					if r.command(argv) {
						return r
					}
				}
			}
		case Fetch:
			if r.host(q.access.Host, true) {
				return r
			}
		default:
			for _, p := range q.access.Paths {
				if r.path(p) {
					return r
				}
			}
		}
	}
	return nil
}

// all reports whether the rules together cover all of a request that is no command: what allows.
func (list rules) all(q request) bool {
	if list.whole(q) {
		return true
	}
	if q.access.Kind == Fetch {
		for _, r := range list {
			if r.names(q.tool, Fetch) && r.host(q.access.Host, false) {
				return true
			}
		}
		return false
	}
	for _, p := range q.access.Paths {
		covered := false
		for _, r := range list {
			covered = covered || r.names(q.tool, q.access.Kind) && r.path(p)
		}
		if !covered {
			return false
		}
	}
	return len(q.access.Paths) > 0
}

// whole reports whether a rule without specifier covers the tool.
func (list rules) whole(q request) bool {
	for _, r := range list {
		if r.any && r.names(q.tool, q.access.Kind) {
			return true
		}
	}
	return false
}

// simple reports whether a rule allows a simple command of the tool.
func (list rules) simple(tool string, s *simple) bool {
	for _, r := range list {
		if r.names(tool, Execute) && (r.any || s.plain && len(s.words) > 0 && r.command(s.words)) {
			return true
		}
	}
	return false
}
