package agent

import (
	"context"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// sessionLoad opens a stored session, or one that is open here, and shows all
// that it has shown before it answers. Nothing is run or fetched for that.
// Errors: see reopen and place; -32002 when the stored cwd is gone, -32600 when
// another process has the session, -32800 when it is cancelled before all is
// shown. Source: session setup, loading; seed 54, 75.
func (c *connection) sessionLoad(ctx context.Context, p *reasonix.LoadSessionRequest) (*reasonix.LoadSessionResponse, error) {
	const method = acp.MethodSessionLoad
	wasOpen := c.sessions.Find(string(p.SessionID)) != nil
	s, release, err := c.reopen(method, p.SessionID, p.CWD, p.AdditionalDirectories, p.MCPServers)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := c.replay(ctx, s); err != nil {
		if !wasOpen { // a load that failed has opened nothing
			c.sessions.Remove(s.ID)
			_ = s.Log.Close()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fault(acp.ErrorCodeInternalError, method, "%v", err)
	}
	o := c.offered(s)
	c.announce(ctx, s)
	return &reasonix.LoadSessionResponse{Modes: o.modes, ConfigOptions: o.options, Models: o.models, Meta: o.meta()}, nil
}

// replay shows the session's events again, straight from the ledger. A running
// turn waits meanwhile, so the host sees each event once.
func (c *connection) replay(ctx context.Context, s *session.Session) error {
	s.Show.Lock()
	defer s.Show.Unlock()
	r := replayer{live: s.Busy(), show: func(u acp.SessionUpdate) error {
		return c.client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: acp.SessionID(s.ID), Update: u})
	}}
	for e, err := range session.Events(s.Log.Read(1)) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = r.event(e)
		}
		if err != nil {
			return err
		}
	}
	return r.end()
}

// replayer renders events as the live session did, except that a call comes once,
// with how it ended, and that the user's words come too.
type replayer struct {
	show func(acp.SessionUpdate) error
	live bool // a call that has not ended may be running
	call *event.ToolCall
}

func (r *replayer) event(e event.Event) error {
	switch e.(type) {
	case event.Prompt, event.Command, event.ToolCall, event.Done:
		// A call goes on no further than its turn, however that ended: a process
		// that was killed and a full disk leave no Done behind.
		if err := r.broken(); err != nil {
			return err
		}
	}
	switch e := e.(type) {
	case event.Prompt:
		return r.show(&acp.SessionUpdateUserMessageChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: e.Text}}})
	case event.ToolCall:
		r.call = &e
		return nil
	case event.ToolEnd:
		if r.call == nil || r.call.ID != e.ID {
			break
		}
		call := toolCall(*r.call)
		end := toolEnd(e)
		r.call = nil
		call.Status, call.Content = end.Status, end.Content
		return r.show(call)
	}
	if u := render(e); u != nil {
		return r.show(u)
	}
	return nil
}

// broken shows a call that never ended.
func (r *replayer) broken() error {
	if r.call == nil {
		return nil
	}
	call := toolCall(*r.call)
	call.Status = new(acp.ToolCallStatusFailed)
	r.call = nil
	return r.show(call)
}

// end shows what is still open.
func (r *replayer) end() error {
	if r.call != nil && r.live {
		return r.show(toolCall(*r.call))
	}
	return r.broken()
}
