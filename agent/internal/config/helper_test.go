package config

import (
	"errors"
	"testing"
)

func asFileError(t testing.TB, err error) *FileError {
	t.Helper()
	var e *FileError
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *FileError", err)
	}
	return e
}

// home is a fresh folder with these files.
func homeWith(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, dir+"/"+name, text)
	}
	return dir
}
