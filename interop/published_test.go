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

	"github.com/acpkit/acpkit/gen"
)

// TestPublishedSchemas: the schemas of the pinned package, the unstable and the
// draft ones too, go through the generator; their code compiles and vets, and
// each definition's example values come back as they went in. Nothing of it is
// kept.
func TestPublishedSchemas(t *testing.T) {
	dir, err := os.MkdirTemp(".", "published-") // in the module, so that its dependencies are there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	schemas := filepath.Join(modules, "@agentclientprotocol", "sdk", "schema")
	for _, version := range []string{"v1", "v2"} {
		for _, name := range []string{"schema", "schema.unstable"} {
			file := filepath.ToSlash(filepath.Join(schemas, version, name+".json"))
			pkg := version + strings.ReplaceAll(strings.TrimPrefix(name, "schema"), ".", "")
			t.Run(pkg, func(t *testing.T) { roundTrips(t, file, filepath.Join(dir, pkg), pkg) })
		}
	}
}

func roundTrips(t *testing.T, file, out, pkg string) {
	run := func(name string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(name, args...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		stdout, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s%s", name, args, err, stdout, stderr.String())
		}
		return stdout
	}
	run(filepath.Join(bin, "acpgen"), "go", "--schema", file, "--out", out, "--package", pkg)
	model, err := gen.Load(os.DirFS("."), file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	var types strings.Builder
	for _, ty := range model.Types {
		if ty.Kind != gen.Object || strings.Contains(ty.Name, "_") {
			continue
		}
		want[ty.Name] = gen.Instances(ty)
		fmt.Fprintf(&types, "\t%q: new(%s.%s),\n", ty.Name, pkg, goName(t, out, ty.Name))
	}
	if len(want) < 100 || len(model.Methods) < 15 {
		t.Fatalf("only %d types and %d methods", len(want), len(model.Methods))
	}
	main := filepath.Join(out, "roundtrip")
	input, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(main, "main.go"), fmt.Sprintf(program, out, types.String()))
	write(t, filepath.Join(main, "in.json"), string(input))
	run("go", "vet", "./"+filepath.ToSlash(out)+"/...")
	var got map[string][]string
	if err := json.Unmarshal(run("go", "run", "./"+filepath.ToSlash(main), filepath.Join(main, "in.json")), &got); err != nil {
		t.Fatal(err)
	}
	values := 0
	for name, list := range want {
		for i, in := range list {
			values++
			var a, b any
			_ = json.Unmarshal([]byte(in), &a)
			if err := json.Unmarshal([]byte(got[name][i]), &b); err != nil {
				t.Errorf("%s: %s gives %s", name, in, got[name][i])
			} else if diff := cmp.Diff(a, b, cmp.FilterPath(added, cmp.Ignore())); diff != "" {
				t.Errorf("%s: %s (-in +out):\n%s", name, in, diff)
			}
		}
	}
	t.Logf("%d definitions, %d methods, %d values", len(want), len(model.Methods), values)
}

// added: members that only the result has are defaults that were filled in.
func added(p cmp.Path) bool {
	m, ok := p.Last().(cmp.MapIndex)
	if !ok {
		return false
	}
	in, _ := m.Values()
	return !in.IsValid()
}

// goName finds the Go name of a definition, which differs in its initialisms.
func goName(t *testing.T, dir, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(line, "type "); ok {
				if word, _, _ := strings.Cut(rest, " "); strings.EqualFold(word, name) {
					return word
				}
			}
		}
	}
	t.Fatalf("no Go type for %s", name)
	return ""
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// program decodes and encodes each value of its input.
const program = `package main

import (
	"encoding/json"
	"os"

	"github.com/acpkit/acpkit/interop/%s"
)

type codec interface {
	json.Unmarshaler
	AppendJSON(b []byte) []byte
}

var types = map[string]codec{
%s}

func main() {
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var in map[string][]string
	if err := json.Unmarshal(data, &in); err != nil {
		panic(err)
	}
	out := map[string][]string{}
	for name, list := range in {
		for _, text := range list {
			if err := types[name].UnmarshalJSON([]byte(text)); err != nil {
				out[name] = append(out[name], err.Error())
				continue
			}
			out[name] = append(out[name], string(types[name].AppendJSON(nil)))
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}
`
