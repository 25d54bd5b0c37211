package gen_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/acpkit/acpkit/gen"
)

// docsOptions are those of `make gen`.
var docsOptions = gen.DocsOptions{
	Schemas:     []string{"schema/acp/v1", "schema/reasonix/v1", "schema/openai/v1", "schema/script/v1"},
	Transcripts: "cmd/reasonix/testdata/script",
	Out:         "generated/docs",
}

func docs(t *testing.T) map[string][]byte {
	t.Helper()
	pages, err := gen.Docs(os.DirFS(".."), docsOptions)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestDocsFresh: generated/docs is what the schemas give, and nothing else
// stands there.
func TestDocsFresh(t *testing.T) {
	want := docs(t)
	if diff := cmp.Diff(want, docs(t)); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	if len(want) < 15 {
		t.Errorf("only %d pages", len(want))
	}
	dir := os.DirFS("../generated/docs")
	got := map[string][]byte{}
	err := fs.WalkDir(dir, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			got[p], err = fs.ReadFile(dir, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range docsMerged(want, got) {
		if string(want[name]) != string(got[name]) {
			t.Errorf("generated/docs/%s is stale; run make gen", name)
		}
		if !strings.HasPrefix(string(want[name]), gen.DocsMarker+"schema/") {
			t.Errorf("%s does not say what it is generated from", name)
		}
	}
}

func docsMerged(a, b map[string][]byte) map[string][]byte {
	m := maps.Clone(a)
	maps.Copy(m, b)
	return m
}

// anchorMark finds the only HTML that pages may have.
var anchorMark = regexp.MustCompile(`<a id="([^"]+)"></a>`)

// TestDocsMarkdown: anchors are unique, tables are whole, there is no HTML.
func TestDocsMarkdown(t *testing.T) {
	for name, data := range docs(t) {
		seen := map[string]bool{}
		columns := 0
		lines := strings.Split(outsideFences(string(data)), "\n")
		for i, line := range lines[1:] { // the first is the marker
			for _, a := range anchorMark.FindAllStringSubmatch(line, -1) {
				if seen[a[1]] {
					t.Errorf("%s: anchor %s stands twice", name, a[1])
				}
				seen[a[1]] = true
			}
			if text := withoutCode(anchorMark.ReplaceAllString(line, "")); strings.Contains(text, "<") {
				t.Errorf("%s:%d: HTML in %q", name, i+2, line)
			}
			n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
			if !strings.HasPrefix(line, "|") {
				n = 0
			}
			if columns > 0 && n > 0 && n != columns {
				t.Errorf("%s:%d: a row of %d cells in a table of %d: %s", name, i+2, n-1, columns-1, line)
			}
			columns = n
		}
	}
}

// outsideFences blanks what stands between ``` lines.
func outsideFences(text string) string {
	var b strings.Builder
	in := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			in = !in
			line = "\n"
		}
		if in {
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

func withoutCode(line string) string {
	parts := strings.Split(line, "`")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = ""
	}
	return strings.Join(parts, "")
}

var linkTarget = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestDocsLinks: every relative link between pages, from pages into the
// repository and from the hand-written entrances leads somewhere.
func TestDocsLinks(t *testing.T) {
	files := map[string]string{} // in the repository → text
	for name, data := range docs(t) {
		files[path.Join(docsOptions.Out, name)] = string(data)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"} {
		data, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, m := range linkTarget.FindAllStringSubmatch(outsideFences(files[name]), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			n++
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			text, known := files[to]
			if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(to))); !known && err != nil {
				t.Errorf("%s: link to %s: there is no such file", name, m[1])
			}
			if anchor != "" && !anchors(text)[anchor] {
				t.Errorf("%s: link to %s: there is no such anchor", name, m[1])
			}
		}
	}
	if n < 500 {
		t.Errorf("only %d links found", n)
	}
}

// anchors are those that a page sets and those that GitHub gives its headings.
func anchors(text string) map[string]bool {
	set := map[string]bool{}
	for _, a := range anchorMark.FindAllStringSubmatch(text, -1) {
		set[a[1]] = true
	}
	for line := range strings.Lines(outsideFences(text)) {
		if title := strings.TrimLeft(line, "#"); title != line {
			set[slug(title)] = true
		}
	}
	return set
}

var notInSlug = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

func slug(title string) string {
	return strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), " ", "-")
}

// TestDocsContract: testdata/docs/contract.txtar holds a small schema with a
// contract and transcripts, and what the page of errors says of it.
func TestDocsContract(t *testing.T) {
	fsys, want := docsCase(t, "testdata/docs/contract.txtar")
	pages, err := gen.Docs(fsys, gen.DocsOptions{Schemas: []string{"schema/toy/v1"}, Transcripts: "scripts", Out: "generated/docs"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range want {
		rest := string(pages[name])
		for line := range strings.Lines(text) {
			_, after, ok := strings.Cut(rest, strings.TrimSpace(line))
			if !ok {
				t.Fatalf("%s: missing, or out of order: %s\nin\n%s", name, line, pages[name])
			}
			rest = after
		}
	}
	pages, err = gen.Docs(fsys, gen.DocsOptions{Schemas: []string{"schema/toy/v1"}, Transcripts: "nowhere"})
	if err != nil || strings.Contains(string(pages["errors.md"]), ".txtar") || strings.Contains(string(pages["toy/toy.md"]), "schema/toy/v1/toy.json)") {
		t.Errorf("pages that do not know where they stand link out: %v", err)
	}
}

// docsCase reads a txtar: files of the input, and below want/ lines of pages.
func docsCase(t *testing.T, file string) (fstest.MapFS, map[string]string) {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fsys, want := fstest.MapFS{}, map[string]string{}
	for _, f := range ar.Files {
		if page, ok := strings.CutPrefix(f.Name, "want/"); ok {
			want[page] = strings.TrimSpace(string(f.Data))
			continue
		}
		data := f.Data
		if strings.HasSuffix(f.Name, ".txtar") { // its own sections are written with +
			data = []byte(strings.ReplaceAll(string(data), "\n+", "\n"))
		}
		fsys[f.Name] = &fstest.MapFile{Data: data}
	}
	return fsys, want
}
