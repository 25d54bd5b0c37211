package command

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// house is a project and a home on disk, and what was logged about them.
type house struct {
	t             *testing.T
	project, home string
	log           bytes.Buffer
}

// build writes files: "project/commands/a.md" and "home/…", with their text.
func build(t *testing.T, files map[string]string) *house {
	t.Helper()
	base := t.TempDir()
	h := &house{t: t, project: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	for name, text := range files {
		h.write(name, text)
	}
	return h
}

func (h *house) path(name string) string {
	return filepath.Join(filepath.Dir(h.project), filepath.FromSlash(name))
}

func (h *house) write(name, text string) {
	h.t.Helper()
	path := h.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) load() *Set {
	return Load(Options{
		Folders: []Folder{{h.project, "project"}, {h.home, "user"}},
		Logger:  slog.New(slog.NewTextHandler(&h.log, nil)),
	})
}

// custom are the entries that are not local, as "name hint | description".
func custom(s *Set) []string {
	var list []string
	for _, e := range s.Entries() {
		if !isLocal(e.Name) {
			list = append(list, fmt.Sprintf("%s %s | %s", e.Name, e.Hint, e.Description))
		}
	}
	return list
}

// warned checks that each line is logged in order, with its path and reason, and no other.
func (h *house) warned(want ...string) {
	h.t.Helper()
	lines := strings.Split(strings.TrimSpace(h.log.String()), "\n")
	if h.log.Len() == 0 {
		lines = nil
	}
	if len(lines) != len(want) {
		h.t.Fatalf("%d warnings, want %d:\n%s", len(lines), len(want), h.log.String())
	}
	for i, w := range want {
		path, reason, _ := strings.Cut(w, ": ")
		if !strings.Contains(lines[i], "level=WARN") || !strings.Contains(lines[i], h.path(path)) || !strings.Contains(lines[i], reason) {
			h.t.Errorf("warning %d is\n%s\nand names not %q and %q", i, lines[i], h.path(path), reason)
		}
	}
}

func TestEntriesAreTheTwentyLocalCommands(t *testing.T) {
	want := strings.Fields("agents checkpoint compacts events experimental help history mcp model process " +
		"processes provider providers save session sessions skills status team tree")
	var got []string
	for _, e := range Load(Options{}).Entries() {
		got = append(got, e.Name)
		if e.Description == "" {
			t.Errorf("%s has no description", e.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !slices.IsSorted(want) || len(want) != 20 {
		t.Error("the list of this test is wrong")
	}
}

func TestLoad(t *testing.T) {
	h := build(t, map[string]string{
		"project/commands/review.md":      "---\ndescription: Review a file\nargument-hint: [file] [depth]\n---\nReview $1.\n",
		"project/commands/Git/Tidy_Up.md": "\n\n# Tidy *up*\n\nRemove what is dead in $ARGUMENTS.",
		"project/commands/notes.txt":      "no command",
		"project/commands/.hidden.md":     "no command",
		"home/commands/both.md":           "from home",
		"project/commands/both.md":        "from the project",
		"home/commands/alone.md":          strings.Repeat("ä", 201),
		"project/skills/pdf/SKILL.md":     "---\nname: pdf\ndescription: Read PDF files\n---\nUse pdftotext.",
		"project/skills/pdf/tool.py":      "print()",
		"home/skills/x/SKILL.md":          "---\nname: Sheets\n---\nWork with sheets.",
		"home/skills/empty/README":        "no skill",
		"home/skills/file":                "no skill",
	})
	s := h.load()
	want := []string{
		"alone  | " + strings.Repeat("ä", 199) + "…",
		"both  | from the project",
		"git:tidy_up [arguments] | Tidy *up*",
		"pdf [task] | Read PDF files",
		"review [file] [depth] | Review a file",
		"sheets [task] | Work with sheets.",
	}
	if diff := cmp.Diff(want, custom(s)); diff != "" {
		t.Error(diff)
	}
	h.warned()
	if !slices.IsSortedFunc(s.Entries(), func(a, b Entry) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted")
	}
}

// TestPrecedence takes the winner away, one after the other.
func TestPrecedence(t *testing.T) {
	order := []string{"project/commands/x.md", "home/commands/x.md", "project/skills/x/SKILL.md", "home/skills/x/SKILL.md"}
	h := build(t, nil)
	for _, name := range order {
		h.write(name, "from "+name)
	}
	for _, name := range order {
		s := h.load()
		c, ok := s.Find("/x")
		if !ok || c.Local {
			t.Fatalf("%s: %+v, %v", name, c, ok)
		}
		text, err := s.Expand(c)
		if err != nil || !strings.HasPrefix(text, "from "+name) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if got := custom(s); len(got) != 1 {
			t.Errorf("%s: advertised %q", name, got)
		}
		if err := os.Remove(h.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	h.warned()
	if _, ok := h.load().Find("/x"); ok {
		t.Error("/x is known without a file")
	}
}

func TestLocalNamesCannotBeTaken(t *testing.T) {
	h := build(t, map[string]string{
		"project/commands/STATUS.md":   "mine",
		"home/skills/help/SKILL.md":    "mine",
		"project/skills/ok/SKILL.md":   "---\nname: model\n---\nmine",
		"project/agents/status.md":     "An agent may be called so.",
		"project/commands/a/status.md": "fine",
	})
	s := h.load()
	for _, name := range []string{"status", "help", "model"} {
		if c, ok := s.Find("/" + name); !ok || !c.Local {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if diff := cmp.Diff([]string{"a:status  | fine"}, custom(s)); diff != "" {
		t.Error(diff)
	}
	h.warned("project/commands/STATUS.md: built in", "project/skills/ok/SKILL.md: built in", "home/skills/help/SKILL.md: built in")
	if len(s.Skills()) != 2 || len(s.Agents()) != 1 {
		t.Error("skills and agents are listed whatever the commands are called")
	}
}

func TestBrokenFiles(t *testing.T) {
	for name, tt := range map[string]struct{ text, reason string }{
		"large.md":       {strings.Repeat("x", 256<<10+1), "larger than 256 KiB"},
		"latin.md":       {"caf\xe9", "not UTF-8"},
		"empty.md":       {"", "has no text"},
		"blank.md":       {" \n\t\n", "has no text"},
		"only.md":        {"---\ndescription: x\n---\n", "has no text"},
		"two words.md":   {"x", "is not a name"},
		"dot.dot.md":     {"x", "is not a name"},
		"ümlaut.md":      {"x", "is not a name"},
		".md/x.md":       {"x", ""}, // hidden
		"\u212aelvin.md": {"x", "is not a name"},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t, map[string]string{"project/commands/" + name: tt.text, "project/commands/good.md": "good"})
			if diff := cmp.Diff([]string{"good  | good"}, custom(h.load())); diff != "" {
				t.Error(diff)
			}
			if tt.reason == "" {
				h.warned()
				return
			}
			h.warned("project/commands/" + name + ": " + tt.reason)
		})
	}
	h := build(t, map[string]string{"project/commands/edge.md": strings.Repeat("x", 256<<10)})
	if got := custom(h.load()); len(got) != 1 {
		t.Error("256 KiB are refused")
	}
}

func TestSameNameTwice(t *testing.T) {
	h := build(t, map[string]string{
		"project/commands/Deploy.md": "upper", "project/commands/deploy.md": "lower",
		"project/skills/a/SKILL.md": "---\nname: s\n---\nfirst", "project/skills/b/SKILL.md": "---\nname: s\n---\nsecond",
		"project/agents/a.md": "---\nname: g\n---\nfirst", "project/agents/b.md": "---\nname: g\n---\nsecond",
	})
	s := h.load()
	h.warned("project/commands/deploy.md: same name as", "project/skills/b/SKILL.md: same name as", "project/agents/b.md: same name as")
	if diff := cmp.Diff([]string{"deploy  | upper", "s [task] | first"}, custom(s)); diff != "" {
		t.Error(diff)
	}
}

func TestFoldersThatAreNone(t *testing.T) {
	h := build(t, map[string]string{"project": "a file", "home/commands": "a file", "home/skills/x/SKILL.md/y": "a folder", "home/agents/x.md/y.md": "a folder"})
	s := h.load()
	h.warned("project: is not a folder", "home/commands: is not a folder", "home/skills/x/SKILL.md: not a regular file", "home/agents/x.md: not a regular file")
	if got := custom(s); got != nil {
		t.Error(got)
	}
	Load(Options{Folders: []Folder{{}, {Dir: h.path("nowhere"), Origin: "user"}}})
}

func TestManyFiles(t *testing.T) {
	files := map[string]string{}
	for i := range 1003 {
		files[fmt.Sprintf("home/commands/c%04d.md", i)] = "text"
	}
	h := build(t, files)
	got := custom(h.load())
	if len(got) != 1000 || !strings.HasPrefix(got[999], "c0999 ") {
		t.Errorf("%d commands, the last is %q", len(got), got[len(got)-1])
	}
	h.warned("home/commands: more than 1000 files")
}

func TestDeepFolders(t *testing.T) {
	h := build(t, map[string]string{
		"home/commands/1/2/3/4/5/6/7/x.md":     "deep",
		"home/commands/1/2/3/4/5/6/7/8/9/x.md": "too deep",
	})
	if diff := cmp.Diff([]string{"1:2:3:4:5:6:7:x  | deep"}, custom(h.load())); diff != "" {
		t.Error(diff)
	}
	h.warned("home/commands/1/2/3/4/5/6/7/8: folders deep")
}

func TestFind(t *testing.T) {
	s := build(t, map[string]string{"project/commands/a/b.md": "x", "home/skills/pdf/SKILL.md": "x"}).load()
	for _, tt := range []struct {
		text string
		want *Call // nil = for the model
	}{
		{"/status", &Call{Name: "status", Local: true}},
		{"/STATUS", &Call{Name: "status", Local: true}},
		{"/Model  deepseek/flash \n", &Call{Name: "model", Args: "deepseek/flash", Local: true}},
		{"/history\n3", &Call{Name: "history", Args: "3", Local: true}},
		{"/history\u00a03", &Call{Name: "history", Args: "3", Local: true}},
		{"/A:b one\ntwo  three", &Call{Name: "a:b", Args: "one\ntwo  three"}},
		{"/pdf", &Call{Name: "pdf"}},
		{"", nil},
		{"/", nil},
		{"/ status", nil},
		{"//status", nil},
		{" /status", nil},
		{"status", nil},
		{"/usr/bin/x", nil},
		{"/model/x", nil},
		{"/statusx", nil},
		{"/status:", nil},
		{"/a/b", nil},
		{"/nobody knows", nil},
		{"/s\u212aills", nil}, // the Kelvin sign lowers to k
		{"/ſtatus", nil},
		{"/help\x00", nil},
	} {
		c, ok := s.Find(tt.text)
		if ok != (tt.want != nil) {
			t.Errorf("%q: found %v", tt.text, ok)
		}
		if tt.want == nil {
			continue
		}
		tt.want.Input = tt.text
		if diff := cmp.Diff(*tt.want, c); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}
