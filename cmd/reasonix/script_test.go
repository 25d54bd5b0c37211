package main

import (
	"flag"
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
const defaultConfig = `[[providers]]
name = "scripted"
kind = "scripted"
file = "../model.jsonl"
`

// TestScripts plays the golden transcripts: what our agent says, exactly.
func TestScripts(t *testing.T) {
	dirs, err := filepath.Glob("testdata/script/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
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
					if _, err := os.Stat(config); err == nil {
						return nil
					}
					return os.WriteFile(config, []byte(defaultConfig), 0o600)
				},
			})
		})
	}
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
