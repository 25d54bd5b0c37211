package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/agent"
)

// live asks the provider, if that is wanted and possible, and returns its models;
// checked says that it answered.
func (w *wizard) live(ctx context.Context, p agent.Provider, key string) (models []string, checked bool, err error) {
	if w.NoCheck {
		return nil, false, nil
	}
	models, err = w.check(ctx, p, key)
	switch {
	case err == nil:
		w.say("✓ %s answers and takes the key; it names %d models", p.BaseURL, len(models))
		return models, true, nil
	case ctx.Err() != nil:
		return nil, false, errBrokenOff
	}
	w.say("✗ %s: %v", p.BaseURL, err)
	return nil, false, w.keep("the check failed")
}

// keep asks whether to go on all the same; --yes has answered.
func (w *wizard) keep(why string) error {
	if w.Yes {
		return nil
	}
	if !w.interactive {
		return fmt.Errorf("%s; nothing was written (--yes writes all the same, --no-check does not ask)", why)
	}
	ok, err := w.yes("Keep this configuration anyway?", false)
	if err == nil && !ok {
		err = errBrokenOff
	}
	return err
}

const shownModels = 40 // of a live list

// model settles the models and which of them is the default.
func (w *wizard) model(p *agent.Provider, live []string, checked bool) error {
	fallback := ""
	for _, k := range agent.KnownProviders() {
		if k.ID == p.Name || k.BaseURL == p.BaseURL {
			fallback = k.Model
		}
	}
	old, again := w.configured.Provider(p.Name)
	again = again && sameURL(old.BaseURL, p.BaseURL)
	if again && len(old.Models) > 0 {
		fallback = old.Models[0]
		if old.Default != "" {
			fallback = old.Default
		}
	}
	if len(p.Models) == 0 {
		id, err := w.chooseModel(live, fallback)
		if err != nil {
			return err
		}
		p.Models = []string{id}
		if again { // what was there stays
			for _, m := range old.Models {
				if m != id {
					p.Models = append(p.Models, m)
				}
			}
		}
	}
	p.Default = p.Models[0]
	if checked && len(live) > 0 && !slices.Contains(live, p.Default) {
		w.say("✗ %s names no model %q", p.BaseURL, p.Default)
		return w.keep("the model is not known there")
	}
	return nil
}

// chooseModel asks for a model: by its number in the live list, or typed.
func (w *wizard) chooseModel(live []string, fallback string) (string, error) {
	if fallback == "" && len(live) > 0 {
		fallback = live[0]
	}
	if w.interactive {
		for i, id := range live[:min(len(live), shownModels)] {
			w.say("  %2d  %s", i+1, id)
		}
		if more := len(live) - shownModels; more > 0 {
			w.say("      and %d more", more)
		}
	}
	question := "Model id"
	if len(live) > 0 {
		question = "Model, by number or id"
	}
	for {
		answer, err := w.ask("", question, fallback, false)
		if err != nil {
			return "", err
		}
		for i, id := range live[:min(len(live), shownModels)] {
			if answer == fmt.Sprint(i+1) {
				return id, nil
			}
		}
		switch {
		case answer != "":
			return answer, nil
		case !w.interactive || w.Yes:
			return "", errors.New("a model is needed: --models ID")
		}
	}
}

// agree says what is replaced and asks for it, and whether the model becomes the
// default.
func (w *wizard) agree(p agent.Provider) (makeDefault bool, err error) {
	if old, ok := w.configured.Provider(p.Name); ok && !sameURL(old.BaseURL, p.BaseURL) {
		w.say("! provider %s is configured already, at %s with %s; all of it would be replaced", p.Name, old.BaseURL, strings.Join(old.Models, ", "))
		if err := w.replace(p.Name); err != nil {
			return false, err
		}
	}
	now := w.configured.DefaultModel
	ref := p.Name + "/" + p.Default
	if now == "" || now == ref || !w.interactive || w.Yes {
		return true, nil
	}
	return w.yes(fmt.Sprintf("The default model is %s. Make %s the default?", now, ref), true)
}

func (w *wizard) replace(name string) error {
	if w.Yes {
		return nil
	}
	if !w.interactive {
		return fmt.Errorf("provider %q is configured at another address; choose another --name, or replace it with --yes", name)
	}
	ok, err := w.yes("Replace it?", false)
	if err == nil && !ok {
		err = errBrokenOff
	}
	return err
}

func sameURL(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

// done tells what was written.
func (w *wizard) done(p agent.Provider, key string, makeDefault bool) {
	what := "wrote"
	if _, ok := w.configured.Provider(p.Name); ok {
		what = "updated"
	}
	now := p.Name + "/" + p.Default
	if !makeDefault {
		now = w.configured.DefaultModel
	}
	w.say("%s provider %s in %s/config.toml; the default model is %s", what, p.Name, w.home, now)
	if was := w.configured.DefaultModel; makeDefault && was != "" && was != now {
		w.say("the default model was %s until now", was)
	}
	if key != "" {
		w.say("wrote the key as %s to %s/.env", p.APIKeyEnv, w.home)
		return
	}
	if after, ok := w.configured.Provider(p.Name); p.APIKeyEnv != "" && !(ok && after.HasKey && after.KeyEnv == p.APIKeyEnv) {
		w.say("no key was given; put %s into the environment, or run setup again", p.APIKeyEnv)
	}
}
