package host

import (
	"context"

	"github.com/acpkit/acpkit/generated/acp"
)

// NewSession opens a session in cwd, an absolute path.
func (h *Host) NewSession(ctx context.Context, cwd string, servers ...acp.MCPServer) (*Session, error) {
	defer h.expect()()
	res, err := h.Agent.SessionNew(ctx, &acp.NewSessionRequest{CWD: cwd, MCPServers: servers})
	if err != nil {
		return nil, err
	}
	return h.opened(res.SessionID, res.Modes, res.ConfigOptions), nil
}

// LoadSession opens a stored session again. What the agent replays before it
// answers is returned apart: it belongs to no turn. The agent must have
// announced loadSession.
func (h *Host) LoadSession(ctx context.Context, id acp.SessionID, cwd string, servers ...acp.MCPServer) (*Session, *Turn, error) {
	s, replay, err := h.replaying(id)
	if err != nil {
		return nil, nil, err
	}
	res, err := h.Agent.SessionLoad(ctx, &acp.LoadSessionRequest{SessionID: id, CWD: cwd, MCPServers: servers})
	s.endReplay()
	if err != nil {
		h.forget(s)
		return nil, nil, err
	}
	s.settle(State{Modes: res.Modes, ConfigOptions: res.ConfigOptions})
	return s, replay, nil
}

// ResumeSession opens a stored session again without a replay. The agent must
// have announced sessionCapabilities.resume.
func (h *Host) ResumeSession(ctx context.Context, id acp.SessionID, cwd string, servers ...acp.MCPServer) (*Session, error) {
	defer h.expect()()
	res, err := h.Agent.SessionResume(ctx, &acp.ResumeSessionRequest{SessionID: id, CWD: cwd, MCPServers: servers})
	if err != nil {
		return nil, err
	}
	return h.opened(id, res.Modes, res.ConfigOptions), nil
}

// Close ends the session, whose history the agent may keep: a running prompt is
// cancelled, and what comes for the session afterwards is not recorded. The
// agent must have announced sessionCapabilities.close.
func (s *Session) Close(ctx context.Context) error {
	_, err := s.host.Agent.SessionClose(ctx, &acp.CloseSessionRequest{SessionID: s.ID})
	if err == nil {
		s.cancelPrompt()
		s.host.forget(s)
	}
	return err
}

// expect keeps what is told of sessions that are not known yet, as long as one
// is being opened: an agent may speak of it before it answers.
func (h *Host) expect() (answered func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.opening++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.opening--; h.opening == 0 {
			h.early = nil
		}
	}
}

// opened registers a session with what was told of it so far.
func (h *Host) opened(id acp.SessionID, modes *acp.SessionModeState, options []acp.SessionConfigOption) *Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[id]
	if s == nil {
		s = &Session{ID: id, host: h}
		h.sessions[id] = s
	}
	s.settle(State{Modes: modes, ConfigOptions: options})
	// What was told early comes on top: it may also have come right behind the
	// answer, and what came before the answer, the answer says too.
	if early := h.early[id]; early != nil {
		s.overlay(early)
		delete(h.early, id)
	}
	return s
}

func (h *Host) replaying(id acp.SessionID) (*Session, *Turn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[id]
	if s == nil {
		s = &Session{ID: id, host: h}
		h.sessions[id] = s
	}
	replay := &Turn{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		return nil, nil, errBusy
	}
	s.turn = replay
	return s, replay, nil
}

func (h *Host) forget(s *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[s.ID] == s {
		delete(h.sessions, s.ID)
	}
}

func (h *Host) find(id acp.SessionID) *Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

func (h *Host) update(ctx context.Context, n *acp.SessionNotification) error {
	var err error
	if f := h.conf.Handlers.SessionUpdate; f != nil {
		err = f(ctx, n)
	}
	h.mu.Lock()
	s := h.sessions[n.SessionID]
	if s == nil {
		h.recordEarly(n)
	}
	h.mu.Unlock()
	if s != nil {
		s.record(n.Update)
	}
	return err
}

// recordEarly keeps what an update says of a session that is perhaps being
// opened. Of any other nothing is kept; the handler has seen it.
func (h *Host) recordEarly(n *acp.SessionNotification) {
	if h.opening == 0 {
		h.conf.Logger.Warn("update for a session that is not open here", "session", n.SessionID)
		return
	}
	state := h.early[n.SessionID]
	if state == nil {
		if len(h.early) == maxEarly {
			h.conf.Logger.Warn("updates for too many unknown sessions; this one is not kept", "session", n.SessionID)
			return
		}
		if h.early == nil {
			h.early = map[acp.SessionID]*State{}
		}
		state = &State{}
		h.early[n.SessionID] = state
	}
	state.apply(n.Update)
}
