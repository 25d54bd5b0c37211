package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/acpkit/acpkit/agent"
	"github.com/acpkit/acpkit/cmd/reasonix/internal/terminal"
)

type setupCmd struct {
	Provider string   `placeholder:"ID" help:"A provider that setup knows; its address, key variable and name are then the defaults of the other flags. One of: deepseek, openai, openrouter, moonshot, dashscope, zhipu, mistral, groq, together, ollama, lmstudio, llamacpp, vllm. Default: deepseek."`
	Name     string   `placeholder:"NAME" help:"Name of the provider in model references. Default: the provider's id."`
	BaseURL  string   `placeholder:"URL" help:"Address of its OpenAI-compatible API."`
	Models   []string `placeholder:"ID" help:"Model ids, the first is the default."`
	KeyEnv   string   `placeholder:"VAR" help:"Environment variable that holds the key; the name is written down, and the key itself beside it in .env. Default: that of the provider, else NAME_API_KEY."`
	NoKey    bool     `help:"The provider needs no key."`
	NoCheck  bool     `help:"Do not ask the provider whether it takes the key and knows the model."`
	Yes      bool     `help:"Take the default for what is not given, write the configuration also when the check fails, and replace a provider of that name at another address."`
}

// wizard is one run of setup.
type wizard struct {
	setupCmd
	home        string
	interactive bool
	in          *bufio.Reader
	out, err    io.Writer
	readKey     func(question string) (string, error)
	configured  agent.Configured
	check       func(ctx context.Context, p agent.Provider, key string) ([]string, error)
}

var errBrokenOff = errors.New("setup was broken off; nothing was written")

// Run asks for what the flags leave open. The key is never a flag, because
// other users of the machine can read those: it is typed without echo, or is
// the first line of standard input when that is no terminal.
func (c *setupCmd) Run(sio stdio) error {
	home, err := agent.Home(nil)
	if err != nil {
		return err
	}
	a := options{LogLevel: "error"}.agent(sio.err)
	w := &wizard{setupCmd: *c, home: home, interactive: term.IsTerminal(int(sio.in.Fd())), in: bufio.NewReader(sio.in), out: sio.out, err: sio.err, check: a.CheckProvider}
	if w.configured, err = a.Configured(); err != nil {
		return err // it could not be written to either
	}
	w.readKey = w.keyLine
	if w.interactive {
		w.readKey = func(question string) (string, error) { return hiddenLine(sio, question) }
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if w.interactive {
		// Questions wait in a read that no context ends.
		defer context.AfterFunc(ctx, leaveTerminal(sio))()
	}
	err = w.run(ctx)
	if errors.Is(err, terminal.ErrInterrupted) {
		fmt.Fprintln(sio.err, "reasonix:", errBrokenOff)
		return exitCode(130)
	}
	return err
}

// leaveTerminal ends the process at Ctrl-C with the terminal as it was.
func leaveTerminal(sio stdio) func() {
	before, err := term.GetState(int(sio.in.Fd()))
	return func() {
		if err == nil {
			_ = term.Restore(int(sio.in.Fd()), before)
		}
		fmt.Fprintln(sio.err, "\nreasonix:", errBrokenOff)
		os.Exit(130)
	}
}

func hiddenLine(sio stdio, question string) (string, error) {
	key, err := terminal.ReadSecret(sio.in, sio.out, question)
	return strings.TrimSpace(key), err
}

// keyLine reads the key where nobody types it.
func (w *wizard) keyLine(string) (string, error) {
	line, err := w.in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return strings.TrimSpace(line), nil
}

func (w *wizard) run(ctx context.Context) error {
	if w.interactive {
		w.showConfigured()
	}
	p, key, err := w.provider()
	if err != nil {
		return err
	}
	models, checked, err := w.live(ctx, p, key)
	if err != nil {
		return err
	}
	if err := w.model(&p, models, checked); err != nil {
		return err
	}
	makeDefault, err := w.agree(p)
	if err != nil {
		return err
	}
	if err := agent.WriteProvider(w.home, p, key, makeDefault); err != nil {
		return err
	}
	w.done(p, key, makeDefault)
	return nil
}

// say writes a line in which others may have a word.
func (w *wizard) say(format string, args ...any) {
	fmt.Fprintln(w.out, terminal.CleanLine(fmt.Sprintf(format, args...)))
}

// showConfigured tells what is there already.
func (w *wizard) showConfigured() {
	if len(w.configured.Providers) == 0 {
		w.say("No provider is configured yet.")
		return
	}
	w.say("Configured in %s/config.toml:", w.home)
	for _, p := range w.configured.Providers {
		key := "no key needed"
		if p.KeyEnv != "" {
			key = "key in $" + p.KeyEnv
			if !p.HasKey {
				key = "$" + p.KeyEnv + " is not set"
			}
		}
		w.say("  %s  %s  %s  (%s)", p.Name, cmp.Or(p.BaseURL, "kind "+p.Kind), strings.Join(p.Models, ", "), key)
	}
	w.say("Default model: %s", cmp.Or(w.configured.DefaultModel, "none"))
}

// provider finds out which one, where it is and what its key is.
func (w *wizard) provider() (p agent.Provider, key string, err error) {
	known, err := w.known()
	if err != nil {
		return p, "", err
	}
	if p.Name, err = w.ask(w.Name, "Name in model references", cmp.Or(known.ID, "custom"), known.ID != ""); err != nil {
		return p, "", err
	}
	address := known.BaseURL
	if old, ok := w.configured.Provider(p.Name); ok && old.BaseURL != "" {
		address = old.BaseURL
	}
	if p.BaseURL, err = w.ask(w.BaseURL, "Address of its API", address, false); err != nil {
		return p, "", err
	}
	if p.BaseURL == "" {
		return p, "", errors.New("an address is needed: --base-url")
	}
	p.Models = w.Models
	if w.NoKey {
		return p, "", nil
	}
	if p.APIKeyEnv, err = w.keyVariable(known, p.Name); err != nil || p.APIKeyEnv == "" {
		return p, "", err
	}
	key, err = w.readKey(fmt.Sprintf("Key (not shown; empty to keep what %s holds): ", p.APIKeyEnv))
	return p, key, err
}

// keyVariable is the variable of the key, "" when none is needed.
func (w *wizard) keyVariable(known agent.KnownProvider, name string) (string, error) {
	usual := cmp.Or(known.KeyEnv, strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"_API_KEY")
	old, again := w.configured.Provider(name)
	switch {
	case w.KeyEnv != "":
		return w.KeyEnv, nil
	case again && old.Kind == "openai" && (w.BaseURL == "" || sameURL(w.BaseURL, old.BaseURL)):
		return old.KeyEnv, nil // as it is
	case known.ID != "" && known.KeyEnv == "":
		return "", nil
	case known.ID != "" || !w.interactive:
		return usual, nil
	}
	needed, err := w.yes("Does it need a key?", true)
	if err != nil || !needed {
		return "", err
	}
	return w.ask("", "Environment variable that holds the key", usual, false)
}

// known is the entry of the list, the zero one for another provider.
func (w *wizard) known() (agent.KnownProvider, error) {
	list := agent.KnownProviders()
	find := func(id string) (agent.KnownProvider, error) {
		i := slices.IndexFunc(list, func(k agent.KnownProvider) bool { return k.ID == id })
		if i < 0 {
			return agent.KnownProvider{}, fmt.Errorf("setup knows no provider %q; see reasonix setup --help, or give --name and --base-url", id)
		}
		return list[i], nil
	}
	custom := w.Name != "" || w.BaseURL != ""
	switch {
	case w.Provider != "":
		return find(w.Provider)
	case custom && w.Name == "":
		return list[0], nil // only the address of the usual one
	case custom:
		if k, err := find(w.Name); err == nil {
			return k, nil
		}
		return agent.KnownProvider{BaseURL: list[0].BaseURL}, nil
	case !w.interactive:
		return list[0], nil
	}
	w.say("")
	for i, k := range list {
		w.say("  %2d  %s", i+1, k.Title)
	}
	w.say("  %2d  another one that speaks the chat completions of OpenAI", len(list)+1)
	for {
		answer, err := w.ask("", "Provider, by number or id", "1", false)
		if err != nil {
			return agent.KnownProvider{}, err
		}
		if answer == fmt.Sprint(len(list)+1) || answer == "other" {
			return agent.KnownProvider{}, nil
		}
		for i, k := range list {
			if answer == fmt.Sprint(i+1) || answer == k.ID {
				return k, nil
			}
		}
		w.say("There is no %q in the list.", answer)
	}
}

// ask returns what was given, else the answer to the question, else the fallback.
// What is settled is not asked, and with --yes nothing is.
func (w *wizard) ask(given, question, fallback string, settled bool) (string, error) {
	if given != "" || !w.interactive || settled || w.Yes {
		return cmp.Or(given, fallback), nil
	}
	shown := ""
	if fallback != "" {
		shown = " [" + terminal.CleanLine(fallback) + "]"
	}
	fmt.Fprintf(w.out, "%s%s: ", question, shown)
	line, err := w.in.ReadString('\n')
	if err != nil {
		return "", errBrokenOff
	}
	return cmp.Or(strings.TrimSpace(line), fallback), nil
}

// yes asks for a yes or no.
func (w *wizard) yes(question string, fallback bool) (bool, error) {
	shown := "y/N"
	if fallback {
		shown = "Y/n"
	}
	answer, err := w.ask("", question, shown, false)
	switch strings.ToLower(answer) {
	case "y", "yes":
		return true, err
	case "n", "no":
		return false, err
	}
	return fallback, err
}
