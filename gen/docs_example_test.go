package gen_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/acpkit/acpkit/gen"
)

// docsExample is a block of JSON on a page, with the anchor above it.
type docsExample struct{ page, anchor, text string }

func docsExamples(page, text string) (all []docsExample) {
	anchor, block, in := "", "", false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			if in {
				all = append(all, docsExample{page, anchor, block})
			}
			in, block = !in, ""
		case in:
			block += line
		case strings.HasPrefix(line, "#"):
			if m := anchorMark.FindStringSubmatch(line); m != nil {
				anchor = m[1]
			}
		}
	}
	return all
}

// TestDocsExamples: each example is valid against the schema of the definition
// below whose anchor it stands; every method has its frames, every branch of
// session/update one.
func TestDocsExamples(t *testing.T) {
	v := newDocsValidator(t)
	found := map[string]bool{}
	for name, data := range docs(t) {
		for _, e := range docsExamples(name, string(data)) {
			v.check(t, e, found)
		}
	}
	for _, m := range v.methods {
		if !found["request "+m.Name] || m.Kind == "request" && !found["result of "+m.Name] {
			t.Errorf("%s has no example frames in the index", m.Name)
		}
	}
	for _, kind := range v.kinds {
		if !found["update "+kind] {
			t.Errorf("session/update %s has no example", kind)
		}
	}
	if len(found) < 80 {
		t.Errorf("only %d different examples", len(found))
	}
}

// docsValidator compiles the schema folders twice: as they are, and with what
// extends.json adds to the definitions of the folder that it extends.
type docsValidator struct {
	compiler *jsonschema.Compiler
	books    map[string]string // folder of pages → schema folder
	methods  []docsMethod
	types    map[string]docsDefinition // page#anchor
	kinds    []string                  // of session/update
}

type docsMethod struct{ Name, Kind, Key, Params, Result string }

type docsDefinition struct {
	url   string
	isRaw bool // stands for itself, not in a frame
}

func newDocsValidator(t *testing.T) *docsValidator {
	t.Helper()
	v := &docsValidator{compiler: jsonschema.NewCompiler(), books: map[string]string{}, types: map[string]docsDefinition{}}
	repo := os.DirFS("..")
	for _, folder := range docsOptions.Schemas {
		v.addFolder(t, repo, "exact/", folder, nil)
		v.addFolder(t, repo, "extended/", folder, docsExtensions(t, repo, "schema/reasonix/v1", folder))
		v.addTypes(t, repo, folder)
	}
	return v
}

// addFolder gives the compiler each schema file of a folder.
func (v *docsValidator) addFolder(t *testing.T, repo fs.FS, root, folder string, ext map[string]map[string]any) {
	t.Helper()
	files, err := fs.Glob(repo, folder+"/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		doc := docsJSON(t, repo, file)
		defs, ok := doc["$defs"].(map[string]any)
		if !ok {
			continue
		}
		for name, e := range ext {
			if def, ok := defs[name].(map[string]any); ok {
				docsExtend(def, e)
			}
		}
		if err := v.compiler.AddResource("mem:///"+root+file, doc); err != nil {
			t.Fatal(err)
		}
	}
}

func docsJSON(t *testing.T, fsys fs.FS, file string) map[string]any {
	t.Helper()
	f, err := fsys.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(file, err)
	}
	return doc.(map[string]any)
}

// docsExtensions are the entries of extends.json by definition, when it extends
// that folder.
func docsExtensions(t *testing.T, repo fs.FS, vendor, folder string) map[string]map[string]any {
	t.Helper()
	doc := docsJSON(t, repo, vendor+"/extends.json")
	entries := map[string]map[string]any{}
	if path.Join(vendor, doc["of"].(string)) != folder {
		return entries
	}
	// References of the added members start at the vendor's folder.
	rel, err := filepath.Rel(folder, vendor)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range doc["extends"].([]any) {
		entry := e.(map[string]any)
		if members, ok := entry["members"].(map[string]any); ok {
			docsRebase(members, filepath.ToSlash(rel)+"/")
		}
		entries[entry["definition"].(string)] = entry
	}
	return entries
}

func docsRebase(v any, prefix string) {
	switch v := v.(type) {
	case map[string]any:
		for k, sub := range v {
			if ref, ok := sub.(string); ok && k == "$ref" {
				v[k] = prefix + ref
			}
			docsRebase(sub, prefix)
		}
	case []any:
		for _, sub := range v {
			docsRebase(sub, prefix)
		}
	}
}

func docsExtend(def, entry map[string]any) {
	if members, ok := entry["members"].(map[string]any); ok {
		maps.Copy(def["properties"].(map[string]any), members)
	}
	if optional, ok := entry["optional"].([]any); ok {
		def["required"] = slices.DeleteFunc(slices.Clone(def["required"].([]any)), func(r any) bool { return slices.Contains(optional, r) })
	}
}

func (v *docsValidator) addTypes(t *testing.T, repo fs.FS, folder string) {
	t.Helper()
	pkg, err := gen.Load(repo, folder)
	if err != nil {
		t.Fatal(err)
	}
	book := path.Base(path.Dir(folder))
	v.books[book] = folder
	at := func(name string) string { return path.Join(book, pkg.Type(name).Topic+".md") + "#" + name }
	for _, ty := range pkg.Types {
		root, in := "exact/", folder
		if ty.Extends != nil {
			root, in = "extended/", ty.Extends.Pkg.Folder
		}
		v.types[path.Join(book, ty.Topic+".md")+"#"+ty.Name] = docsDefinition{url: "mem:///" + root + in + "/" + ty.Topic + ".json#/$defs/" + ty.Name, isRaw: ty.Method == ""}
		if ty.Name == "SessionUpdate" {
			for _, br := range ty.Union.Branches {
				v.kinds = append(v.kinds, br.Tag)
			}
		}
	}
	for _, m := range pkg.Methods {
		if m.Pkg.Folder == folder {
			row := docsMethod{m.Name, m.Kind, m.Key, at(m.Params.Name), ""}
			if m.Result != nil {
				row.Result = at(m.Result.Name)
			}
			v.methods = append(v.methods, row)
		}
	}
}

// check validates one example and notes what it is an example of.
func (v *docsValidator) check(t *testing.T, e docsExample, found map[string]bool) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(e.text))
	if err != nil {
		t.Errorf("%s#%s: %v\n%s", e.page, e.anchor, err, e.text)
		return
	}
	frame, def := value.(map[string]any), v.types[e.page+"#"+e.anchor]
	if e.page == "methods.md" {
		i := slices.IndexFunc(v.methods, func(m docsMethod) bool { return m.Key == e.anchor })
		def = v.types[v.methods[i].Params]
		what := "request " + v.methods[i].Name
		if frame["method"] == nil {
			def, what = v.types[v.methods[i].Result], "result of "+v.methods[i].Name
		}
		found[what] = true
	}
	payload := value
	if !def.isRaw {
		payload = docsPayload(t, e, frame)
	}
	found[e.page+"#"+e.anchor] = true
	docsNote(payload, found)
	schema, err := v.compiler.Compile(def.url)
	if err != nil {
		t.Errorf("%s#%s: %v", e.page, e.anchor, err)
		return
	}
	if err := schema.Validate(payload); err != nil {
		t.Errorf("%s#%s: %v\n%s", e.page, e.anchor, err, e.text)
	}
}

// docsPayload checks the JSON-RPC members and returns what they carry.
func docsPayload(t *testing.T, e docsExample, frame map[string]any) any {
	t.Helper()
	params, isRequest := frame["params"]
	result, isResponse := frame["result"]
	_, hasMethod := frame["method"]
	if frame["jsonrpc"] != "2.0" || isRequest == isResponse || hasMethod != isRequest {
		t.Errorf("%s#%s: not a frame:\n%s", e.page, e.anchor, e.text)
	}
	if isResponse {
		if frame["id"] != json.Number("1") {
			t.Errorf("%s#%s: a response without an id:\n%s", e.page, e.anchor, e.text)
		}
		return result
	}
	return params
}

func docsNote(payload any, found map[string]bool) {
	m, _ := payload.(map[string]any)
	if update, ok := m["update"].(map[string]any); ok {
		if kind, ok := update["sessionUpdate"].(string); ok {
			found["update "+kind] = true
		}
	}
}
