package agent

import (
	"context"

	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/tool"
	"github.com/acpkit/acpkit/agent/internal/turn"
	"github.com/acpkit/acpkit/generated/acp"
)

// emit sends what happens in a turn as session/update notifications.
func (c *connection) emit(ctx context.Context, s *session.Session) func(turn.Event) error {
	return func(e turn.Event) error {
		u := render(e)
		if u == nil {
			return nil
		}
		return c.client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: acp.SessionID(s.ID), Update: u})
	}
}

// render is the one place where events become updates. It returns nil for what
// has no update.
func render(e turn.Event) acp.SessionUpdate {
	switch e := e.(type) {
	case turn.Thought:
		return &acp.SessionUpdateAgentThoughtChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: e.Text}}}
	case turn.Text:
		return &acp.SessionUpdateAgentMessageChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: e.Text}}}
	case turn.Plan:
		return plan(e)
	case turn.ToolCall:
		return toolCall(e)
	case turn.ToolStart:
		return &acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(e.ID), Status: new(acp.ToolCallStatusInProgress)}
	case turn.ToolEnd:
		return toolEnd(e)
	default: // turn.Usage: there is no window size to report beside it yet
		return nil
	}
}

func plan(e turn.Plan) *acp.Plan {
	p := &acp.Plan{}
	for _, entry := range e.Entries {
		p.Entries = append(p.Entries, acp.PlanEntry{Content: entry.Content, Priority: acp.PlanEntryPriority(entry.Priority), Status: acp.PlanEntryStatus(entry.Status)})
	}
	return p
}

func toolCall(e turn.ToolCall) *acp.ToolCall {
	return &acp.ToolCall{
		ToolCallID: acp.ToolCallID(e.ID), Title: e.Title, Name: &e.Tool, Kind: new(acp.ToolKind(e.Kind)), Status: new(acp.ToolCallStatusPending),
		Content: diffs(e.Diffs), Locations: locations(e.Locations), RawInput: e.Args,
	}
}

func toolEnd(e turn.ToolEnd) *acp.ToolCallUpdate {
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
