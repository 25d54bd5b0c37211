package command

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// document is a Markdown file with its front matter.
type document struct {
	fields map[string]string // keys in lower case
	body   string            // trimmed
	flaw   error             // why the front matter is not used
}

// parseDocument takes the block between the first line and the next `---` apart.
//
// It is no YAML, on purpose: `argument-hint: [file] [line]` and
// `description: Note: this` are what people write, and YAML refuses them. A line
// is `key: value`; indented lines and list items go on with the value above, as
// after `>` or `|`; a value may stand in single or double quotes.
func parseDocument(text string) document {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return document{body: strings.TrimSpace(text)}
	}
	lines := strings.Split(rest, "\n")
	for i, line := range lines {
		if strings.TrimRight(line, " \t") != "---" {
			continue
		}
		d := document{body: strings.TrimSpace(strings.Join(lines[i+1:], "\n"))}
		d.fields, d.flaw = parseFields(lines[:i])
		return d
	}
	return document{
		body: strings.TrimSpace(text),
		flaw: errors.New("line 1: the block has no end; put --- below its last line"),
	}
}

var fieldLine = pattern{expr: `^([A-Za-z0-9_.-]+)[ \t]*:(.*)$`}

func parseFields(lines []string) (map[string]string, error) {
	raw := map[string]string{}
	at := map[string]int{}
	key := ""
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch m := fieldLine.get().FindStringSubmatch(line); {
		case trimmed == "" || line[0] == '#':
		case m != nil:
			key = strings.ToLower(m[1])
			raw[key], at[key] = strings.TrimSpace(m[2]), i+2 // the --- is line 1
		case key != "" && (line[0] == ' ' || line[0] == '\t' || line[0] == '-'):
			raw[key] += "\n" + trimmed
		default:
			return nil, fmt.Errorf("line %d: expected `key: value`", i+2)
		}
	}
	for key, value := range raw {
		value, ok := fieldValue(value)
		if !ok && (key == "name" || key == "description" || key == "argument-hint" || key == "model") {
			return nil, fmt.Errorf("line %d: the quoted value of %s does not end with its quote", at[key], key)
		}
		raw[key] = value
	}
	return raw, nil
}

// blockMark is what YAML puts before a text of several lines.
var blockMark = pattern{expr: `^[>|][+-]?(\n|$)`}

func fieldValue(raw string) (string, bool) {
	if raw == "" || raw[0] != '"' && raw[0] != '\'' {
		return blockMark.get().ReplaceAllString(raw, ""), true
	}
	var b strings.Builder
	quote := raw[0]
	for i := 1; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == quote && quote == '\'' && strings.HasPrefix(raw[i+1:], "'"):
			b.WriteByte('\'')
			i++
		case c == quote:
			after := strings.TrimSpace(raw[i+1:])
			return b.String(), after == "" || after[0] == '#'
		case c == '\\' && quote == '"' && i+1 < len(raw):
			i++
			switch raw[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '"', '\\', '/':
				b.WriteByte(raw[i])
			default:
				b.WriteString(raw[i-1 : i+1])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

// description is that of the front matter, else the first line that says
// something, without the marks of a heading.
func (d document) description() string {
	if own := oneLine(d.fields["description"], maxDescription); own != "" {
		return own
	}
	for line := range strings.Lines(d.body) {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#"))
		if line = oneLine(line, maxDefault); line != "" {
			return line
		}
	}
	return oneLine(d.body, maxDefault)
}

// oneLine makes one line of at most max characters: white space and control
// characters become single spaces.
func oneLine(s string, max int) string {
	var b strings.Builder
	n, gap := 0, false
	for _, r := range s { // bytes that are no character come as U+FFFD
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			gap = n > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			n++
		}
		b.WriteRune(r)
		n, gap = n+1, false
		if n > max { // the rest may be long
			break
		}
	}
	return clip(b.String(), max)
}

// clip keeps at most max characters, the last of which is an ellipsis when
// something is cut off.
func clip(s string, max int) string {
	n, end := 0, 0 // end is behind max-1 characters
	for i := range s {
		if n == max-1 {
			end = i
		}
		if n == max {
			return strings.TrimRight(s[:end], " ") + "…"
		}
		n++
	}
	return s
}

// pattern is compiled when it is first needed: nothing is prepared before the
// first answer.
type pattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}
