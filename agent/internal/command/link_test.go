//go:build unix

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func (h *house) link(name, target string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(name)), 0o777); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Symlink(target, h.path(name)); err != nil {
		h.t.Fatal(err)
	}
}

func TestLinks(t *testing.T) {
	h := build(t, map[string]string{
		"outside/secret.md":         "secret",
		"outside/skill/SKILL.md":    "secret",
		"project/shared/text.md":    "shared",
		"project/shared/more/in.md": "below",
		"home/real/skill/SKILL.md":  "a skill",
	})
	h.link("project/commands/out.md", h.path("outside/secret.md"))
	h.link("project/commands/up.md", "../../outside/secret.md")
	h.link("project/commands/gone.md", "nowhere.md")
	h.link("project/commands/self.md", "self.md")
	h.link("project/commands/in.md", "../shared/text.md")
	h.link("project/commands/abs.md", h.path("project/shared/text.md"))
	h.link("project/commands/folder", "../shared/more")
	h.link("project/commands/loop", "..")
	h.link("project/commands/far", h.path("outside"))
	h.link("home/skills/far", h.path("outside/skill"))
	h.link("home/skills/near", "../real/skill")
	h.link("home/agents", h.path("outside"))
	s := h.load()
	// loop leads to the project folder, where shared is, and commands, which ends it.
	want := []string{"abs  | shared", "folder:in  | below", "in  | shared"}
	want = append(want, "loop:shared:more:in  | below", "loop:shared:text  | shared", "near [task] | a skill")
	if diff := cmp.Diff(want, custom(s)); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(strings.Join(custom(s), "\n"), "secret") || len(s.Agents()) != 0 {
		t.Errorf("something outside was read: %q", custom(s))
	}
	log := h.log.String()
	for _, path := range []string{"commands/out.md", "commands/up.md", "home/skills/far/SKILL.md", "home/agents"} {
		if !hasLine(log, path, "leads out of") {
			t.Errorf("no warning about %s in\n%s", path, log)
		}
	}
	for _, path := range []string{"commands/gone.md", "commands/self.md"} {
		if !hasLine(log, path, "reason=") {
			t.Errorf("no warning about %s", path)
		}
	}
	c, _ := s.Find("/abs")
	if text, err := s.Expand(c); err != nil || text != "shared" {
		t.Errorf("/abs is %q, %v", text, err)
	}
}

func hasLine(log, path, reason string) bool {
	for line := range strings.Lines(log) {
		if strings.Contains(line, path+" ") && strings.Contains(line, reason) {
			return true
		}
	}
	return false
}

// TestManyLinks: a few folders that link to one another make very many paths.
func TestManyLinks(t *testing.T) {
	h := build(t, map[string]string{"project/commands/a.md": "a"})
	for i := range 20 {
		for j := range 20 {
			h.link(fmt.Sprintf("project/commands/d%d/to%d", i, j), fmt.Sprintf("../d%d", j))
		}
	}
	if diff := cmp.Diff([]string{"a  | a"}, custom(h.load())); diff != "" {
		t.Error(diff)
	}
	if !hasLine(h.log.String(), "project/commands", "more than 250 folders") {
		t.Error("no warning about too many folders")
	}
	if n := strings.Count(h.log.String(), "\n"); n != 2 {
		t.Errorf("%d warnings", n)
	}
}

// TestHomeBehindALink: people keep ~/.reasonix in a folder of dotfiles.
func TestHomeBehindALink(t *testing.T) {
	h := build(t, map[string]string{"dotfiles/commands/x.md": "x"})
	h.link("home", "dotfiles")
	if diff := cmp.Diff([]string{"x  | x"}, custom(h.load())); diff != "" {
		t.Error(diff)
	}
	h.warned()
}

// TestLinkChangedLater: what a link meant when it was loaded does not count.
func TestLinkChangedLater(t *testing.T) {
	h := build(t, map[string]string{"project/commands/x.md": "good", "outside.md": "secret"})
	s := h.load()
	if err := os.Remove(h.path("project/commands/x.md")); err != nil {
		t.Fatal(err)
	}
	h.link("project/commands/x.md", h.path("outside.md"))
	c, _ := s.Find("/x")
	text, err := s.Expand(c)
	if err == nil || text != "" || !strings.Contains(err.Error(), "leads out of") {
		t.Errorf("%q, %v", text, err)
	}
}

func TestPipesAreNotRead(t *testing.T) {
	h := build(t, map[string]string{"project/commands/good.md": "good", "home/skills/x/y": ""})
	for _, name := range []string{"project/commands/pipe.md", "home/skills/x/SKILL.md", "home/agents"} {
		if err := syscall.Mkfifo(h.path(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"good  | good"}, custom(h.load())); diff != "" {
		t.Error(diff)
	}
	h.warned("project/commands/pipe.md: not a regular file", "home/skills/x/SKILL.md: not a regular file", "home/agents: not a folder")
	if err := syscall.Mkfifo(h.path("pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	Load(Options{Folders: []Folder{{Dir: h.path("pipe")}}}) // opening it would wait
}

func TestUnreadable(t *testing.T) {
	h := build(t, map[string]string{"project/commands/x.md": "x"})
	h.link("project/commands/y.md", strings.Repeat("long", 100))
	if diff := cmp.Diff([]string{"x  | x"}, custom(h.load())); diff != "" {
		t.Error(diff)
	}
	h.warned("project/commands/y.md: file name too long")
}
