package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/gen"
)

// TestDocsCommand: pages are written, generated ones that are no longer made
// go, with the folder they leave empty, and nothing else does.
func TestDocsCommand(t *testing.T) {
	t.Chdir("../..")
	out := t.TempDir()
	put := func(name, text string) string {
		t.Helper()
		file := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	stale := put("old/stale.md", gen.DocsMarker+"schema/old/v1; DO NOT EDIT. -->\n")
	kept := put("script/hand.md", "# By hand\n")

	var stdout, stderr bytes.Buffer
	if code := run([]string{"docs", "--schema", "schema/acp/v1", "--schema", "schema/script/v1", "--out", out}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	if _, err := os.Stat(filepath.Dir(stale)); err == nil {
		t.Error("a page that is no longer made stays, or its folder does")
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error("a page that is not ours is gone")
	}
	page, err := os.ReadFile(filepath.Join(out, "script", "script.md"))
	if err != nil || strings.Contains(string(page), "](../../") {
		t.Errorf("pages outside of the project link into it: %v", err)
	}
}

// TestDocsCommandWritesNothing when a schema is at fault.
func TestDocsCommandWritesNothing(t *testing.T) {
	t.Chdir("../..")
	out := filepath.Join(t.TempDir(), "docs")
	for _, schema := range []string{"schema/nothing", "/schema/acp/v1"} {
		var stdout, stderr bytes.Buffer
		if code := run([]string{"docs", "--schema", schema, "--out", out}, &stdout, &stderr); code != 1 || stderr.Len() == 0 {
			t.Errorf("%s: exit %d, %q", schema, code, stderr.String())
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: something was written", schema)
		}
	}
}
