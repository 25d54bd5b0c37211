package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocs: what docs/configuration.md shows is read without an error and
// without a warning, and the keys that it shows are all there are.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, block := range regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllSubmatch(page, -1) {
		text.Write(block[1])
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Options{Home: home, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings) > 0 || len(c.Providers) != 2 || c.Providers[0].Idle == 0 || len(c.Permissions.Deny) != 2 || len(c.Sandbox.Write) != 1 || len(c.WebFetch.AllowPrivate) != 1 || c.Agent.TaskTokens == 0 {
		t.Errorf("%+v\n%s", c, c.Warnings)
	}
}
