package main

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acpkit/acpkit/conformance/playtest"
)

var update = flag.Bool("update", false, "rewrite the transcripts of testdata/script")

func TestMain(m *testing.M) {
	// The race detector sleeps a second at the exit of each process otherwise.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	testscript.Main(m, map[string]func(){"reasonix": main})
}

// defaultConfig makes the model references scripted/NAME play $WORK/model.jsonl.
// A script with a home/config.toml of its own has that instead.
const defaultConfig = `[agent]
retry_seconds = 0
[[providers]]
name = "scripted"
kind = "scripted"
file = "../model.jsonl"
`

// onLinux holds the scripts that need what only Linux has: TestBubblewrapScripts
// plays them.
const onLinux = "disk"

// sandboxOff is added where a script says nothing about the sandbox: which engine
// works is another thing on each machine.
const sandboxOff = "\n[sandbox]\nbash = \"off\"\n"

// TestScripts plays the golden transcripts: what our agent says, exactly.
func TestScripts(t *testing.T) {
	dirs, err := filepath.Glob("testdata/script/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, dir := range dirs {
		if filepath.Base(dir) != onLinux {
			t.Run(filepath.Base(dir), func(t *testing.T) { playFolder(t, dir) })
		}
	}
}

func playFolder(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"play": playtest.Cmd, "provider": playtest.Provider, "requests": playtest.Requests, "hold": hold},
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("REASONIX_HOME", home)
			env.Setenv("HOME", home)
			for _, dir := range []string{home, filepath.Join(env.WorkDir, "project")} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					return err
				}
			}
			config := filepath.Join(home, "config.toml")
			text, err := os.ReadFile(config)
			if errors.Is(err, fs.ErrNotExist) {
				text, err = []byte(defaultConfig), nil
			}
			if err == nil && !bytes.Contains(text, []byte("[sandbox]")) {
				text = append(text, sandboxOff...)
			}
			return errors.Join(err, os.WriteFile(config, text, 0o600))
		},
	})
}

// hold locks each stored session until the script ends, as a process that has it
// open does.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	locks, err := filepath.Glob(ts.MkAbs("home/acp/sessions/*/lock"))
	ts.Check(err)
	if len(locks) == 0 {
		ts.Fatalf("hold: no session is stored")
	}
	for _, name := range locks {
		lock := flock.New(name)
		if ok, err := lock.TryLock(); !ok || err != nil {
			ts.Fatalf("hold: %v", err)
		}
		ts.Check(os.WriteFile(filepath.Join(filepath.Dir(name), "holder"), []byte(`{"owner":"reasonix (pid 4242)"}`+"\n"), 0o600))
		ts.Defer(func() { _ = lock.Close() })
	}
}
