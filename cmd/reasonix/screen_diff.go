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
	var all, part strings.Builder
	for _, c := range content {
		d, ok := c.(*acp.Diff)
		if !ok {
			continue
		}
		s.diffs[id] = ""
		lines := s.diff(d)
		all.WriteString(strings.Join(lines, ""))
		if s.maxDiff > 0 && len(lines) > s.maxDiff {
			more := fmt.Sprintf("  … %d more lines", len(lines)-s.maxDiff)
			lines = append(lines[:s.maxDiff:s.maxDiff], s.style(dim, more)+"\n")
		}
		part.WriteString(strings.Join(lines, ""))
	}
	if part.Len() == 0 {
		return
	}
	if all.String() != part.String() {
		s.diffs[id] = all.String()
	}
	s.block("diff", part.String())
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
