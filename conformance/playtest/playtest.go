// Package playtest makes conformance.Play a testscript command, for tests of any agent:
//
//	testscript.Run(t, testscript.Params{
//		Dir:           "testdata/script",
//		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"play": playtest.Cmd},
//		UpdateScripts: *update,
//	})
//
// Agents that are the test binary itself (testscript.Main) exit at once under -race only with GORACE=atexit_sleep_ms=0,
// which a TestMain sets; testscript hands it on.
//
// It is a package of its own so that testscript, and with it package testing, stays out of what imports conformance. The
// script language is documented in package conformance.
package playtest

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acpkit/acpkit/conformance"
)

// Cmd is the testscript command
//
//	play [-script file] command [arg…]
//
// It runs the command in the current directory of the testscript with its environment, plays the file (by default
// $WORK/script), and leaves the transcript as stdout and what the agent logged as stderr:
//
//	play reasonix acp --model scripted/case
//	cmp stdout transcript
//	stderr 'no such key'
//
// A play that fails fails the test, with the step, what it waited for and what had been seen last; an exit status other
// than 0 is a line of the transcript and no failure. With "! play" the play must fail, and its error is added to stderr.
func Cmd(ts *testscript.TestScript, neg bool, args []string) {
	flags := flag.NewFlagSet("play", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	script := flags.String("script", "", "")
	if err := flags.Parse(args); err != nil || flags.NArg() == 0 {
		ts.Fatalf("usage: play [-script file] command [arg…] (%v)", err)
	}
	work := ts.Getenv("WORK")
	file := filepath.Join(work, "script")
	if *script != "" {
		file = ts.MkAbs(*script)
	}
	t, err := conformance.Play(context.Background(), conformance.PlayConfig{
		Command: flags.Args(),
		Dir:     ts.MkAbs("."),
		WorkDir: work,
		Env:     environ(ts),
		Names:   providerNames(ts),
		Script:  []byte(ts.ReadFile(file)),
	})
	if t != nil {
		ts.Stdout().Write(t.Bytes())
		io.WriteString(ts.Stderr(), t.Stderr)
	}
	switch {
	case neg && err == nil:
		ts.Fatalf("play: succeeded, which this script does not want")
	case neg:
		fmt.Fprintln(ts.Stderr(), err)
	case err != nil:
		ts.Fatalf("play: %v", err)
	}
}
