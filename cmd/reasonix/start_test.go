package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// A host waits for the answer to initialize, and whatever our dependencies do
// at package level comes before it, needed or not. These are the packages that
// do something then (GODEBUG=inittrace=1), as `make build` links us on Linux.
// An entry costs a start of every user; weigh it before you add it.

// initLibraries is exact: each entry with what it does and why we bear it.
var initLibraries = []string{
	"github.com/BurntSushi/toml",                   // tables; the configuration
	"github.com/BurntSushi/toml/internal",          // reads the time zone, 70 µs, the dearest here
	"github.com/alecthomas/kong",                   // regular expressions; flags
	"github.com/aymanbagabas/go-udiff",             // regular expressions; the diffs of tool calls
	"github.com/bmatcuk/doublestar/v4",             // errors; the patterns of glob
	"github.com/go-faster/jx",                      // tables; the codecs
	"github.com/google/uuid",                       // errors and name spaces; session ids
	"github.com/landlock-lsm/go-landlock/landlock", // tables; the sandbox
	"github.com/segmentio/asm/base64",              // tables; from jx
	"github.com/segmentio/asm/cpu",                 // asks the processor; from jx
	"golang.org/x/net/html",                        // a map of the named characters, 70 µs; pages for web_fetch
	"golang.org/x/sys/cpu",                         // asks the processor; from segmentio/asm
	"golang.org/x/sys/unix",                        // a table; from x/term, for setup
	"mvdan.cc/sh/v3/fileutil",                      // a regular expression; from the parser of shell commands
	// Interface values around tables that are data, and errors; files that are not UTF-8.
	"golang.org/x/text/encoding/charmap", "golang.org/x/text/encoding/japanese", "golang.org/x/text/encoding/korean",
	"golang.org/x/text/encoding/simplifiedchinese", "golang.org/x/text/encoding/traditionalchinese", "golang.org/x/text/encoding/unicode",
}

// initStandard is what the standard library may do. An entry need not occur,
// and one that ends in /... stands for all below too, so that a patch release
// of Go changes nothing here.
var initStandard = []string{
	// Every Go program that reads a file.
	"context", "errors", "internal/...", "io/...", "iter", "math", "hash/...", "os/...", "path/...", "reflect", "runtime/...", "sync/...", "syscall", "time", "unicode/...",
	// What we use ourselves: codecs, logs, patterns, random ids with the checks of crypto.
	"crypto/...", "encoding/base64", "encoding/json", "log/...", "math/...", "regexp/...",
	// net/http, for models and web_fetch: it cannot be linked when it is needed first.
	"compress/...", "encoding/asn1", "mime/...", "net/http/...", "vendor/golang.org/x/...",
	// google/uuid: the address of the network card and a type for databases, neither of which we use.
	"database/sql/driver", "net", "net/netip",
	// kong, which can read help texts from comments in Go source.
	"go/doc", "go/scanner", "go/token",
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @`)

// TestInitWork: before the first answer no package does work at package level
// but those above, and of our own none at all.
func TestInitWork(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "reasonix.exe") // Windows wants the ending, others do not mind
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	agent := exec.Command(bin, "acp")
	agent.Env = append(os.Environ(), "GODEBUG=inittrace=1", "REASONIX_HOME="+t.TempDir())
	agent.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n")
	var stderr bytes.Buffer
	agent.Stderr = &stderr
	out, err := agent.Output()
	if err != nil || !bytes.Contains(out, []byte(`"result"`)) {
		t.Fatalf("initialize: %v\n%s%s", err, out, stderr.Bytes())
	}
	var seen []string
	for _, m := range initLine.FindAllStringSubmatch(stderr.String(), -1) {
		seen = append(seen, m[1])
	}
	if !slices.Contains(seen, "runtime") {
		t.Fatalf("GODEBUG=inittrace=1 no longer names packages as this test expects:\n%s", stderr.Bytes())
	}

	for _, p := range seen {
		switch first, _, _ := strings.Cut(p, "/"); {
		case p == "main" || strings.HasPrefix(p, "github.com/acpkit/acpkit/"):
			t.Errorf("%s does work at package level: make it a constant, a switch or a function "+
				"(maps with entries, regexp.MustCompile, fmt.Errorf and sync.OnceValue are work; errors.New and slices of constants are not)", p)
		case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
			// The lists are those of one platform.
		case strings.Contains(first, "."):
			if !slices.Contains(initLibraries, p) {
				t.Errorf("%s is new before the first answer: do without it (go list -deps; go mod why), or add it to initLibraries with its reason", p)
			}
		case !slices.ContainsFunc(initStandard, func(entry string) bool { return covers(entry, p) }):
			t.Errorf("%s of the standard library is new before the first answer: do without what imports it, or add it to initStandard with its reason", p)
		}
	}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		for _, p := range initLibraries {
			if !slices.Contains(seen, p) {
				t.Errorf("%s does no work before the first answer any more: take it out of initLibraries", p)
			}
		}
	}
}

// covers reports whether an entry of initStandard stands for the package.
func covers(entry, pkg string) bool {
	root, tree := strings.CutSuffix(entry, "/...")
	return pkg == root || tree && strings.HasPrefix(pkg, root+"/")
}

// TestBareACP: without flags no parser is built, so each flag of acp must mean
// by its zero value what the parser gives it by default.
func TestBareACP(t *testing.T) {
	var c cli
	parser := kong.Must(&c)
	ctx, err := parser.Parse([]string{"acp"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := new(acpCmd).level(), c.ACP.level(); got != want {
		t.Errorf("bare acp logs from %s, the parser's from %s", got, want)
	}
	c.ACP.LogLevel = ""
	if !reflect.DeepEqual(c.ACP, acpCmd{}) {
		t.Errorf("the parser gives %+v: a flag of acp has a default that is not its zero value; run skips the parser for a bare acp", c.ACP)
	}
	for _, flag := range ctx.Selected().Flags {
		if len(flag.Envs) > 0 {
			t.Errorf("--%s is read from the environment, which run skips for a bare acp", flag.Name)
		}
	}
}
