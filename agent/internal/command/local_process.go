package command

import (
	"strings"
	"unicode/utf8"
)

const noShell = "this session runs no processes in the background; allow commands with the tool_approval option and ask for one"

func (p *page) processes() {
	if !p.none() {
		return
	}
	if p.env.Processes == nil {
		p.missing(noShell)
		return
	}
	list := p.env.Processes()
	if len(list) == 0 {
		p.line("none; a command that the model starts in the background is listed here")
	}
	for _, s := range list[:min(len(list), maxList)] {
		p.line("%s, %s, since %s: %s", s.ID, s.State, when(s.Since), oneLine(s.Command, maxText))
	}
	if more := len(list) - maxList; more > 0 {
		p.line("and %d more", more)
	}
}

func (p *page) process() {
	switch {
	case len(p.args) == 1 && !strings.EqualFold(p.args[0], "stop"):
		p.showProcess(p.args[0])
	case len(p.args) == 2 && strings.EqualFold(p.args[0], "stop"):
		p.stopProcess(p.args[1])
	default:
		p.usage()
	}
}

func (p *page) showProcess(id string) {
	if p.env.Process == nil {
		p.missing(noShell)
		return
	}
	s, tail, err := p.env.Process(id)
	if err != nil {
		p.failed(err)
		p.line("/processes lists the ids")
		return
	}
	p.line("id: %s", s.ID)
	p.line("state: %s", s.State)
	p.line("since: %s", when(s.Since))
	p.line("command: %s", oneLine(s.Command, maxText))
	text, cut := tailOf(tail)
	switch {
	case text == "":
		p.line("output: none")
	case cut:
		p.line("output, the last %d characters:", maxTail)
	default:
		p.line("output:")
	}
	p.b.WriteString("\n" + text)
}

func (p *page) stopProcess(id string) {
	if p.env.StopProcess == nil {
		p.missing(noShell)
		return
	}
	if err := p.env.StopProcess(id); err != nil {
		p.failed(err)
		p.line("/processes lists the ids")
		return
	}
	p.line("stopped %s", id)
}

// tailOf keeps the last characters. Bytes that are no character count as one each.
func tailOf(s string) (tail string, cut bool) {
	s = strings.TrimRight(s, " \t\r\n")
	start := len(s)
	for n := 0; n < maxTail && start > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(s[:start])
		start -= size
	}
	return strings.ToValidUTF8(s[start:], "\ufffd"), start > 0
}
