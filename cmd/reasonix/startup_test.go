package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// initialized are the packages from outside the standard library that do work
// before main, each with the reason why that is put up with. All of it together
// took a third of a millisecond when the list was made.
var initialized = map[string]string{
	"github.com/BurntSushi/toml":          "TOML types; the configuration is read with the first session, but Go links and prepares it",
	"github.com/BurntSushi/toml/internal": "time zones of TOML's local times",
	"github.com/alecthomas/kong":          "flags: needed to know that `acp` was asked for",
	"github.com/aymanbagabas/go-udiff":    "a pattern; diffs for the terminal",
	"github.com/go-faster/jx":             "tables of the JSON decoder",
	"github.com/google/uuid":              "error values",
	"github.com/segmentio/asm/base64":     "below jx",
	"github.com/segmentio/asm/cpu":        "below jx",
	"golang.org/x/sys/cpu":                "what the processor can do",
	"golang.org/x/sys/unix":               "error values",
	"golang.org/x/sys/windows":            "the same there",
	"golang.org/x/term":                   "error values",
}

// ownLimit is what a package of ours may allocate before main, in bytes: a few
// sync.OnceValue functions, but no table, no pattern and no map.
const ownLimit = 512

// TestStartUp: a host waits for the first answer, so nothing is prepared before
// main that the answer does not need.
func TestStartUp(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "reasonix.exe")
	if out, err := exec.Command("go", "build", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(exe, "acp")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", "REASONIX_HOME="+t.TempDir())
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	answer, err := cmd.Output()
	if err != nil || !bytes.Contains(answer, []byte(`"protocolVersion":1`)) {
		t.Fatalf("%v, %s", err, answer)
	}
	line := regexp.MustCompile(`^init (\S+) @.* clock, (\d+) bytes`)
	packages := 0
	for text := range strings.Lines(trace.String()) {
		found := line.FindStringSubmatch(text)
		if found == nil {
			t.Errorf("stderr has %q", text)
			continue
		}
		packages++
		name := found[1]
		size, _ := strconv.Atoi(found[2])
		own := strings.HasPrefix(name, "github.com/acpkit/")
		root, _, _ := strings.Cut(name, "/")
		switch {
		case own && size > ownLimit:
			t.Errorf("%s allocates %d bytes before main: compute its variables when they are first needed (sync.OnceValue), or make them constants", name, size)
		case !own && strings.Contains(root, ".") && initialized[name] == "":
			t.Errorf("%s does work before main. If the first answer does not need it, use another package; else add it to the list with the reason", name)
		}
	}
	if packages == 0 {
		t.Error("no trace; does this Go still know GODEBUG=inittrace?")
	}
}
