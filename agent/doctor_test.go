package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent"
)

// checker is a network of which the addresses are known.
type checker map[string][]string

func (c checker) Models(ctx context.Context, e agent.Endpoint) ([]string, error) {
	if _, limited := ctx.Deadline(); !limited {
		return nil, errors.New("no deadline")
	}
	models, ok := c[e.BaseURL]
	if !ok {
		return nil, fmt.Errorf("401: the key %s of %s is wrong", e.Key.Reveal(), e.Headers["X-Org"].Reveal())
	}
	return models, nil
}

const providers = `default_model = "%s"
[[providers]]
name = "known"
base_url = "https://known.example/v1?secret=in-query"
models = ["a", "b"]
api_key_env = "MY_KEY"
[[providers]]
name = "strange"
base_url = "https://strange.example/v1"
models = ["other"]
[[providers]]
name = "silent"
base_url = "https://silent.example/v1"
models = ["any"]
[[providers]]
name = "closed"
base_url = "https://closed.example/v1"
models = ["x"]
api_key_env = "MY_KEY"
headers = { X-Org = "s3cret-org" }
`

func diagnose(t *testing.T, model string, c agent.Checker, live bool) string {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), fmt.Appendf(nil, providers, model), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"MY_KEY": "s3cret"}[name] }
	a := agent.New(agent.Config{Home: home, Getenv: getenv, Checker: c})
	var b strings.Builder
	for _, f := range a.Diagnose(t.Context(), t.TempDir(), live) {
		fmt.Fprintf(&b, "%s: %s: %s\n", f.Check, f.Status, f.Text)
	}
	if strings.Contains(b.String(), "s3cret") || strings.Contains(b.String(), "in-query") {
		t.Errorf("a secret is shown:\n%s", b.String())
	}
	return b.String()
}

// TestDiagnoseLive: what a provider answers, and that it matters for the default
// model only.
func TestDiagnoseLive(t *testing.T) {
	network := checker{"https://known.example/v1?secret=in-query": {"a", "b", "c"}, "https://strange.example/v1": {"a"}, "https://silent.example/v1": nil}
	for _, c := range []struct {
		model   string
		checker agent.Checker
		live    bool
		want    string
	}{
		{"known/a", network, true, "provider known, live: ok: it answers and knows the models (3)"},
		{"known/a", network, true, `provider strange, live: warning: it answers, but of its 1 models none is called "other"`},
		{"known/a", network, true, "provider silent, live: ok: it answers, and does not say which models it has"},
		{"known/a", network, true, "provider closed, live: warning: 401: the key [redacted] of [redacted] is wrong"},
		{"closed/x", network, true, "provider closed, live: failed: 401: the key [redacted] of [redacted] is wrong"},
		{"known/a", network, false, "provider known, live: not checked: not checked (--offline)"},
		{"known/a", network, false, "provider known: ok: kind openai, https://known.example/v1, its key is in $MY_KEY"},
		{"known/zzz", network, true, "model: failed: "},
	} {
		if got := diagnose(t, c.model, c.checker, c.live); !strings.Contains("\n"+got, "\n"+c.want) {
			t.Errorf("%s: no line %q in\n%s", c.model, c.want, got)
		}
	}
}

// TestCheckProvider: the key that was given is sent, else the one that is there.
func TestCheckProvider(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".env"), []byte("THERE=stored\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := agent.New(agent.Config{Home: home, Getenv: func(string) string { return "" }, Checker: sent{}})
	for _, c := range []struct{ variable, key, want string }{
		{"THERE", "", "the key is stored"},
		{"THERE", "typed", "the key is typed"},
		{"", "", "the key is "},
		{"NOWHERE", "", "there is no key: $NOWHERE is not set"},
	} {
		models, err := a.CheckProvider(t.Context(), agent.Provider{BaseURL: "https://x.example", APIKeyEnv: c.variable}, c.key)
		got := strings.Join(models, ",")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

type sent struct{}

func (sent) Models(_ context.Context, e agent.Endpoint) ([]string, error) {
	return []string{"the key is " + e.Key.Reveal()}, nil
}

// TestKnownProviders: each can be written as it is.
func TestKnownProviders(t *testing.T) {
	home := t.TempDir()
	seen := map[string]bool{}
	for _, k := range agent.KnownProviders() {
		if seen[k.ID] || seen[k.BaseURL] {
			t.Errorf("%s is there twice", k.ID)
		}
		seen[k.ID], seen[k.BaseURL] = true, true
		if err := agent.WriteProvider(home, agent.Provider{Name: k.ID, BaseURL: k.BaseURL, APIKeyEnv: k.KeyEnv, Models: []string{"m"}}, "", true); err != nil {
			t.Errorf("%s: %v", k.ID, err)
		}
	}
	c, err := agent.New(agent.Config{Home: home}).Configured()
	if err != nil || len(c.Providers) != len(agent.KnownProviders()) || c.DefaultModel != "vllm/m" {
		t.Errorf("%+v, %v", c, err)
	}
}
