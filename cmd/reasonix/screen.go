package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"github.com/aymanbagabas/go-udiff"
	"golang.org/x/term"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

// screen draws a session on a terminal, or plainly where there is none.
type screen struct {
	lines func() (string, bool) // the next line that the user types
	cwd   string                // paths below it are shown relative to it

	mu     sync.Mutex // guards all below, so that no two things are drawn at once
	out    io.Writer
	colour bool
	last   string            // kind of what was drawn last
	open   string            // the tool call whose announcement was drawn last, "" after anything else
	bol    bool              // at the beginning of a line
	titles map[string]string // of tool calls, by id
	diffs  map[string]bool   // tool calls whose diff was shown
}

func newScreen(sio stdio, cwd string) *screen {
	s := &screen{out: sio.out, cwd: cwd, bol: true, titles: map[string]string{}, diffs: map[string]bool{},
		colour: term.IsTerminal(int(sio.out.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	in := bufio.NewScanner(sio.in)
	s.lines = func() (string, bool) { ok := in.Scan(); return in.Text(), ok }
	return s
}

// The styles; each ends by reset.
const (
	dim, red, green, cyan, bold, reset = "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"
)

func (s *screen) style(style, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return style + text + reset
}

// clean makes text harmless: a model or a file must not steer the terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, text)
}

// begin starts a new kind of output on a line of its own.
func (s *screen) begin(kind string) {
	if s.last == kind {
		return
	}
	if !s.bol {
		s.write("\n")
	}
	if s.last != "" && (kind == "text" || kind == "thought") {
		s.write("\n")
	}
	s.last = kind
}

func (s *screen) write(text string) {
	if text == "" {
		return
	}
	s.open = ""
	_, _ = io.WriteString(s.out, text)
	s.bol = strings.HasSuffix(strings.TrimSuffix(text, reset), "\n")
}

// block writes whole lines.
func (s *screen) block(kind, text string) {
	s.begin(kind)
	s.write(strings.TrimSuffix(text, "\n") + "\n")
	s.last = kind + " done"
}

func (s *screen) update(_ context.Context, n *acp.SessionNotification) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch u := n.Update.(type) {
	case *acp.SessionUpdateAgentThoughtChunk:
		s.begin("thought")
		s.write(s.style(dim, clean(text(u.Content))))
	case *acp.SessionUpdateAgentMessageChunk:
		s.begin("text")
		s.write(clean(text(u.Content)))
	case *acp.Plan:
		s.plan(u)
	case *acp.ToolCall:
		s.titles[string(u.ToolCallID)] = u.Title
		s.block("tool", s.style(cyan, "● ")+s.style(bold, clean(u.Title)))
		s.open = string(u.ToolCallID)
		s.content(string(u.ToolCallID), u.Content)
	case *acp.ToolCallUpdate:
		s.toolUpdate(u)
	}
	return nil
}

func text(c acp.ContentBlock) string {
	switch c := c.(type) {
	case *acp.TextContent:
		return c.Text
	case *acp.ResourceLink:
		return c.Name + " (" + c.URI + ")"
	}
	return ""
}

func (s *screen) plan(p *acp.Plan) {
	marks := map[acp.PlanEntryStatus]string{acp.PlanEntryStatusPending: "[ ]", acp.PlanEntryStatusInProgress: "[>]", acp.PlanEntryStatusCompleted: "[x]"}
	var b strings.Builder
	b.WriteString(s.style(cyan, "plan") + "\n")
	for _, e := range p.Entries {
		fmt.Fprintf(&b, "  %s %s\n", marks[e.Status], clean(e.Content))
	}
	s.block("plan", b.String())
}

func (s *screen) toolUpdate(u *acp.ToolCallUpdate) {
	id := string(u.ToolCallID)
	if u.Title != nil {
		s.titles[id] = *u.Title
	}
	s.content(id, u.Content)
	if u.Status == nil {
		return
	}
	switch *u.Status {
	case acp.ToolCallStatusCompleted:
		if s.open == id {
			return // success right below the announcement says nothing new
		}
		s.block("tool", s.style(green, "  ✓ ")+clean(s.titles[id]))
	case acp.ToolCallStatusFailed:
		s.block("tool", s.style(red, "  ✗ ")+clean(s.titles[id])+reason(u.Content))
	}
}

// reason is the first line of a failed call's text.
func reason(content []acp.ToolCallContent) string {
	for _, c := range content {
		if c, ok := c.(*acp.Content); ok {
			if line, _, _ := strings.Cut(strings.TrimSpace(text(c.Content)), "\n"); line != "" {
				return ": " + clean(line)
			}
		}
	}
	return ""
}

// content shows the diffs of a call, once.
func (s *screen) content(id string, content []acp.ToolCallContent) {
	for _, c := range content {
		d, ok := c.(*acp.Diff)
		if !ok || s.diffs[id] {
			continue
		}
		s.diffs[id] = true
		path := s.path(d.Path)
		old, from := "", "/dev/null"
		if d.OldText != nil {
			old, from = *d.OldText, path
		}
		var b strings.Builder
		for line := range strings.Lines(udiff.Unified(from, path, old, d.NewText)) {
			line = clean(strings.TrimSuffix(line, "\n"))
			switch {
			case strings.HasPrefix(line, "+"):
				line = s.style(green, line)
			case strings.HasPrefix(line, "-"):
				line = s.style(red, line)
			case strings.HasPrefix(line, "@@"):
				line = s.style(dim, line)
			}
			b.WriteString("  " + line + "\n")
		}
		s.block("diff", b.String())
	}
}

// path is a path as it is shown: relative to the workspace where it lies in it.
func (s *screen) path(abs string) string {
	rel, err := filepath.Rel(s.cwd, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return abs
	}
	return rel
}

// permission answers permission requests in the way of the flag.
func (s *screen) permission(how string) func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return func(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		title := s.titles[string(req.ToolCall.ToolCallID)]
		if req.ToolCall.Title != nil {
			title = *req.ToolCall.Title
		}
		s.content(string(req.ToolCall.ToolCallID), req.ToolCall.Content)
		switch how {
		case "allow":
			s.block("ask", "  ? "+clean(title)+": allowed (--permission allow)")
			return host.Choose(req, acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways), nil
		case "deny":
			s.block("ask", "  ? "+clean(title)+": refused (--permission deny)")
			return host.Choose(req, acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways), nil
		}
		return s.question(ctx, title, req), nil
	}
}

// question lets the user pick one of the options by its number. The end of
// input, and anything that is no option, refuses.
func (s *screen) question(ctx context.Context, title string, req *acp.RequestPermissionRequest) *acp.RequestPermissionResponse {
	s.begin("ask")
	s.write(s.style(bold, "  ? "+clean(title)) + "\n")
	for i, o := range req.Options {
		s.write(fmt.Sprintf("    %d  %s\n", i+1, clean(o.Name)))
	}
	s.write("    choose: ")
	answer := make(chan string, 1)
	go func() {
		line, _ := s.lines()
		answer <- strings.TrimSpace(line)
	}()
	var line string
	select {
	case line = <-answer:
	case <-ctx.Done():
	}
	if !s.colour {
		s.write("\n") // nobody typed a newline into a pipe's output
	}
	s.bol, s.last = true, "ask done"
	for i, o := range req.Options {
		if line == fmt.Sprint(i+1) || line == string(o.OptionID) {
			return host.Choose(&acp.RequestPermissionRequest{Options: []acp.PermissionOption{o}}, o.Kind)
		}
	}
	return host.Choose(req, acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways)
}

// stop says how the turn ended.
func (s *screen) stop(r acp.StopReason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin("stop")
	s.write(s.style(dim, "stop reason: "+string(r)) + "\n")
}

// end leaves the cursor at the beginning of a line.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.bol {
		s.write("\n")
	}
}
