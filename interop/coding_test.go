//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/conformance/provider"
)

// coding is a place with a Go project whose test fails, and with a model behind HTTP that mends it: it runs the test, reads
// the two files in one answer, edits, and runs the test again, whatever comes of it.
type coding struct {
	place
	server *provider.Server
}

func newCoding(t *testing.T) coding {
	t.Helper()
	c := coding{place: newPlace(t)}
	script, err := os.ReadFile("testdata/coding/model.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if c.server, err = provider.Start(provider.Config{Script: script, Models: []string{"coder"}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.server.Close() })
	for _, name := range []string{"go.mod", "stats.go", "stats_test.go"} {
		text, err := os.ReadFile(filepath.Join("testdata/coding", name+".txt"))
		if err == nil {
			err = os.WriteFile(filepath.Join(c.workspace, name), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	goCache := strings.TrimSpace(string(cache)) // or the standard library would be compiled anew
	c.model = "local/coder"
	c.extra = []string{"LOCAL_KEY=key-of-the-fake", "GOCACHE=" + goCache, "GOFLAGS=", "GOTOOLCHAIN=local"}
	config := fmt.Sprintf(`[[providers]]
name = "local"
kind = "openai"
base_url = %q
api_key_env = "LOCAL_KEY"
models = ["coder"]
context_window = 64000

[sandbox]
write = [%q]
`, c.server.URL()+"/v1", goCache)
	if err := os.MkdirAll(c.reasonixHome(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.reasonixHome(), "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if c.passes(t) {
		t.Fatal("the project's test passes before anything is done")
	}
	return c
}

// passes runs the project's own test.
func (c coding) passes(t *testing.T) bool {
	t.Helper()
	exit, stdout, stderr := c.run(t, "go", "test", "-count=1", "./...")
	if exit != 0 && !strings.Contains(stdout, "--- FAIL: TestMean") {
		t.Fatalf("go test: exit %d\n%s%s", exit, stdout, stderr)
	}
	return exit == 0
}

// results are what the model was told of its calls: the results that came with each request, in short.
func (c coding) results(t *testing.T) (rounds [][]string) {
	t.Helper()
	told := 0
	for _, call := range c.server.Calls() {
		var body struct {
			Messages []struct {
				Role, Content string
			}
		}
		if err := json.Unmarshal(call.Body, &body); err != nil {
			t.Fatalf("request %d: %v", call.Number, err)
		}
		var round []string
		for _, m := range body.Messages[min(told, len(body.Messages)):] {
			if m.Role == "tool" {
				round = append(round, short(m.Content))
			}
		}
		told = len(body.Messages)
		rounds = append(rounds, round)
	}
	return rounds
}

// short says which of the things that a test waits for is in a result.
func short(result string) string {
	for _, sign := range []string{"--- FAIL: TestMean", "ok  \texample.com/stats", "range values[1:]", "func TestMean", "1 replacement", "refused"} {
		if strings.Contains(result, sign) {
			return sign
		}
	}
	return result
}

// What the model is told when all is allowed, when only the edit is refused, and when all is.
var (
	mended  = [][]string{nil, {"--- FAIL: TestMean"}, {"range values[1:]", "func TestMean"}, {"1 replacement"}, {"ok  \texample.com/stats"}}
	unmoved = [][]string{nil, {"--- FAIL: TestMean"}, {"range values[1:]", "func TestMean"}, {"refused"}, {"--- FAIL: TestMean"}, nil}
	held    = [][]string{nil, {"refused"}, {"range values[1:]", "func TestMean"}, {"refused"}, {"refused"}}
)

const (
	bashAsk = "bash: allow_once allow_always reject_once reject_always → "
	editAsk = "edit_file: allow_once allow_always reject_once reject_always → "
	bashRan = "bash (execute): pending in_progress completed"
	bashBad = "bash (execute): pending in_progress failed"
	edited  = "edit_file (edit): pending in_progress completed, with a diff"
)

// TestCodingTypeScriptHost has a host on the TypeScript SDK mend the project, and another one that does not let it.
func TestCodingTypeScriptHost(t *testing.T) {
	t.Run("allowed", func(t *testing.T) {
		t.Parallel()
		c := newCoding(t)
		c.checkHost(t, mended, true, turn{Step: "code", StopReason: "end_turn", Thinks: true, Says: "That was all I could do.",
			Tools: []string{bashBad, read, read, edited, bashRan},
			Asked: []string{bashAsk + "allow_once", editAsk + "allow_once", bashAsk + "allow_once"}})
	})
	t.Run("edit refused", func(t *testing.T) {
		t.Parallel()
		c := newCoding(t)
		c.checkHost(t, unmoved, false, turn{Step: "code-refused", StopReason: "end_turn", Thinks: true, Says: "That was all I could do.",
			Tools: []string{bashBad, read, read, "edit_file (edit): pending failed", bashBad},
			Asked: []string{bashAsk + "allow_once", editAsk + "reject_once", bashAsk + "allow_once"}},
			turn{Step: "again", StopReason: "end_turn", Says: "I am still here."})
	})
}

func (c coding) checkHost(t *testing.T, told [][]string, passes bool, want ...turn) {
	t.Helper()
	var steps []string
	for _, w := range want {
		steps = append(steps, w.Step)
	}
	var got []turn
	for _, h := range c.typeScriptHost(t, steps...).Turns {
		got = append(got, h.turn())
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("turns (-want +got):\n%s", d)
	}
	c.check(t, told, passes)
}

// TestCodingACPX has acpx do the same.
func TestCodingACPX(t *testing.T) {
	for _, test := range []struct {
		permissions string
		want        acpxRun
		told        [][]string
		passes      bool
	}{
		{"--approve-all", acpxRun{Code: acpxFine, Tools: []string{"bash: pending in_progress failed", "read_file: pending in_progress completed",
			"read_file: pending in_progress completed", "edit_file: pending in_progress completed", "bash: pending in_progress completed"}}, mended, true},
		{"--deny-all", acpxRun{Code: acpxDenied, Tools: []string{"bash: pending failed", "read_file: pending in_progress completed",
			"read_file: pending in_progress completed", "edit_file: pending failed", "bash: pending failed"}}, held, false},
	} {
		t.Run(test.permissions, func(t *testing.T) {
			t.Parallel()
			c := newCoding(t)
			test.want.StopReasons, test.want.Says = []string{"end_turn"}, "That was all I could do."
			if d := cmp.Diff(test.want, c.runACPX(t, test.permissions, "exec", "Make the tests pass.")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			c.check(t, test.told, test.passes)
		})
	}
}

// check looks at what came of it: for the model, in the project, and on the wire.
func (c coding) check(t *testing.T, told [][]string, passes bool) {
	t.Helper()
	if d := cmp.Diff(told, c.results(t)); d != "" {
		t.Errorf("what the model was told (-want +got):\n%s", d)
	}
	if c.passes(t) != passes {
		t.Errorf("the project's test passes: %v", !passes)
	}
	usage, answered := 0, 0
	for _, r := range c.judged(t) {
		for _, line := range r.Lines {
			var m struct {
				Result struct {
					StopReason string
					Usage      *struct{ InputTokens, OutputTokens int }
				}
			}
			if json.Unmarshal(line.Msg, &m) == nil && m.Result.StopReason != "" {
				answered++
				if m.Result.Usage != nil && m.Result.Usage.InputTokens > 0 && m.Result.Usage.OutputTokens > 0 {
					usage++
				}
			}
		}
	}
	if usage == 0 || usage != answered {
		t.Errorf("%d of %d answers to prompts have their tokens", usage, answered)
	}
}
