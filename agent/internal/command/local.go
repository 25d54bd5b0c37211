package command

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Defaults and bounds of what is printed.
const (
	defaultCount = 12
	maxCount     = 1000 // a list of the last n is never longer
	maxList      = 200  // of sessions, turns and processes
	maxText      = 160  // characters of one message, title or command
	maxTail      = 800  // characters of a process's output
)

// locals are the commands that run here, sorted by name.
var locals = []Entry{
	{Name: "agents", Description: "Agent definitions, or one in full", Hint: "[name]"},
	{Name: "checkpoint", Description: "The readiness checkpoint and the last event on disk"},
	{Name: "compacts", Description: "When the history was compacted, and what that saved", Hint: "[n, default 12]"},
	{Name: "events", Description: "The last events of this session's ledger", Hint: "[n, default 12]"},
	{Name: "experimental", Description: "Experimental switches, or turn one on or off for this session", Hint: "[name on or off]"},
	{Name: "help", Description: "All commands"},
	{Name: "history", Description: "The last messages of this session", Hint: "[n, default 12]"},
	{Name: "mcp", Description: "MCP servers: state, tools, last error"},
	{Name: "model", Description: "All models, or switch to one", Hint: "[ref or reset]"},
	{Name: "process", Description: "One background process and its last output, or stop it", Hint: "id, or stop id"},
	{Name: "processes", Description: "Background processes"},
	{Name: "provider", Description: "The current provider, or switch to the default model of one", Hint: "[name]"},
	{Name: "providers", Description: "Configured providers, and whether their keys are there"},
	{Name: "save", Description: "Force this session to disk"},
	{Name: "session", Description: "This session: folders, title, times, sizes"},
	{Name: "sessions", Description: "Stored sessions of this working directory"},
	{Name: "skills", Description: "Skills, or the text of one", Hint: "[name]"},
	{Name: "status", Description: "State, model, mode, permissions, sandbox, context, tokens and cost"},
	{Name: "team", Description: "The agents that can be delegated to, and what they are doing"},
	{Name: "tree", Description: "The turns of this session with their tool calls and outcomes"},
}

func local(name string) (Entry, bool) {
	i := slices.IndexFunc(locals, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return locals[i], true
}

func isLocal(name string) bool { _, ok := local(name); return ok }

// Run gives the output of a local command: a line with its name, then lines of
// their own that begin with "- ", which reads well as plain text and as
// Markdown. There is no error: whatever is wrong is said in the output.
func (s *Set) Run(ctx context.Context, env Env, c Call) string {
	e, ok := local(lowerName(c.Name))
	p := &page{set: s, env: env, entry: e, args: strings.Fields(c.Args)}
	if !ok {
		p.entry.Name = c.Name
		p.head()
		p.line("is no command that runs here; /help lists them")
		return p.b.String()
	}
	p.head()
	switch e.Name {
	case "agents":
		p.agents()
	case "checkpoint":
		p.checkpoint()
	case "compacts":
		p.compacts()
	case "events":
		p.events()
	case "experimental":
		p.experimental()
	case "help":
		p.help()
	case "history":
		p.history()
	case "mcp":
		p.mcp()
	case "model":
		p.model(ctx)
	case "process":
		p.process()
	case "processes":
		p.processes()
	case "provider":
		p.provider(ctx)
	case "providers":
		p.providers()
	case "save":
		p.save()
	case "session":
		p.session()
	case "sessions":
		p.sessions()
	case "skills":
		p.skills()
	case "status":
		p.status()
	case "team":
		p.team()
	case "tree":
		p.tree()
	}
	return strings.TrimRight(p.b.String(), "\n")
}

// page is the output of one command while it is written.
type page struct {
	set   *Set
	env   Env
	entry Entry
	args  []string
	b     strings.Builder
}

func (p *page) head() { p.b.WriteString(oneLine(p.entry.Name, maxText) + ":\n") }

// line writes one line, whatever it is given. Spaces stay: paths have them.
func (p *page) line(format string, args ...any) {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, fmt.Sprintf(format, args...))
	p.b.WriteString("- " + strings.TrimSpace(clip(text, maxLine)) + "\n")
}

// sub writes a line below the last one.
func (p *page) sub(format string, args ...any) {
	p.b.WriteString("  ")
	p.line(format, args...)
}

// maxLine bounds one line: enough for a path or a long list of models.
const maxLine = 16 << 10

func (p *page) usage() {
	p.line("usage: %s", strings.TrimSpace("/"+p.entry.Name+" "+p.entry.Hint))
}

// missing says that the session has no such thing, and how to get it.
func (p *page) missing(how string) { p.line("not available here: %s", how) }

func (p *page) failed(err error) { p.line("failed: %v", err) }

// none is true when the command has no argument, as it must be; else the usage is printed.
func (p *page) none() bool {
	if len(p.args) > 0 {
		p.usage()
		return false
	}
	return true
}

// count reads the argument n.
func (p *page) count() (int, bool) {
	if len(p.args) == 0 {
		return defaultCount, true
	}
	n, err := strconv.ParseUint(p.args[0], 10, 64)
	if len(p.args) > 1 || n == 0 || err != nil && !tooLarge(err) {
		p.usage()
		return 0, false
	}
	return int(min(n, maxCount)), true
}

// last keeps the last n.
func last[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// when writes a time so that it can be read and compared anywhere.
func when(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format(time.RFC3339)
}

// or is the value, or a word when there is none.
func or(value, word string) string {
	if strings.TrimSpace(value) == "" {
		return word
	}
	return value
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// places says how to get something that is read from files below a Folder.
func (p *page) places(below ...string) string {
	path := filepath.Join(below...)
	var list []string
	for _, f := range p.set.folders {
		list = append(list, fmt.Sprintf("%s (%s)", filepath.Join(f.Dir, path), f.Origin))
	}
	if len(list) == 0 {
		list = []string{filepath.Join(".reasonix", path)}
	}
	return strings.Join(list, " or ") + " and open a new session"
}
