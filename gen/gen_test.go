package gen_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/acpkit/acpkit/gen"
)

// packages are the generated packages of this repository.
var packages = map[string]string{"schema/acp/v1": "acp", "schema/script/v1": "script"}

// TestFresh: generated/ is what the schemas give, and nothing else stands there.
func TestFresh(t *testing.T) {
	repo := os.DirFS("..")
	for schema, pkg := range packages {
		want, err := gen.Generate(repo, gen.Options{Schema: schema, Package: pkg})
		if err != nil {
			t.Fatal(err)
		}
		again, err := gen.Generate(repo, gen.Options{Schema: schema, Package: pkg})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, again); diff != "" {
			t.Errorf("%s: two runs differ:\n%s", schema, diff)
		}
		dir := filepath.Join("..", "generated", pkg)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]byte{}
		for _, e := range entries {
			if got[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s is stale; run make gen:\n%s", dir, diff)
		}
		for name, data := range want {
			if n := strings.Count(string(data), "\n"); n > 1000 {
				t.Errorf("%s/%s has %d lines; generated files stay below 1,000", dir, name, n)
			}
		}
	}
}

func TestCheckWholeProject(t *testing.T) {
	repo := os.DirFS("..")
	folders, err := gen.Folders(repo, "schema")
	if err != nil {
		t.Fatal(err)
	}
	if len(folders) != len(packages) {
		t.Errorf("schema folders %v, but %d packages are generated", folders, len(packages))
	}
	reports, err := gen.Check(repo, folders, true)
	if err != nil {
		t.Fatal(err)
	}
	if r := reports[0]; r.Schema != "schema/acp/v1" || r.Methods != 25 {
		t.Errorf("got %+v", r)
	}
}

// TestProse: every definition, member and constant of ours is described, in
// more than its own name.
func TestProse(t *testing.T) {
	for schema := range packages {
		pkg, err := gen.Load(os.DirFS(".."), schema)
		if err != nil {
			t.Fatal(err)
		}
		check := func(where, name, doc string) {
			t.Helper()
			if len(strings.Fields(doc)) < 2 || strings.EqualFold(strings.Trim(doc, " ."), name) {
				t.Errorf("%s: %s: description %q says nothing", schema, where, doc)
			}
		}
		for _, ty := range pkg.Types {
			if !strings.Contains(ty.Name, "_") { // a branch's own members are described by the branch
				check(ty.Name, ty.Name, ty.Doc)
			}
			for _, f := range ty.Fields {
				check(ty.Name+"."+f.Name, f.Name, f.Doc)
			}
			if ty.Enum != nil {
				for _, v := range ty.Enum.Values {
					check(ty.Name+" "+string(v.Const), string(v.Const), v.Doc)
				}
			}
		}
		for _, m := range pkg.Methods {
			check(m.Name, m.Name, m.Summary)
		}
	}
}

// TestCases runs testdata/*.txtar: the files of a schema folder, and what comes
// of it: `error` holds the message that must come back, `want` lines that must
// stand in the generated code, in order.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(path.Base(filepath.ToSlash(file)), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys, expect := fstest.MapFS{}, map[string]string{}
			for _, f := range ar.Files {
				if strings.HasSuffix(f.Name, ".json") {
					fsys["s/"+f.Name] = &fstest.MapFile{Data: f.Data}
				} else {
					expect[f.Name] = strings.TrimSpace(string(f.Data))
				}
			}
			got, err := gen.Generate(fsys, gen.Options{Schema: "s", Package: "p"})
			if want, bad := expect["error"]; bad {
				if err == nil || err.Error() != want {
					t.Fatalf("got error\n%v\nwant\n%s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			all := ""
			for _, name := range []string{"s_gen.go", "s_codec_gen.go", "agent_gen.go"} {
				all += string(got[name])
			}
			rest := all
			for line := range strings.Lines(expect["want"]) {
				line = strings.TrimSpace(line)
				_, after, ok := strings.Cut(rest, line)
				if !ok {
					t.Fatalf("line missing, or out of order: %s\nin\n%s", line, all)
				}
				rest = after
			}
		})
	}
}
