package main

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/acpkit/acpkit/cmd/reasonix/internal/terminal"
	"github.com/acpkit/acpkit/generated/acp"
)

// content shows the diffs of a call, once.
func (s *screen) content(id acp.ToolCallID, content []acp.ToolCallContent) {
	if _, shown := s.diffs[id]; shown {
		return
	}
	var lines []string
	for _, c := range content {
		if d, ok := c.(*acp.Diff); ok {
			s.diffs[id] = ""
			lines = append(lines, s.diff(d)...)
		}
	}
	s.shortened("diff", id, lines)
}

// reading shows the text that a question is about: a plan to approve, say.
func (s *screen) reading(id acp.ToolCallID, content []acp.ToolCallContent) {
	var lines []string
	for _, c := range content {
		if c, ok := c.(*acp.Content); ok {
			for line := range strings.Lines(terminal.Clean(text(c.Content))) {
				lines = append(lines, "  "+strings.TrimSuffix(line, "\n")+"\n")
			}
		}
	}
	s.shortened("reading", id, lines)
}

// shortened shows lines up to maxDiff, and keeps all of them for the question.
func (s *screen) shortened(kind string, id acp.ToolCallID, lines []string) {
	if len(lines) == 0 {
		return
	}
	if s.maxDiff > 0 && len(lines) > s.maxDiff {
		s.diffs[id] += strings.Join(lines, "")
		more := fmt.Sprintf("  … %d more lines", len(lines)-s.maxDiff)
		lines = append(lines[:s.maxDiff:s.maxDiff], s.style(dim, more)+"\n")
	}
	s.block(kind, strings.Join(lines, ""))
}

// diff is the unified diff of one file in lines, each with its end.
func (s *screen) diff(d *acp.Diff) []string {
	path := s.path(d.Path)
	old, from := "", "/dev/null"
	if d.OldText != nil {
		old, from = *d.OldText, path
	}
	var lines []string
	for line := range strings.Lines(udiff.Unified(from, path, old, d.NewText)) {
		line = terminal.Clean(strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "+"):
			line = s.style(green, line)
		case strings.HasPrefix(line, "-"):
			line = s.style(red, line)
		case strings.HasPrefix(line, "@@"):
			line = s.style(dim, line)
		}
		lines = append(lines, "  "+line+"\n")
	}
	return lines
}
