//go:build unix

package workspace

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPipeIsNotRead(t *testing.T) {
	w, base := tree(t)
	if err := syscall.Mkfifo(filepath.Join(base, "in/pipe"), 0o666); err != nil {
		t.Skip(err)
	}
	abs := filepath.Join(w.Root(), "pipe")
	if _, err := w.ReadText(abs); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("reading: %v", err)
	}
	if err := w.WriteText(abs, "x"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("writing: %v", err)
	}
}
