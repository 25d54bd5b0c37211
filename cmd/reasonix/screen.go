package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/acpkit/acpkit/cmd/reasonix/internal/terminal"
	"github.com/acpkit/acpkit/generated/acp"
)

// screen draws a session on a terminal, or plainly where there is none. All that
// it draws comes from a model, from files or from the agent, so it is cleaned
// first: none of it can steer the terminal.
type screen struct {
	cwd     string                                                         // paths below it are shown relative to it
	maxDiff int                                                            // lines of a diff that are shown; 0 is all
	choose  func(ctx context.Context, choices []choice, invite func()) int // -1 refuses; calls invite once, when an answer can come

	mu     sync.Mutex // guards all below, so that no two things are drawn at once
	out    io.Writer
	colour bool
	live   func() int        // columns of a terminal on which a line can be drawn again; nil elsewhere
	replay bool              // what comes is of earlier turns
	said   func(text string) // told of what the user said in a replay; may be nil
	last   string            // kind of what was drawn last
	open   acp.ToolCallID    // the tool call whose announcement was drawn last, "" after anything else
	bol    bool              // at the beginning of a line
	titles map[acp.ToolCallID]string
	diffs  map[acp.ToolCallID]string // of those whose diff was shown; all of it where it was shortened
}

// newScreen draws on out; questions are answered by lines from in.
func newScreen(sio stdio, cwd string) *screen {
	s := &screen{out: sio.out, cwd: cwd, bol: true, titles: map[acp.ToolCallID]string{}, diffs: map[acp.ToolCallID]string{},
		colour: terminal.Capable(sio.out) && os.Getenv("NO_COLOR") == ""}
	s.choose = s.byLine(newLineReader(sio.in))
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

// note writes a line of our own between what the agent shows.
func (s *screen) note(style, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.block("note", s.style(style, line))
}

// fresh is called where the next turn begins: what the user typed stands above.
func (s *screen) fresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bol, s.last, s.open = true, "", ""
}

func (s *screen) update(_ context.Context, n *acp.SessionNotification) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch u := n.Update.(type) {
	case *acp.SessionUpdateUserMessageChunk:
		if s.replay { // else the user has just typed it
			s.user(text(u.Content))
		}
	case *acp.SessionUpdateAgentThoughtChunk:
		s.begin("thought")
		s.write(s.style(dim, terminal.Clean(text(u.Content))))
	case *acp.SessionUpdateAgentMessageChunk:
		s.begin("text")
		s.write(terminal.Clean(text(u.Content)))
	case *acp.Plan:
		s.plan(u)
	case *acp.ToolCall:
		s.toolCall(u)
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

// user shows a prompt of an earlier turn.
func (s *screen) user(text string) {
	if s.said != nil {
		s.said(text)
	}
	if s.last != "" {
		if !s.bol {
			s.write("\n")
		}
		s.write("\n")
	}
	lines := strings.ReplaceAll(terminal.Clean(strings.TrimSuffix(text, "\n")), "\n", "\n  ")
	s.write(s.style(bold, promptMark+lines) + "\n")
	s.last = "user done"
}

func (s *screen) plan(p *acp.Plan) {
	marks := map[acp.PlanEntryStatus]string{acp.PlanEntryStatusPending: "[ ]", acp.PlanEntryStatusInProgress: "[>]", acp.PlanEntryStatusCompleted: "[x]"}
	var b strings.Builder
	b.WriteString(s.style(cyan, "plan") + "\n")
	for _, e := range p.Entries {
		fmt.Fprintf(&b, "  %s %s\n", marks[e.Status], terminal.CleanLine(e.Content))
	}
	s.block("plan", b.String())
}

// toolCall announces a call. One that has ended already, in a replay, is shown
// with how it ended.
func (s *screen) toolCall(u *acp.ToolCall) {
	s.titles[u.ToolCallID] = u.Title
	if u.Status != nil && (*u.Status == acp.ToolCallStatusCompleted || *u.Status == acp.ToolCallStatusFailed) {
		s.content(u.ToolCallID, u.Content)
		s.block("tool", s.ended(u.ToolCallID, *u.Status, u.Content))
		return
	}
	s.begin("tool")
	s.write(s.style(cyan, "● ") + s.style(bold, s.title(u.ToolCallID)))
	if s.live == nil {
		s.write("\n")
	}
	s.last = "tool done"
	s.open = u.ToolCallID
	s.content(u.ToolCallID, u.Content)
}

// named is what a call is called; never nothing, or nobody knew what is asked.
func (s *screen) named(id acp.ToolCallID) string {
	return cmp.Or(terminal.CleanLine(s.titles[id]), "tool call "+terminal.CleanLine(string(id)))
}

// title is named, short enough for a line that is drawn again.
func (s *screen) title(id acp.ToolCallID) string {
	title := s.named(id)
	if s.live == nil {
		return title
	}
	return terminal.Shorten(title, max(s.live()-5, 10))
}

func (s *screen) ended(id acp.ToolCallID, status acp.ToolCallStatus, content []acp.ToolCallContent) string {
	if status == acp.ToolCallStatusFailed {
		return s.style(red, "✗ ") + s.title(id) + reason(content)
	}
	return s.style(green, "✓ ") + s.title(id)
}

func (s *screen) toolUpdate(u *acp.ToolCallUpdate) {
	id := u.ToolCallID
	if u.Title != nil {
		s.titles[id] = *u.Title
	}
	s.content(id, u.Content)
	if u.Status == nil || *u.Status != acp.ToolCallStatusCompleted && *u.Status != acp.ToolCallStatusFailed {
		return
	}
	line := s.ended(id, *u.Status, u.Content)
	switch {
	case s.open != id || s.live == nil && *u.Status == acp.ToolCallStatusFailed:
		s.block("tool", "  "+line)
	case s.live != nil: // in place of the announcement
		s.write("\r\x1b[K" + line + "\n")
	default:
		// Success right below the announcement says nothing new.
	}
}

// reason is the first line of a failed call's text.
func reason(content []acp.ToolCallContent) string {
	for _, c := range content {
		if c, ok := c.(*acp.Content); ok {
			if line, _, _ := strings.Cut(strings.TrimSpace(text(c.Content)), "\n"); line != "" {
				return ": " + terminal.CleanLine(line)
			}
		}
	}
	return ""
}

// path is a path as it is shown: relative to the workspace where it lies in it.
func (s *screen) path(abs string) string {
	rel, err := filepath.Rel(s.cwd, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return terminal.CleanLine(abs)
	}
	return terminal.CleanLine(rel)
}

// stop says how the turn ended.
func (s *screen) stop(r acp.StopReason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin("stop")
	s.write(s.style(dim, "stop reason: "+terminal.CleanLine(string(r))) + "\n")
}

// end leaves the cursor at the beginning of a line.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.bol {
		s.write("\n")
	}
}
