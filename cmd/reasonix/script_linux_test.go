//go:build bubblewrap

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestBubblewrapScripts plays the golden transcripts of disks that do not take
// what is written. Without the programs that make such a disk the test fails.
func TestBubblewrapScripts(t *testing.T) {
	for program, from := range map[string]string{"bwrap": "bubblewrap", "prlimit": "util-linux", "env": "coreutils"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("%s is needed for this test: install %s", program, from)
		}
	}
	playFolder(t, filepath.Join("testdata", "script", onLinux))
}
