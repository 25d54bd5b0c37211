package host

// Known is the number of sessions that the host keeps something of.
func Known(h *Host) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions) + len(h.early)
}
