package ledger

import "path/filepath"

// Held reports whether some process has the session open, this one included. It
// takes the lock for a moment to find out, and opens nothing.
func Held(s Store, id string) bool {
	switch s := s.(type) {
	case *files:
		path := filepath.Join(s.folder(id), lockFile)
		if !ValidID(id) || !exists(path) {
			return false
		}
		lock, err := tryLock(path)
		if err == nil {
			_ = lock.Unlock()
		}
		return err == errHeld
	case *memory:
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.open[id] != nil
	}
	return false
}
