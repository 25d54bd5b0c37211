package host

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/acpkit/acpkit/generated/acp"
)

// NewSession opens a session in cwd, an absolute path. What the agent sends for
// the session ahead of its answer is not lost: the session has it (Unprompted).
func (h *Host) NewSession(ctx context.Context, cwd string, servers ...acp.MCPServer) (*Session, error) {
	h.sessions.begin()
	defer h.sessions.end()
	res, err := h.Agent.SessionNew(ctx, &acp.NewSessionRequest{CWD: cwd, MCPServers: servers})
	if err != nil {
		return nil, err
	}
	s := h.session(res.SessionID)
	s.Modes, s.ConfigOptions = res.Modes, res.ConfigOptions
	if err := h.sessions.add(s); err != nil {
		return nil, fmt.Errorf("session/new: the agent gave an id twice: %w", err)
	}
	return s, nil
}

// LoadSession reopens a stored session. The replay is what the agent sent of its
// history, which belongs to no turn. What an agent sends of it after the answer,
// against the protocol, is found in Unprompted as far as it comes before the
// next prompt is sent; behind that nothing tells it from the turn's own updates.
//
// When the agent answers with an error, the session is not open.
func (h *Host) LoadSession(ctx context.Context, id acp.SessionID, cwd string, servers ...acp.MCPServer) (s *Session, replay []acp.SessionUpdate, err error) {
	s = h.session(id)
	if err := h.sessions.add(s); err != nil { // before the replay comes
		return nil, nil, fmt.Errorf("session/load: %w; close it first", err)
	}
	res, err := h.Agent.SessionLoad(ctx, &acp.LoadSessionRequest{SessionID: id, CWD: cwd, MCPServers: servers})
	if err != nil {
		h.sessions.drop(s)
		return nil, nil, err
	}
	s.Modes, s.ConfigOptions = res.Modes, res.ConfigOptions
	return s, s.Unprompted(), nil
}

// ResumeSession continues a stored session, whose history is not replayed. When
// the agent answers with an error, the session is not open.
func (h *Host) ResumeSession(ctx context.Context, id acp.SessionID, cwd string, servers ...acp.MCPServer) (*Session, error) {
	s := h.session(id)
	if err := h.sessions.add(s); err != nil {
		return nil, fmt.Errorf("session/resume: %w; close it first", err)
	}
	res, err := h.Agent.SessionResume(ctx, &acp.ResumeSessionRequest{SessionID: id, CWD: cwd, MCPServers: servers})
	if err != nil {
		h.sessions.drop(s)
		return nil, err
	}
	s.Modes, s.ConfigOptions = res.Modes, res.ConfigOptions
	return s, nil
}

func (h *Host) session(id acp.SessionID) *Session {
	return &Session{ID: id, host: h, between: record{max: h.conf.MaxRecord}}
}

// ListSessions yields the stored sessions with the working directory cwd, all
// when it is "", page by page as they are asked for. An error is the last that
// it yields.
func (h *Host) ListSessions(ctx context.Context, cwd string) iter.Seq2[acp.SessionInfo, error] {
	return func(yield func(acp.SessionInfo, error) bool) {
		req := &acp.ListSessionsRequest{}
		if cwd != "" {
			req.CWD = &cwd
		}
		for {
			res, err := h.Agent.SessionList(ctx, req)
			if err != nil {
				yield(acp.SessionInfo{}, err)
				return
			}
			for _, info := range res.Sessions {
				if !yield(info, nil) {
					return
				}
			}
			switch {
			case res.NextCursor == nil:
				return
			case req.Cursor != nil && *req.Cursor == *res.NextCursor:
				yield(acp.SessionInfo{}, errors.New("session/list: the agent gives the same page for ever"))
				return
			}
			req.Cursor = res.NextCursor
		}
	}
}

// DeleteSession removes a stored session; if it is open here, it is closed.
func (h *Host) DeleteSession(ctx context.Context, id acp.SessionID) error {
	if _, err := h.Agent.SessionDelete(ctx, &acp.DeleteSessionRequest{SessionID: id}); err != nil {
		return err
	}
	if s := h.sessions.find(id); s != nil {
		s.drop()
	}
	return nil
}
