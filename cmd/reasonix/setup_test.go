package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent"
)

// wizardRun is a wizard with somebody who types the answers.
type wizardRun struct {
	t    *testing.T
	home string
}

// run answers the questions and returns what was shown; the key is typed as "k3y".
func (r wizardRun) run(c setupCmd, models []string, refused error, answers ...string) (shown string, err error) {
	r.t.Helper()
	configured, err := agent.New(agent.Config{Home: r.home, Getenv: func(string) string { return "" }}).Configured()
	if err != nil {
		r.t.Fatal(err)
	}
	var out strings.Builder
	w := &wizard{setupCmd: c, home: r.home, interactive: true, in: bufio.NewReader(strings.NewReader(strings.Join(append(answers, ""), "\n"))), out: &out, err: &out,
		configured: configured,
		readKey:    func(question string) (string, error) { out.WriteString(question + "\n"); return "k3y", nil },
		check: func(_ context.Context, p agent.Provider, key string) ([]string, error) {
			if p.APIKeyEnv != "" && key != "k3y" {
				r.t.Errorf("the check gets the key %q", key)
			}
			return models, refused
		},
	}
	err = w.run(r.t.Context())
	if strings.Contains(out.String(), "k3y") {
		r.t.Errorf("the key is shown:\n%s", out.String())
	}
	return out.String(), err
}

func (r wizardRun) file(name string) string {
	data, err := os.ReadFile(filepath.Join(r.home, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(data)
}

// TestWizard: the ways through the questions, and what stands in the files then.
func TestWizard(t *testing.T) {
	r := wizardRun{t, t.TempDir()}
	has := func(when, text string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in\n%s", when, w, text)
			}
		}
	}

	// From the list, its address as it is, the second model of the live list.
	out, err := r.run(setupCmd{}, []string{"first", "second"}, nil, "99", "4", "", "2")
	if err != nil {
		t.Fatal(err, out)
	}
	has("moonshot", out, "No provider is configured yet.", `There is no "99" in the list.`, "✓ https://api.moonshot.ai/v1 answers and takes the key; it names 2 models", " 2  second", "the default model is moonshot/second")
	has("moonshot", r.file("config.toml"), `models = ["second"]`, `api_key_env = "MOONSHOT_API_KEY"`)
	has("moonshot", r.file(".env"), "MOONSHOT_API_KEY=k3y")

	// Another one, without a key, by its own name; it does not become the default.
	other := slices.Index(providerIDs(), "vllm") + 2
	out, err = r.run(setupCmd{NoCheck: true}, nil, nil, strconv.Itoa(other), "mine", "http://localhost:9/v1", "n", "tiny", "n")
	if err != nil {
		t.Fatal(err, out)
	}
	has("other", out, "Configured in ", "  moonshot  https://api.moonshot.ai/v1  second  (key in $MOONSHOT_API_KEY)", "Default model: moonshot/second", "the default model is moonshot/second")
	has("other", r.file("config.toml"), `default_model = "moonshot/second"`, `name = "mine"`, `models = ["tiny"]`)

	// The check fails: nothing is written unless the user wants it.
	before := r.file("config.toml")
	out, err = r.run(setupCmd{Provider: "groq"}, nil, errors.New("connection refused"), "", "")
	if !errors.Is(err, errBrokenOff) || r.file("config.toml") != before {
		t.Errorf("%v\n%s", err, out)
	}
	has("refused", out, "✗ https://api.groq.com/openai/v1: connection refused", "Keep this configuration anyway? [y/N]")
	if out, err = r.run(setupCmd{Provider: "groq"}, nil, errors.New("connection refused"), "", "y", "some", "y"); err != nil {
		t.Error(err, out)
	}
	has("kept", r.file("config.toml"), `name = "groq"`, `default_model = "groq/some"`)

	// A model that the provider does not name.
	before = r.file("config.toml")
	out, err = r.run(setupCmd{Provider: "mistral"}, []string{"a"}, nil, "", "b", "n")
	if !errors.Is(err, errBrokenOff) || r.file("config.toml") != before {
		t.Errorf("%v\n%s", err, out)
	}
	has("unknown model", out, `names no model "b"`)

	// The same name at another address: it is said, and no is the default.
	out, err = r.run(setupCmd{Name: "mine", NoCheck: true}, nil, nil, "http://elsewhere:1/v1", "tiny", "")
	if !errors.Is(err, errBrokenOff) || r.file("config.toml") != before {
		t.Errorf("%v\n%s", err, out)
	}
	has("replace", out, "provider mine is configured already, at http://localhost:9/v1 with tiny; all of it would be replaced", "Replace it? [y/N]")

	// The same one again: other models stay.
	if out, err = r.run(setupCmd{Name: "mine", Yes: true, Models: []string{"huge"}, NoCheck: true}, nil, nil); err != nil {
		t.Error(err, out)
	}
	if out, err = r.run(setupCmd{Name: "mine", NoCheck: true}, nil, nil, "", "more", "y"); err != nil {
		t.Error(err, out)
	}
	has("again", out, "updated provider mine")
	has("again", r.file("config.toml"), `models = ["more", "huge"]`)

	// The end of input is no answer.
	before = r.file("config.toml")
	if out, err = r.run(setupCmd{NoCheck: true}, nil, nil, "1"); !errors.Is(err, errBrokenOff) || r.file("config.toml") != before {
		t.Errorf("%v\n%s", err, out)
	}
}

func providerIDs() (ids []string) {
	for _, k := range agent.KnownProviders() {
		ids = append(ids, k.ID)
	}
	return ids
}

// TestSetupHelp: the help of --provider names all that there are.
func TestSetupHelp(t *testing.T) {
	if _, help, _ := command(t, nil, "setup", "--help"); !strings.Contains(strings.Join(strings.Fields(help), " "), "One of: "+strings.Join(providerIDs(), ", ")+".") {
		t.Errorf("the help does not name %v:\n%s", providerIDs(), help)
	}
}
