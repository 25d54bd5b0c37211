package ignore

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestGit compares with what Git said: each file of testdata holds .gitignore files, paths (folders with a slash at the
// end), and those of them that `git check-ignore` named.
func TestGit(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var paths, want string
		var rules *Rules
		inner := map[string]string{}
		for _, f := range archive.Files {
			switch f.Name {
			case "paths":
				paths = string(f.Data)
			case "ignored":
				want = string(f.Data)
			case ".gitignore":
				rules = rules.In("", string(f.Data))
			default:
				inner[path.Dir(f.Name)] = string(f.Data)
			}
		}
		var got strings.Builder
		for line := range strings.Lines(paths) {
			if ignored(rules, inner, strings.TrimSuffix(line, "\n")) {
				got.WriteString(line)
			}
		}
		if got.String() != want {
			t.Errorf("%s: ignored:\n%sGit says:\n%s", file, got.String(), want)
		}
	}
}

// ignored goes down to a path folder by folder, as a walk does.
func ignored(rules *Rules, inner map[string]string, p string) bool {
	isDir := strings.HasSuffix(p, "/")
	p = strings.TrimSuffix(p, "/")
	for i, c := range p {
		if c != '/' {
			continue
		}
		dir := p[:i]
		if rules.Ignored(dir, true) {
			return true
		}
		rules = rules.In(dir, inner[dir])
	}
	return rules.Ignored(p, isDir)
}

// Patterns made to cost much.
func TestNoExplosion(t *testing.T) {
	rules := (*Rules)(nil).In("", strings.Repeat("*a", 200)+"b\n"+"/"+strings.Repeat("**/a/", 200)+"b\n")
	if name := strings.Repeat("a", 5000); rules.Ignored(name, false) || rules.Ignored(strings.Repeat("a/", 2000)+"c", false) {
		t.Errorf("matched")
	}
}
