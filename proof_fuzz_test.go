package acpkit_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// target is a decoder that reads what a peer sends.
type target struct {
	name string // package/method or package/Type
	typ  reflect.Type
	def  *mType
}

// targets are the decoders of one fuzz test, sorted by name.
type targets []target

func (ts targets) find(name string) target {
	if i := slices.IndexFunc(ts, func(t target) bool { return t.name == name }); i >= 0 {
		return ts[i]
	}
	sum := 0
	for _, b := range []byte(name) {
		sum += int(b)
	}
	return ts[sum%len(ts)] // the fuzzer has changed the name
}

// fuzzed are all top-level decoders by fuzz test: the params and results of the
// method tables, the unions, and the roots of the other messages.
var fuzzed = sync.OnceValue(func() map[string]targets {
	out := map[string]targets{}
	add := func(test, name string, def *mType) {
		if t := goTypeOf(def); t != nil {
			out[test] = append(out[test], target{name, t, def})
		}
	}
	for pkg, m := range models() {
		for _, method := range m.Methods {
			add("FuzzParams", pkg+"/"+method.Key, method.Params)
			if method.Result != nil {
				add("FuzzResults", pkg+"/"+method.Key, method.Result)
			}
		}
		for _, def := range m.Types {
			if def.Kind == kUnion {
				add("FuzzUnions", pkg+"/"+def.Name, def)
			}
		}
	}
	for _, r := range roots {
		t := reflect.TypeOf(r).Elem()
		add("FuzzRoots", strings.Replace(goName(t), ".", "/", 1), definition(t))
	}
	for _, ts := range out {
		slices.SortFunc(ts, func(a, b target) int { return strings.Compare(a.name, b.name) })
	}
	return out
})

// fuzz starts from a minimal and a full value of each target, beside the seeds
// in testdata/fuzz.
func fuzz(f *testing.F, test string) {
	ts := fuzzed()[test]
	for _, t := range ts {
		for _, in := range instances(t.def) {
			f.Add(t.name, []byte(in.root.String()))
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) { decodeAnything(t, ts.find(name).typ, data) })
}

func FuzzParams(f *testing.F)  { fuzz(f, "FuzzParams") }
func FuzzResults(f *testing.F) { fuzz(f, "FuzzResults") }
func FuzzUnions(f *testing.F)  { fuzz(f, "FuzzUnions") }
func FuzzRoots(f *testing.F)   { fuzz(f, "FuzzRoots") }

// decodeAnything: whatever comes in, the decoder does not panic; what it accepts
// is written as one line of JSON in UTF-8, which is read as the same value and
// written as the same bytes again.
func decodeAnything(t *testing.T, typ reflect.Type, data []byte) {
	b := boxOf(typ)
	if b.UnmarshalJSON(data) != nil {
		return
	}
	line := b.AppendJSON(nil)
	if !json.Valid(line) || !utf8.Valid(line) || bytes.ContainsAny(line, "\r\n") {
		t.Fatalf("%s: %q is written as %q", typ, data, line)
	}
	back := boxOf(typ)
	if err := back.UnmarshalJSON(line); err != nil {
		t.Fatalf("%s: %q is written as %s, which does not decode: %v", typ, data, line, err)
	}
	n := &normalizer{forms: map[string]int{}}
	want := n.of(b, typ)
	if diff := cmp.Diff(want, back.v); diff != "" && utf8.Valid(data) {
		t.Fatalf("%s: %q is written as %s, which is another value (-want +got)\n%s", typ, data, line, diff)
	}
	if again := back.AppendJSON(nil); !bytes.Equal(again, line) && !n.changed {
		t.Fatalf("%s: %q is written as %s, then as %s", typ, data, line, again)
	}
}

var writeSeeds = flag.Bool("seeds", false, "write the missing seeds of the fuzz tests")

// TestSeeds: every top-level decoder has a seed in testdata/fuzz which it
// accepts, and no seed is left over.
func TestSeeds(t *testing.T) {
	count := 0
	for test, ts := range fuzzed() {
		dir := filepath.Join("testdata", "fuzz", test)
		named := map[string]bool{}
		for _, target := range ts {
			count++
			file := strings.ReplaceAll(target.name, "/", "_")
			named[file] = true
			list := instances(target.def)
			in := list[len(list)-1]
			for _, i := range list { // the longest shows most
				if len(i.root.String()) > len(in.root.String()) {
					in = i
				}
			}
			path := filepath.Join(dir, file)
			data, err := os.ReadFile(path)
			if os.IsNotExist(err) && *writeSeeds {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				data = fmt.Appendf(nil, "go test fuzz v1\nstring(%q)\n[]byte(%q)\n", target.name, in.root.String())
				err = os.WriteFile(path, data, 0o644)
			}
			if err != nil {
				t.Errorf("%v; run go test -run TestSeeds -seeds .", err)
				continue
			}
			if err := seed(data, target); err != nil {
				t.Errorf("%s: %v; remove it and run go test -run TestSeeds -seeds .", path, err)
			}
		}
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if prefix, _, ok := strings.Cut(e.Name(), "_"); ok && schemaOf[prefix] != "" && !named[e.Name()] {
				t.Errorf("%s is the seed of no decoder; remove it", filepath.Join(dir, e.Name()))
			}
		}
	}
	t.Logf("%d decoders", count)
}

// seed checks that a seed file is for the target, which accepts it.
func seed(file []byte, target target) error {
	var name, text string
	if _, err := fmt.Sscanf(string(file), "go test fuzz v1\nstring(%q)\n[]byte(%q)\n", &name, &text); err != nil {
		return err
	}
	if name != target.name {
		return fmt.Errorf("is for %s", name)
	}
	return boxOf(target.typ).UnmarshalJSON([]byte(text))
}
