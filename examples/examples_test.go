// Package examples holds programs that show how the Go packages are used; this
// file proves that they, and the page that explains them, do what they say.
package examples

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acpkit/acpkit/conformance/playtest"
)

var update = flag.Bool("update", false, "rewrite the transcripts of testdata")

// TestScripts runs the programs as processes of their own, against each other
// and against reasonix.
func TestScripts(t *testing.T) {
	bin := t.TempDir()
	build(t, bin)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"play":      playtest.Cmd,
			"interrupt": interrupt,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("BIN", bin)
			env.Setenv("REASONIX_HOME", filepath.Join(env.WorkDir, "home"))
			return nil
		},
	})
}

func build(t *testing.T, bin string) {
	t.Helper()
	if out, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./...", "../cmd/reasonix").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// interrupt FILE TEXT COMMAND… runs a command and sends it Ctrl-C when the file
// holds the text. Its exit status comes on stderr.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	exe, err := exec.LookPath(filepath.Join(ts.Getenv("BIN"), args[2]))
	ts.Check(err)
	cmd := exec.Command(exe, args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "REASONIX_HOME=" + ts.Getenv("REASONIX_HOME")}
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	ts.Check(cmd.Start())
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(ts.MkAbs(args[0]))
		if strings.Contains(string(text), args[1]) {
			break
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			ts.Fatalf("interrupt: %q never comes", args[1])
		}
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
	if err = cmd.Wait(); (err != nil) != neg {
		ts.Fatalf("interrupt: %v", err)
	}
	fmt.Fprintln(ts.Stderr(), err)
}

// TestPage: each block of Go on the page stands in a program that is compiled
// and tested, so the page cannot say what no longer holds.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../docs/go-sdk.md")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	files, _ := filepath.Glob("*/main.go")
	for _, file := range append(files, "page_test.go") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.WriteString(flat(string(text)))
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 8 {
		t.Errorf("only %d blocks of Go", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(code.String(), flat(b[1])) {
			t.Errorf("not in any program:\n%s", b[1])
		}
	}
	for _, link := range regexp.MustCompile(`\]\((\.\./[^)#]+)`).FindAllStringSubmatch(string(page), -1) {
		if _, err := os.Stat(filepath.Join("../docs", link[1])); err != nil {
			t.Errorf("dead link %s", link[1])
		}
	}
}

// flat is the text without indentation.
func flat(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}
