package config

import "strings"

// Lines of .env are KEY=VALUE, with an optional "export ", spaces around the
// key and the value, and comments. A value is bare (up to " #" or the line's
// end), in single quotes (literal) or in double quotes (with the escapes
// \n \r \t \" \\ \$ \`). Variables are not expanded and values do not span lines.

// envLine is one line of .env; key is empty for a blank line or a comment.
type envLine struct {
	export     bool
	key, value string
	bad        bool
}

func parseEnvLine(line string) envLine {
	rest := strings.TrimSpace(line)
	if rest == "" || rest[0] == '#' {
		return envLine{}
	}
	var out envLine
	if after, ok := strings.CutPrefix(rest, "export"); ok && strings.TrimLeft(after, " \t") != after {
		out.export, rest = true, strings.TrimLeft(after, " \t")
	}
	key, value, ok := strings.Cut(rest, "=")
	out.key = strings.TrimSpace(key)
	if !ok || !envName(out.key) {
		return envLine{bad: true}
	}
	if out.value, ok = envValue(strings.TrimSpace(value)); !ok {
		return envLine{bad: true}
	}
	return out
}

// envValue reads a trimmed value; ok is false for an unclosed quote or for text behind it.
func envValue(s string) (value string, ok bool) {
	if s == "" {
		return "", true
	}
	quote := s[0]
	if quote != '"' && quote != '\'' {
		for i := range s {
			if s[i] == '#' && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t') {
				return strings.TrimSpace(s[:i]), true
			}
		}
		return s, true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			rest := strings.TrimSpace(s[i+1:])
			return b.String(), rest == "" || rest[0] == '#'
		case c == '\\' && quote == '"' && i+1 < len(s):
			i++
			b.WriteString(envEscape(s[i]))
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// envEscape is what a backslash and c stand for; unknown ones stay as they are.
func envEscape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case '"', '\\', '$', '`':
		return string(c)
	}
	return `\` + string([]byte{c})
}

// lookupEnv finds a variable; the last line wins, as in a shell. bad is the
// first line that could not be understood, else 0.
func lookupEnv(text, name string) (value string, bad int) {
	line := 0
	for raw := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line++
		l := parseEnvLine(raw)
		if l.bad && bad == 0 {
			bad = line
		}
		if l.key == name {
			value = l.value
		}
	}
	return value, bad
}

// setEnv replaces the variable's first line, drops its others, which would win
// over it, and keeps every other byte; a new variable goes to the end.
func setEnv(text, name, value string) string {
	newline := newlineOf(text)
	var b strings.Builder
	done := false
	for raw := range strings.Lines(text) {
		l := parseEnvLine(strings.TrimPrefix(raw, "\ufeff"))
		if l.key != name {
			b.WriteString(raw)
			continue
		}
		if !done {
			if l.export {
				b.WriteString("export ")
			}
			b.WriteString(name + "=" + quoteEnv(value) + newline)
		}
		done = true
	}
	if done {
		return b.String()
	}
	if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
		b.WriteString(newline)
	}
	b.WriteString(name + "=" + quoteEnv(value) + newline)
	return b.String()
}

// quoteEnv writes a value so that both parseEnvLine and a shell read it back.
func quoteEnv(s string) string {
	bare := !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./+:@%,=", r))
	})
	switch {
	case bare:
		return s
	case !strings.Contains(s, "'"):
		return "'" + s + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(s) + `"`
}

func newlineOf(text string) string {
	if strings.Contains(text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}
