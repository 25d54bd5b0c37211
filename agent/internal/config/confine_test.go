package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acpkit/acpkit/agent/internal/permission"
)

func TestConfinement(t *testing.T) {
	tests := []struct {
		name, user, project string
		rules               permission.Rules
		sandbox             Sandbox
		warnings            []string // what stands in each, in order
	}{
		{"nothing", "", "", permission.Rules{}, Sandbox{Bash: "on"}, nil},
		{"user", `
[permissions]
deny = ["Read(**/.env)"]
ask = ["bash(git push *)"]
allow = ["bash(go test *)", "web_fetch(*.example.com)"]
[sandbox]
bash = "require"
network = true
write = ["/var/cache/x", "~/go"]
env = ["GITHUB_TOKEN"]
`, "", permission.Rules{Deny: []string{"Read(**/.env)"}, Ask: []string{"bash(git push *)"}, Allow: []string{"bash(go test *)", "web_fetch(*.example.com)"}},
			Sandbox{Bash: "require", Network: true, Write: []string{"/var/cache/x", "/home/me/go"}, Env: []string{"GITHUB_TOKEN"}}, nil},
		{"project tightens", `
[permissions]
deny = ["A"]
ask = ["B"]
allow = ["C"]
[sandbox]
bash = "off"
network = true
`, `
[permissions]
deny = ["D"]
ask = ["E"]
[sandbox]
bash = "on"
network = false
`, permission.Rules{Deny: []string{"A", "D"}, Ask: []string{"B", "E"}, Allow: []string{"C"}}, Sandbox{Bash: "on"}, nil},
		{"project loosens", `
[sandbox]
bash = "require"
`, `
[permissions]
allow = ["Bash"]

[sandbox]
bash = "off"
network = true
write = ["/"]
env = ["X"]
`, permission.Rules{}, Sandbox{Bash: "require"},
			[]string{"line 3: permissions.allow is ignored", `line 6: sandbox.bash = "off" is ignored`, "line 7: sandbox.network = true is ignored", "line 8: sandbox.write is ignored", "line 9: sandbox.env is ignored"}},
		{"project agrees", "[sandbox]\nnetwork = true\nbash = \"off\"\n", "[sandbox]\nnetwork = true\nbash = \"off\"\n", permission.Rules{}, Sandbox{Bash: "off", Network: true}, nil},
		{"project against the default", "", "[sandbox]\nbash = \"off\"\n", permission.Rules{}, Sandbox{Bash: "on"}, []string{"line 2: sandbox.bash"}},
		{"words of others", "[sandbox]\nbash = \"enforce\"\nworkspace_root = \"x\"\n[permissions]\nalows = []\n", "", permission.Rules{}, Sandbox{Bash: "require"},
			[]string{"line 3: unknown key sandbox.workspace_root", "line 5: unknown key permissions.alows is ignored (did you mean allow?)"}},
		{"auto", "[sandbox]\nbash = \"auto\"\n", "", permission.Rules{}, Sandbox{Bash: "on"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			home, project := homeWith(t, map[string]string{userFile: test.user}), homeWith(t, map[string]string{projectFile: test.project})
			c, err := Load(Options{Home: home, Project: project, Getenv: func(k string) string { return map[string]string{"HOME": "/home/me"}[k] }})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.rules, c.Permissions); d != "" {
				t.Errorf("rules (-want +got):\n%s", d)
			}
			if d := cmp.Diff(test.sandbox, c.Sandbox); d != "" {
				t.Errorf("sandbox (-want +got):\n%s", d)
			}
			if len(c.Warnings) != len(test.warnings) {
				t.Fatalf("warnings %q, want %q", c.Warnings, test.warnings)
			}
			for i, want := range test.warnings {
				if !strings.Contains(c.Warnings[i], want) || test.project != "" && !strings.HasPrefix(c.Warnings[i], filepath.Join(project, projectFile)) {
					t.Errorf("warning %q, want %q", c.Warnings[i], want)
				}
			}
		})
	}
}

func TestConfinementErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[permissions]\ndeny = \"x\"\n":               "line 2: permissions.deny: expected a list of strings, found a string",
		"[permissions]\nask = [1]\n":                  "line 2: permissions.ask: expected a list of strings",
		"[permissions]\nallow = [\"A\", \"Edit(\"]\n": `line 2: permissions.allow: allow rule "Edit(": the closing parenthesis is missing`,
		"[permissions]\nask = [\"a\\nb\"]\n":          "entry 1 is too long or holds control characters",
		"permissions = 1\n":                           "line 1: permissions: expected a table",
		"[sandbox]\nbash = \"perhaps\"\n":             `line 2: sandbox.bash: "perhaps" is not known`,
		"[sandbox]\nbash = true\n":                    "line 2: sandbox.bash: expected a string",
		"[sandbox]\nnetwork = \"off\"\n":              "line 2: sandbox.network: expected a boolean",
		"[sandbox]\nwrite = [\"x\"]\n":                "line 2: sandbox.write: entry 1 is no absolute path",
		"[sandbox]\nenv = [\"sk-secret\"]\n":          "line 2: sandbox.env: entry 1 is not the name of a variable",
	} {
		for _, file := range []string{userFile, projectFile} {
			home, project := t.TempDir(), t.TempDir()
			dir := home
			if file == projectFile {
				dir = project
			}
			put(t, filepath.Join(dir, file), text)
			_, err := Load(Options{Home: home, Project: project, Getenv: func(string) string { return "" }})
			e := asFileError(t, err)
			if !strings.Contains(e.Error(), want) || !strings.HasPrefix(e.Error(), filepath.Join(dir, file)) || e.Mend == "" || strings.Contains(e.Error(), "sk-secret") {
				t.Errorf("%q in %s: %v, want %s", text, file, e, want)
			}
		}
	}
}

func TestSecretsForTheSandbox(t *testing.T) {
	home := homeWith(t, map[string]string{userFile: "[[providers]]\nname = \"a\"\nbase_url = \"https://a\"\napi_key_env = \"A_NAME\"\n"})
	project := homeWith(t, map[string]string{projectFile: "[[providers]]\nname = \"b\"\nbase_url = \"https://b\"\napi_key_env = \"B_NAME\"\n"})
	c, err := Load(Options{Home: home, Project: project, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"A_NAME", "B_NAME"}, c.KeyVariables()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{filepath.Join(home, ".env"), filepath.Join(home, "acp")}, c.SecretFiles()); d != "" {
		t.Error(d)
	}
}
