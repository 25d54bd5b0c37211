package gen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/acpkit/acpkit/gen"
)

var update = flag.Bool("update", false, "rewrite the want sections of the cases in testdata")

// packages are the generated packages of this repository.
var packages = []gen.Options{
	{Schema: "schema/acp/v1", Package: "acp"},
	{Schema: "schema/openai/v1", Package: "openai"},
	{Schema: "schema/reasonix/v1", Package: "reasonix", Imports: map[string]string{"schema/acp/v1": "github.com/acpkit/acpkit/generated/acp"}},
	{Schema: "schema/script/v1", Package: "script"},
}

// TestFresh: generated/ is what the schemas give, and nothing else stands there.
func TestFresh(t *testing.T) {
	repo := os.DirFS("..")
	for _, o := range packages {
		want, err := gen.Generate(repo, o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := gen.Generate(repo, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, again); diff != "" {
			t.Errorf("%s: two runs differ:\n%s", o.Schema, diff)
		}
		dir := filepath.Join("..", "generated", o.Package)
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
	for _, o := range packages {
		pkg, err := gen.Load(os.DirFS(".."), o.Schema)
		if err != nil {
			t.Fatal(err)
		}
		check := func(where, name, doc string) {
			t.Helper()
			if len(strings.Fields(doc)) < 2 || strings.EqualFold(strings.Trim(doc, " ."), name) {
				t.Errorf("%s: %s: description %q says nothing", o.Schema, where, doc)
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

// mini is a case of testdata, a small schema and what comes of it. Its sections are
//
//   - NAME.json: a file of the folder s; FOLDER/NAME.json: of another folder
//   - imports: the other folders that s may refer to, a line each
//   - error: the whole message of the fault, and there is no Go then
//   - want/FILE: a generated file, byte for byte
//   - behave.txt: what the generated code does, a line each; see testdata/behave
//
// An update run rewrites want/ and nothing else.
type mini struct {
	name, file string
	ar         *txtar.Archive
	fsys       fstest.MapFS
	imports    map[string]string // folder → Go package in the module of TestCasesBehave
	fault      string
	behave     []string
}

func minis(t *testing.T) []*mini {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	var list []*mini
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := &mini{file: file, name: strings.TrimSuffix(filepath.Base(file), ".txtar"), ar: ar, fsys: fstest.MapFS{}, imports: map[string]string{}}
		for _, f := range ar.Files {
			text := strings.TrimSpace(string(f.Data))
			switch {
			case f.Name == "imports":
				for _, folder := range strings.Fields(text) {
					c.imports[folder] = "cases/" + c.name + "/" + folder
				}
			case f.Name == "error":
				c.fault = text
			case f.Name == "behave.txt":
				c.behave = strings.Split(text, "\n")
			case strings.HasPrefix(f.Name, "want/"):
			case path.Dir(f.Name) == ".":
				c.fsys["s/"+f.Name] = &fstest.MapFile{Data: f.Data}
			default:
				c.fsys[f.Name] = &fstest.MapFile{Data: f.Data}
			}
		}
		list = append(list, c)
	}
	return list
}

func (c *mini) generate() (map[string][]byte, error) {
	return gen.Generate(c.fsys, gen.Options{Schema: "s", Package: "p", Imports: c.imports})
}

// sameForAll are files that depend little on the schema: they are compared only
// where a case has them.
var sameForAll = []string{"support_gen.go", "dispatch_gen.go"}

// TestCases: the generated Go is what the case shows, or the fault is, and then
// nothing comes back that could be written.
func TestCases(t *testing.T) {
	for _, c := range minis(t) {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.generate()
			if c.fault != "" {
				if err == nil || err.Error() != c.fault {
					t.Errorf("got error\n%v\nwant\n%s", err, c.fault)
				}
				if len(got) > 0 {
					t.Errorf("a fault, and yet %d files", len(got))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for _, f := range c.ar.Files {
				if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
					want[name] = string(f.Data)
				}
			}
			have := map[string]string{}
			for name, data := range got {
				if _, shown := want[name]; shown || !slices.Contains(sameForAll, name) {
					have[name] = string(data)
				}
			}
			if diff := cmp.Diff(want, have); diff != "" && !*update {
				t.Errorf("the generated code is not what %s shows:\n%s", c.file, diff)
			} else if diff != "" {
				c.rewrite(t, have)
			}
		})
	}
}

func (c *mini) rewrite(t *testing.T, want map[string]string) {
	files := slices.DeleteFunc(slices.Clone(c.ar.Files), func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want/") })
	for _, name := range slices.Sorted(maps.Keys(want)) {
		files = append(files, txtar.File{Name: "want/" + name, Data: []byte(want[name])})
	}
	if err := os.WriteFile(c.file, txtar.Format(&txtar.Archive{Comment: c.ar.Comment, Files: files}), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s updated", c.file)
}

// TestCasesBehave compiles the Go of every case, all in one module, and runs the
// behaviour lines in one program.
func TestCasesBehave(t *testing.T) {
	m := module{t, t.TempDir()}
	for from, to := range map[string]string{"../go.mod": "go.mod", "../go.sum": "go.sum", "testdata/behave/main.go": "main.go"} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		m.write(to, bytes.Replace(data, []byte("module github.com/acpkit/acpkit\n"), []byte("module cases\n"), 1))
	}
	var imports, checks strings.Builder
	cases := slices.DeleteFunc(minis(t), func(c *mini) bool { return c.fault != "" })
	for _, c := range cases {
		if len(c.behave) == 0 {
			t.Fatalf("%s says nothing of what the code does; add behave.txt", c.file)
		}
		code := c.writeTo(m)
		fmt.Fprintf(&imports, "\t%s %q\n", c.name, "cases/"+c.name)
		for _, line := range c.behave {
			fmt.Fprintf(&checks, "\t%s,\n", c.check(t, line, code))
		}
	}
	m.write("checks.go", fmt.Appendf(nil, "package main\n\nimport (\n%s)\n\nvar checks = []func() string{\n%s}\n", &imports, &checks))
	m.run("go", "vet", "-trimpath", "./...") // -trimpath: the build cache serves the next run
	m.run("go", "build", "-trimpath", "-o", "behave.exe", ".")
	var got []string
	if err := json.Unmarshal(m.run(filepath.Join(m.dir, "behave.exe")), &got); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		var lines []string
		for i, line := range c.behave {
			do, _, _ := strings.Cut(line, " => ")
			lines = append(lines, do+" => "+got[i])
		}
		got = got[len(c.behave):]
		if diff := cmp.Diff(c.behave, lines); diff != "" {
			t.Errorf("%s: behaviour:\n%s", c.file, diff)
		}
	}
}

// module is a Go module in a temporary folder.
type module struct {
	t   *testing.T
	dir string
}

func (m module) write(name string, data []byte) {
	m.t.Helper()
	name = filepath.Join(m.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, data, 0o666)); err != nil {
		m.t.Fatal(err)
	}
}

func (m module) run(name string, args ...string) []byte {
	m.t.Helper()
	var stderr strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = m.dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		m.t.Fatalf("%s: %v\n%s", cmd, err, &stderr)
	}
	return out
}

// writeTo adds the package of the case, and those of its other folders, and
// returns the code of the first.
func (c *mini) writeTo(m module) (code string) {
	m.t.Helper()
	files, err := c.generate()
	if err != nil {
		m.t.Fatalf("%s: %v", c.file, err)
	}
	for name, data := range files {
		m.write(c.name+"/"+name, data)
		code += string(data)
	}
	for folder := range c.imports {
		if files, err = gen.Generate(c.fsys, gen.Options{Schema: folder, Package: path.Base(folder)}); err != nil {
			m.t.Fatalf("%s: %s: %v", c.file, folder, err)
		}
		for name, data := range files {
			m.write(c.name+"/"+folder+"/"+name, data)
		}
	}
	return code
}

// check is the Go expression for a behaviour line.
func (c *mini) check(t *testing.T, line, code string) string {
	do, _, ok := strings.Cut(line, " => ")
	words := strings.SplitN(do, " ", 3)
	switch {
	case ok && len(words) == 3 && words[0] == "decode":
		name, data := c.name+"."+words[1], words[2]
		if strings.Contains(code, "\nfunc Decode"+words[1]+"(") {
			return fmt.Sprintf("union(%q, %s.Decode%s, %[2]s.Append%[3]s)", data, c.name, words[1])
		}
		return fmt.Sprintf("object[%s](%q)", name, data)
	case ok && len(words) == 3 && words[0] == "handle":
		if rest := strings.SplitN(words[2], " ", 3); len(rest) == 3 {
			return fmt.Sprintf("handle[%s.%sHandlers](%q, %q, %q)", c.name, words[1], rest[0], rest[1], rest[2])
		}
	}
	t.Fatalf("%s: %q is no behaviour line; see testdata/behave/main.go", c.file, line)
	return ""
}
