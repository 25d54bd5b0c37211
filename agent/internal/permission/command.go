package permission

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxCommand = 64 << 10 // bytes that are parsed; longer ones cannot be read
	maxNested  = 8        // sh -c in sh -c …
)

// commandLine is a shell text, taken apart as far as rules need it.
type commandLine struct {
	simple []simple
	// opaque: not all that would run is known. It could not be parsed, a program's name is computed, or text is evaluated.
	opaque bool
	// single: one static simple command and nothing around it.
	single bool
	// bases are the folders in which commands may run, "" being the first, relative to it; nil when that is not known.
	bases []string
	reads []string // files that redirections read or write

	resolve func(string) (string, bool, error)
}

// simple is one simple command: a program with its words.
type simple struct {
	words []word // empty when something runs or is set that has no words
	plain bool   // no assignment, and no redirection but of data, between descriptors and to /dev/null
}

// word is one word. When it is static, text is what the program gets.
type word struct {
	text   string
	static bool
}

func (p *Policy) parse(command string) *commandLine {
	c := &commandLine{bases: []string{""}, resolve: p.o.Resolve}
	lang := syntax.LangBash
	if p.o.POSIX {
		lang = syntax.LangPOSIX
	}
	c.read(command, lang, 0)
	return c
}

// read adds what a shell text runs.
func (c *commandLine) read(text string, lang syntax.LangVariant, depth int) {
	var file *syntax.File
	err := error(nil)
	if len(text) <= maxCommand && depth <= maxNested && !strings.ContainsRune(text, 0) {
		file, err = syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
	}
	if file == nil || err != nil {
		c.opaque = true
		return
	}
	branching := false
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Stmt:
			c.statement(n, lang, depth)
		case *syntax.ForClause, *syntax.WhileClause, *syntax.FuncDecl:
			branching = true
		case *syntax.DeclClause, *syntax.LetClause, *syntax.ArithmCmd, *syntax.TestClause, *syntax.ArithmExp, *syntax.CoprocClause:
			c.simple = append(c.simple, simple{}) // these set variables, or evaluate what stands in them
		case *syntax.ParamExp:
			if n.Excl || n.Length || n.Width || n.IsSet || n.Index != nil || n.Slice != nil || n.Repl != nil || n.Exp != nil || n.Names != 0 {
				c.simple = append(c.simple, simple{})
			}
		}
		return true
	})
	if branching && len(c.bases) > 1 {
		c.bases = nil
	}
	c.single = depth == 0 && len(file.Stmts) == 1 && len(c.simple) == 1 && c.simple[0].alone(file.Stmts[0])
}

// alone reports whether the statement is this command and nothing else.
func (s *simple) alone(stmt *syntax.Stmt) bool {
	_, call := stmt.Cmd.(*syntax.CallExpr)
	_, static := s.static()
	return call && static && s.plain && len(stmt.Redirs) == 0 && !stmt.Background && !stmt.Coprocess && !stmt.Disown && !stmt.Negated && !stmt.Semicolon.IsValid()
}

func (c *commandLine) statement(stmt *syntax.Stmt, lang syntax.LangVariant, depth int) {
	plain := true
	for _, r := range stmt.Redirs {
		plain = c.redirect(r) && plain
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok {
		if !plain {
			c.simple = append(c.simple, simple{})
		}
		return
	}
	s := simple{plain: plain && len(call.Assigns) == 0}
	for _, w := range call.Args {
		s.words = append(s.words, evaluate(w))
	}
	c.simple = append(c.simple, s)
	if len(s.words) == 0 {
		return
	}
	if !s.words[0].static {
		c.opaque = true
		return
	}
	c.nested(s.words, lang, depth)
	c.chdir(s.words)
}

// redirect reports whether a redirection only moves data about.
func (c *commandLine) redirect(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return true
	}
	w := evaluate(r.Word)
	if !w.static {
		return false
	}
	switch {
	case w.text == "/dev/null":
		return true
	case r.Op == syntax.DplIn || r.Op == syntax.DplOut:
		if w.text == "-" || strings.Trim(w.text, "0123456789") == "" {
			return true
		}
	}
	c.reads = append(c.reads, w.text)
	return false
}

// nested reads the text that a shell or eval gets as an argument.
func (c *commandLine) nested(argv []word, lang syntax.LangVariant, depth int) {
	for _, argv := range (&simple{words: argv}).unwrapped() {
		switch argv[0].text {
		case "eval", "trap":
			text, ok := (&simple{words: argv[1:]}).static()
			if argv[0].text == "trap" && len(text) > 0 {
				text = text[:1]
			}
			if !ok {
				c.opaque = true
				return
			}
			c.read(strings.Join(text, " "), lang, depth+1)
		case "alias":
			c.opaque = c.opaque || len(argv) > 1
		case "sh", "bash", "dash", "ash", "zsh", "ksh":
			for i, w := range argv[1:] {
				if !w.static {
					c.opaque = true
					return
				}
				if strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "c") && i+2 < len(argv) {
					if !argv[i+2].static {
						c.opaque = true
						return
					}
					c.read(argv[i+2].text, syntax.LangBash, depth+1)
					return
				}
			}
		}
	}
}

// chdir notes where a cd may lead. The order of commands is not followed: each base may be the one of every command.
func (c *commandLine) chdir(argv []word) {
	switch argv[0].text {
	case "cd":
		if len(argv) != 2 || !argv[1].static || strings.HasPrefix(argv[1].text, "-") || argv[1].text == "" || len(c.bases) > 8 {
			c.bases = nil
			return
		}
		for _, b := range slices.Clone(c.bases) {
			to := argv[1].text
			if !path.IsAbs(to) && b != "" {
				to = b + "/" + to
			}
			c.bases = append(c.bases, to)
		}
	case "pushd", "popd":
		c.bases = nil
	}
}

// argv is the words of a command line that is one static simple command, else nil.
func (c *commandLine) argv() []string {
	if !c.single {
		return nil
	}
	argv, _ := c.simple[0].static()
	return argv
}

// static is the words when all of them are known.
func (s *simple) static() (argv []string, ok bool) {
	for _, w := range s.words {
		if !w.static {
			return nil, false
		}
		argv = append(argv, w.text)
	}
	return argv, true
}

// unwrapped is the command as it stands and, for a program that runs another one, each tail that could be that one. The
// first word loses its folder.
func (s *simple) unwrapped() [][]word {
	if len(s.words) == 0 {
		return nil
	}
	based := func(argv []word) []word {
		argv = slices.Clone(argv)
		argv[0].text = path.Base(argv[0].text)
		return argv
	}
	first := based(s.words)
	out := [][]word{first}
	switch first[0].text {
	case "sudo", "doas", "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "timeout", "time", "xargs", "setsid", "stdbuf", "busybox",
		"chroot", "unshare", "flock", "watch", "parallel", "find", "strace", "caffeinate", "script":
		for i := 1; i < len(s.words); i++ {
			if s.words[i].static {
				out = append(out, based(s.words[i:]))
			}
		}
	}
	return out
}

// touches reports whether a word or redirection of the line names a path that the rule covers.
func (c *commandLine) touches(r *rule) bool {
	if c.resolve == nil {
		return false
	}
	covered := func(name string) bool {
		for _, b := range append([]string{""}, c.bases...) {
			if abs, _, err := c.resolve(join(b, name)); err == nil && r.path(abs) {
				return true
			}
		}
		return false
	}
	if slices.ContainsFunc(c.reads, covered) {
		return true
	}
	for i := range c.simple {
		for n, w := range c.simple[i].words {
			if n == 0 || !w.static || w.text == "" {
				continue
			}
			name := w.text
			if _, value, ok := strings.Cut(name, "="); ok && strings.HasPrefix(name, "-") {
				name = value
			}
			if name != "" && covered(name) {
				return true
			}
		}
	}
	return false
}

func join(base, name string) string {
	if base == "" || path.IsAbs(name) {
		return name
	}
	return base + "/" + name
}

// evaluate is the word that the program gets, where that does not depend on anything.
func evaluate(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	if w.Lit() == "[" { // the program, no pattern
		return word{"[", true}
	}
	var b strings.Builder
	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(p.Value, "~") || strings.ContainsAny(p.Value, "*?[{") {
				return word{text: b.String()}
			}
			b.WriteString(unescape(p.Value, ""))
		case *syntax.SglQuoted:
			if p.Dollar {
				return word{text: b.String()}
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return word{text: b.String()}
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return word{text: b.String()}
				}
				b.WriteString(unescape(lit.Value, "$`\"\\\n"))
			}
		default:
			return word{text: b.String()}
		}
	}
	return word{b.String(), true}
}

// unescape takes backslashes away before the characters of only, or before any when only is empty. Before a line break
// both go.
func unescape(s, only string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || only != "" && !strings.Contains(only, s[i+1:i+2]) {
			b.WriteByte(s[i])
			continue
		}
		if i++; s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
