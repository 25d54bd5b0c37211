//go:build interop

package interop

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/acpkit/acpkit/conformance"
	"github.com/acpkit/acpkit/interop/internal/diff"
	"github.com/acpkit/acpkit/interop/internal/fakemodel"
)

const (
	scenarios   = "testdata/scenarios"
	differences = "testdata/differences.txt"
)

// TestDifferences plays the same scripts against the real reasonix and ours, with the same model behind both, and compares
// what they wrote. Every difference stands in testdata/differences.txt with its reason, and everything there still occurs.
func TestDifferences(t *testing.T) {
	src, err := os.ReadFile(differences)
	if err != nil {
		t.Fatal(err)
	}
	list, err := diff.ParseList(src)
	if err != nil {
		t.Fatalf("%s: %v", differences, err)
	}
	files, err := filepath.Glob(scenarios + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scenarios", err)
	}
	var mu sync.Mutex
	found := map[string][]diff.Difference{}
	played := t.Run("scenarios", func(t *testing.T) {
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := readScenario(t, file)
				all, err := diff.Compare(name, s.play(t, ours), s.play(t, theirs))
				if err != nil {
					t.Fatal(err)
				}
				mu.Lock()
				defer mu.Unlock()
				found[name] = all
			})
		}
	})
	for _, name := range slices.Sorted(maps.Keys(found)) {
		for _, d := range list.Unlisted(found[name]) {
			t.Errorf("not in %s:\n%s", differences, d)
		}
	}
	if !played || len(found) < len(files) {
		return // what failed, or was not asked for with -run, cannot tell what is stale
	}
	for _, s := range list.Stale() {
		t.Errorf("%s: %s", differences, s)
	}
}

// TestDifferenceIsSeen: two plays of one side do not differ, but when the model says something else they do, there and
// nowhere else, and an entry of a list that nothing fits is stale.
func TestDifferenceIsSeen(t *testing.T) {
	file := scenarios + "/prompt.txtar"
	s, planted := readScenario(t, file), readScenario(t, file)
	model, err := fakemodel.Parse(bytes.ReplaceAll(planted.said, []byte("More of the same."), []byte("Something else.")))
	if err != nil {
		t.Fatal(err)
	}
	planted.model = model
	for _, a := range []side{ours, theirs} {
		first := s.play(t, a)
		if same, err := diff.Compare("prompt", first, s.play(t, a)); err != nil || same != nil {
			t.Errorf("%s differs from itself: %v %q", a.name, err, same)
		}
		seen, err := diff.Compare("prompt", first, planted.play(t, a))
		if err != nil {
			t.Fatal(err)
		}
		list, err := diff.ParseList([]byte("because defect: planted\n" +
			"prompt | update agent_message_chunk | /update/content/text | \"More of the same.\" | \"Something else.\"\n" +
			"prompt | status | /status/finalReadiness/summary | \"More of the same.\" | \"Something else.\"\n" +
			"prompt | response 7 _reasonix.io/session/status | /result/finalReadiness/summary | \"More of the same.\" | \"Something else.\"\n" +
			"prompt | update agent_thought_chunk | /update/content/text | … | …\n"))
		if err != nil {
			t.Fatal(err)
		}
		if rest := list.Unlisted(seen); rest != nil {
			t.Errorf("%s differs elsewhere too: %q", a.name, rest)
		}
		if stale := list.Stale(); len(stale) != 1 || !strings.HasPrefix(stale[0], "line 5:") {
			t.Errorf("%s: stale are %q", a.name, stale)
		}
	}
}

// side is one of the two agents.
type side struct {
	name     string
	program  func(t *testing.T) string
	provider func(s *fakemodel.Server) string // the part of config.toml that says how to reach the model
}

var (
	ours   = side{"ours", func(*testing.T) string { return filepath.Join(bin, "reasonix") }, openai}
	theirs = side{"theirs", realReasonix, openai}
)

// realReasonix is the program that the npm package reasonix starts.
func realReasonix(t *testing.T) string {
	if !pinnedPlatform {
		t.Fatalf("the real reasonix is pinned for linux on amd64 only, not for %s on %s", runtime.GOOS, runtime.GOARCH)
	}
	return abs(t, filepath.Join(modules, reasonix, "bin", "reasonix"))
}

func openai(s *fakemodel.Server) string {
	return fmt.Sprintf("kind = \"openai\"\nbase_url = %q\napi_key_env = \"DEEPSEEK_API_KEY\"\n", s.URL)
}

// scenario is one txtar file: a script for the host (the language is in package conformance), what the model says (package
// fakemodel), and files for the folder that the script calls $WORK.
type scenario struct {
	script []byte
	said   []byte // the model's part, as text
	model  *fakemodel.Script
	files  []txtar.File
}

func readScenario(t *testing.T, file string) scenario {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s scenario
	for _, f := range archive.Files {
		switch f.Name {
		case "script":
			s.script = f.Data
		case "model":
			s.said = f.Data
		default:
			s.files = append(s.files, f)
		}
	}
	if s.model, err = fakemodel.Parse(s.said); err != nil {
		t.Fatal(err)
	}
	return s
}

// play plays the scenario against one side, in a place of its own.
func (s scenario) play(t *testing.T, a side) [][]diff.Line {
	t.Helper()
	server, err := fakemodel.Serve(s.model)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t)
	root := filepath.Dir(p.workspace)
	program := a.program(t)
	s.furnish(t, root, p.reasonixHome(), a.provider(server))
	// The real one asks every program of the PATH that it knows for its version. Whatever it would fetch goes to the
	// server, as to a proxy, where it is a fault.
	p.extra = []string{"PATH=" + filepath.Join(root, "no-programs"), "HTTP_PROXY=" + server.URL, "HTTPS_PROXY=" + server.URL, "NO_PROXY=127.0.0.1", "LANG=C.UTF-8"}
	transcript, err := conformance.Play(t.Context(), conformance.PlayConfig{
		Command: []string{program, "acp"}, Dir: p.workspace, WorkDir: root, Env: p.env(), Script: s.script, Timeout: limit,
	})
	if closed := server.Close(); closed != nil {
		t.Error(closed)
	}
	for _, fault := range server.Faults() {
		t.Errorf("%s asked the model: %s", a.name, fault)
	}
	if err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	t.Logf("%s:\n%s\n%s", a.name, transcript.Bytes(), transcript.Stderr) // seen when the scenario fails, or with -v
	sections, err := diff.Normalise(transcript)
	if err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	return sections
}

// furnish writes the files of the scenario and the configuration. A shell that is not confined looks the same on all machines.
func (s scenario) furnish(t *testing.T, root, home, provider string) {
	t.Helper()
	config := "config_version = 1\ndefault_model = \"deepseek/deepseek-v4-flash\"\n\n[sandbox]\nbash = \"off\"\n\n" +
		"[[providers]]\nname = \"deepseek\"\nmodels = [\"deepseek-v4-flash\", \"deepseek-v4-pro\"]\ndefault = \"deepseek-v4-flash\"\n" + provider
	files := map[string][]byte{
		filepath.Join(home, "config.toml"): []byte(config),
		filepath.Join(home, ".env"):        []byte("DEEPSEEK_API_KEY=sk-fake\n"),
	}
	for _, f := range s.files {
		files[filepath.Join(root, filepath.FromSlash(f.Name))] = f.Data
	}
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
