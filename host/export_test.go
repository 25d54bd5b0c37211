package host

// Early tells how many ids that are not open are remembered, and what for them
// is kept in bytes.
func (h *Host) Early() (ids, size int) {
	h.sessions.mu.Lock()
	defer h.sessions.mu.Unlock()
	return len(h.sessions.early), h.sessions.size
}

// Open tells how many sessions are open.
func (h *Host) Open() int {
	h.sessions.mu.Lock()
	defer h.sessions.mu.Unlock()
	return len(h.sessions.open)
}

// Recorded tells how many updates the running turn has.
func (s *Session) Recorded() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return 0
	}
	return len(s.running.record.updates)
}

// Running tells whether the session has a prompt that is not answered.
func (s *Session) Running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil
}

// Cut closes the agent's input and does nothing else.
func (h *Host) Cut() { h.endInput(defaultCloseGrace) }

// Sent tells whether the running prompt stands in the output.
func (s *Session) Sent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil && s.running.isSent()
}

// Pid is the agent's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }
