package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/tool"
	"github.com/acpkit/acpkit/generated/acp"
)

// tell writes an event down and shows it: first the status that it gives rise to,
// then its update. Everything that a session shows goes through here.
func (c *connection) tell(ctx context.Context, s *session.Session, e event.Event) error {
	s.Show.Lock()
	defer s.Show.Unlock()
	title := s.State().Title
	publish, err := s.Record(e)
	if err != nil {
		return err
	}
	if publish != "" {
		if err := c.tellStatus(ctx, s, publish); err != nil {
			return err
		}
	}
	u := c.render(e, true)
	if now := s.State().Title; now != title {
		info := &acp.SessionInfoUpdate{Title: acp.Value(now), UpdatedAt: acp.Value(time.Now().UTC().Format(time.RFC3339Nano))}
		if err := c.client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: acp.SessionID(s.ID), Update: info}); err != nil {
			return err
		}
	}
	if u == nil {
		return nil
	}
	return c.client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: acp.SessionID(s.ID), Update: u})
}

// tellContext says how full the model's window is, where both are known. It comes
// right before the answer to a prompt.
func (c *connection) tellContext(ctx context.Context, s *session.Session) {
	last, window := s.State().Status.All.Last, s.Model().Window
	if used := last.Input + last.Output; used > 0 && window > 0 {
		c.tellUpdate(ctx, s, &acp.UsageUpdate{Used: used, Size: uint64(window)})
	}
}

// render is render with what only some hosts take: how a condensing of the
// history goes on, and notices, which are live only. The others are told in words.
func (c *connection) render(e event.Event, live bool) acp.SessionUpdate {
	host := c.host.Load()
	switch e := e.(type) {
	case event.Retry:
		if host == nil || host.Notices == nil {
			break
		}
		if !live {
			return nil
		}
		return &acp.Notice{Severity: acp.NoticeSeverityWarning, Title: "The model call failed and is made again", Description: &e.Text}
	case event.Compacting:
		if host == nil || host.Compaction == nil {
			break
		}
		u := &acp.CompactionUpdate{CompactionID: acp.CompactionID(e.ID), Status: acp.CompactionStatusInProgress}
		if e.Failed {
			u.Status = acp.CompactionStatusCancelled
		}
		return u
	case event.Compacted:
		if host == nil || host.Compaction == nil {
			break
		}
		return &acp.CompactionUpdate{CompactionID: acp.CompactionID(e.ID), Status: acp.CompactionStatusCompleted,
			Summary: acp.Value([]acp.ContentBlock{&acp.TextContent{Text: e.Message}})}
	}
	return render(e)
}

// render is the one place where events become updates, live and in a replay. It
// returns nil for what has no update.
func render(e event.Event) acp.SessionUpdate {
	switch e := e.(type) {
	case event.Thought:
		return &acp.SessionUpdateAgentThoughtChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: e.Text}}}
	case event.Text:
		return message(e.Text)
	case event.Plan:
		return plan(e)
	case event.ToolCall:
		return toolCall(e)
	case event.ToolStart:
		return &acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(e.ID), Status: new(acp.ToolCallStatusInProgress)}
	case event.ToolEnd:
		return toolEnd(e)
	case event.Command: // the host's own echo is of prompts; this one begins the command's record
		return &acp.SessionUpdateUserMessageChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: e.Input}}}
	case event.Output:
		if strings.TrimSpace(e.Text) == "" {
			return nil
		}
		return message(e.Text)
	case event.Retry:
		return &acp.SessionUpdateAgentThoughtChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: "\n[retry] " + e.Text + "\n"}}}
	case event.Compacted:
		return message(fmt.Sprintf("\n\n[compacted %d messages]\n\n", e.Dropped))
	case event.Warning:
		return message("\n\n[warning] " + e.Text)
	default: // turn.Usage: there is no window size to report beside it yet
		return nil
	}
}

func message(text string) acp.SessionUpdate {
	return &acp.SessionUpdateAgentMessageChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: text}}}
}

func plan(e event.Plan) *acp.Plan {
	p := &acp.Plan{}
	for _, entry := range e.Entries {
		p.Entries = append(p.Entries, acp.PlanEntry{Content: entry.Content, Priority: acp.PlanEntryPriority(entry.Priority), Status: acp.PlanEntryStatus(entry.Status)})
	}
	return p
}

func toolCall(e event.ToolCall) *acp.ToolCall {
	return &acp.ToolCall{
		ToolCallID: acp.ToolCallID(e.ID), Title: e.Title, Name: &e.Tool, Kind: new(acp.ToolKind(e.Kind)), Status: new(acp.ToolCallStatusPending),
		Content: announced(e), Locations: locations(e.Locations), RawInput: e.Args,
	}
}

// announced is what the user can look at before the call runs.
func announced(e event.ToolCall) (content []acp.ToolCallContent) {
	if e.Text != "" {
		content = append(content, &acp.Content{Content: &acp.TextContent{Text: e.Text}})
	}
	return append(content, diffs(e.Diffs)...)
}

func toolEnd(e event.ToolEnd) *acp.ToolCallUpdate {
	u := &acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(e.ID), Status: new(acp.ToolCallStatusCompleted)}
	if e.Failed {
		u.Status = new(acp.ToolCallStatusFailed)
	}
	u.Content = append(diffs(e.Diffs), &acp.Content{Content: &acp.TextContent{Text: e.Text}})
	return u
}

func diffs(list []tool.Diff) (content []acp.ToolCallContent) {
	for _, d := range list {
		content = append(content, &acp.Diff{Path: d.Path, OldText: d.Old, NewText: d.New})
	}
	return content
}

func locations(list []tool.Location) (locs []acp.ToolCallLocation) {
	for _, l := range list {
		loc := acp.ToolCallLocation{Path: l.Path}
		if l.Line > 0 {
			loc.Line = new(uint32(l.Line))
		}
		locs = append(locs, loc)
	}
	return locs
}
