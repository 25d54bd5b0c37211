//go:build interop

package interop

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// drift runs acpgen drift in the root of the repository.
func drift(t *testing.T, args ...string) (exit int, output string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "acpgen"), append([]string{"drift", "--prose"}, args...)...)
	cmd.Dir = ".."
	out, _ := cmd.CombinedOutput()
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestNoDrift: our schema has the structure of the published one, and none of its sentences.
func TestNoDrift(t *testing.T) {
	if exit, out := drift(t); exit != 0 || strings.TrimSpace(out) != "no differences" {
		t.Errorf("exit %d\n%s", exit, out)
	}
}

// TestSource: sources.json names the file that was compared, to the byte, and the package that is pinned.
func TestSource(t *testing.T) {
	var sources map[string]struct{ Package, Version, File, SHA256 string }
	if err := readJSON("../schema/sources.json", &sources); err != nil {
		t.Fatal(err)
	}
	source := sources["acp/v1"]
	wanted, err := pins()
	if err != nil {
		t.Fatal(err)
	}
	if wanted[source.Package] != source.Version {
		t.Errorf("sources.json has %s %s, package.json pins %q", source.Package, source.Version, wanted[source.Package])
	}
	data, err := os.ReadFile(filepath.Join(modules, source.Package, source.File))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != source.SHA256 {
		t.Errorf("sha256 of %s is %x, sources.json has %s", source.File, sum, source.SHA256)
	}
}

// TestPins: the pins are exact, the lock file names no place to download from, and README.md tells the versions.
func TestPins(t *testing.T) {
	wanted, err := pins()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, version := range wanted {
		if strings.Trim(version, "0123456789.") != "" {
			t.Errorf("%s %s is no exact version", name, version)
		}
		if !strings.Contains(string(readme), "`"+name+"` | "+version+" |") {
			t.Errorf("README.md does not say that %s is pinned to %s", name, version)
		}
	}
	var lock struct {
		Packages map[string]struct{ Resolved, Integrity string }
	}
	if err := readJSON("package-lock.json", &lock); err != nil {
		t.Fatal(err)
	}
	for name, p := range lock.Packages {
		if name != "" && (p.Resolved != "" || p.Integrity == "") {
			t.Errorf("package-lock.json: %s has an address, or no checksum; see .npmrc", name)
		}
	}
}

// TestDriftIsSeen: a published schema that has changed is reported with the place and the methods it touches.
func TestDriftIsSeen(t *testing.T) {
	data, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile("../schema/acp/v1/prompt.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, from, to string
		want           []string
	}{
		{"a constant renamed", `"const": "max_turn_requests"`, `"const": "max_requests"`, []string{"StopReason", "session/prompt"}},
		{"a member renamed", `"requestId": {`, `"requestID": {`, []string{"requestId", "requestID"}},
		{"another type", `"type": "boolean"`, `"type": "string"`, []string{"changed", "string"}},
		{"a sentence of ours", `"description": "`, `"description": "` + sentence(t, ours) + " ", []string{"prose"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mutated := bytes.Replace(data, []byte(c.from), []byte(c.to), 1)
			if bytes.Equal(mutated, data) {
				t.Fatalf("the published schema has no %s", c.from)
			}
			file := filepath.Join(t.TempDir(), "schema.json")
			if err := os.WriteFile(file, mutated, 0o666); err != nil {
				t.Fatal(err)
			}
			exit, out := drift(t, file)
			if exit != 1 {
				t.Errorf("exit %d, want 1", exit)
			}
			for _, w := range c.want {
				if !strings.Contains(out, w) {
					t.Errorf("the report does not name %q:\n%s", w, out)
				}
			}
		})
	}
}

// sentence is the first description of eight words or more that a definition in a schema file of ours has.
func sentence(t *testing.T, schema []byte) string {
	t.Helper()
	_, defs, _ := strings.Cut(string(schema), `"$defs"`)
	for _, part := range strings.Split(defs, `"description": "`)[1:] {
		if text, _, _ := strings.Cut(part, `"`); len(strings.Fields(text)) >= 8 && !strings.Contains(text, `\`) {
			return text
		}
	}
	t.Fatal("no description is long enough")
	return ""
}
