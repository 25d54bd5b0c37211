package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/term"

	"github.com/acpkit/acpkit/agent"
)

type setupCmd struct {
	Name    string   `placeholder:"NAME" help:"Name of the provider in model references. Default: deepseek."`
	BaseURL string   `placeholder:"URL" help:"Address of its OpenAI-compatible API. Default: https://api.deepseek.com."`
	Models  []string `placeholder:"ID" help:"Model ids, the first is the default. Default: deepseek-flash."`
	KeyEnv  string   `placeholder:"VAR" help:"Environment variable that holds the key; the name is written down, and the key itself beside it in .env. Default: NAME_API_KEY."`
	NoKey   bool     `help:"The provider needs no key."`
}

// Run asks for what the flags leave open. The key is never a flag, because
// other users of the machine can read those: it is typed without echo, or is
// the first line of standard input when that is no terminal.
func (c *setupCmd) Run(sio stdio) error {
	home, err := agent.Home(nil)
	if err != nil {
		return err
	}
	interactive := term.IsTerminal(int(sio.in.Fd()))
	in := bufio.NewReader(sio.in)
	ask := func(given, question, fallback string) (string, error) {
		if given != "" || !interactive {
			return cmp.Or(given, fallback), nil
		}
		fmt.Fprintf(sio.out, "%s [%s]: ", question, fallback)
		line, err := in.ReadString('\n')
		if err != nil {
			return "", errors.New("setup was broken off; nothing was written")
		}
		return cmp.Or(strings.TrimSpace(line), fallback), nil
	}
	p := agent.Provider{Models: c.Models}
	var model string
	for _, q := range []struct {
		to                        *string
		given, question, fallback string
	}{
		{&p.Name, c.Name, "Provider name", "deepseek"},
		{&p.BaseURL, c.BaseURL, "Address of its API", "https://api.deepseek.com"},
		{&model, strings.Join(c.Models, ","), "Model id", "deepseek-flash"},
	} {
		if *q.to, err = ask(q.given, q.question, q.fallback); err != nil {
			return err
		}
	}
	if len(p.Models) == 0 {
		p.Models = []string{model}
	}
	p.Default = p.Models[0]
	key := ""
	if !c.NoKey {
		p.APIKeyEnv = cmp.Or(c.KeyEnv, strings.ToUpper(strings.ReplaceAll(p.Name, "-", "_"))+"_API_KEY")
		if key, err = readKey(sio, in, interactive, p.APIKeyEnv); err != nil {
			return err
		}
	}
	if err := agent.WriteProvider(home, p, key, true); err != nil {
		return err
	}
	fmt.Fprintf(sio.out, "wrote provider %s to %s/config.toml; the default model is %s/%s\n", p.Name, home, p.Name, p.Default)
	if key != "" {
		fmt.Fprintf(sio.out, "wrote the key as %s to %s/.env\n", p.APIKeyEnv, home)
	} else if p.APIKeyEnv != "" {
		fmt.Fprintf(sio.out, "no key was given; put %s into the environment, or run setup again\n", p.APIKeyEnv)
	}
	return nil
}

func readKey(sio stdio, in *bufio.Reader, interactive bool, variable string) (string, error) {
	if !interactive {
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimSpace(line), nil
	}
	fmt.Fprintf(sio.out, "Key (not shown; empty to keep what %s holds): ", variable)
	key, err := term.ReadPassword(int(sio.in.Fd()))
	fmt.Fprintln(sio.out)
	return strings.TrimSpace(string(key)), err
}
