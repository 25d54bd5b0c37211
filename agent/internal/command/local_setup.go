package command

import (
	"context"
	"net/url"
	"slices"
	"strings"
)

const noProviders = "no configuration was read; put [[providers]] in config.toml, or run `reasonix setup`"

// configured gets the providers; false when there is nothing to show, which is said.
func (p *page) configured() ([]Provider, bool) {
	if p.env.Providers == nil {
		p.missing(noProviders)
		return nil, false
	}
	list, err := p.env.Providers()
	switch {
	case err != nil:
		p.failed(err)
	case len(list) == 0:
		p.line("none configured; put [[providers]] in config.toml, or run `reasonix setup`")
	}
	return list, err == nil && len(list) > 0
}

func (p *page) providers() {
	if !p.none() {
		return
	}
	list, ok := p.configured()
	if !ok {
		return
	}
	for _, v := range list {
		p.line("%s (%s): %s", v.Name, v.Kind, address(v.BaseURL))
		p.sub("models: %s", models(v))
		p.sub("key: %s", key(v))
	}
}

func (p *page) provider(ctx context.Context) {
	if len(p.args) > 1 {
		p.usage()
		return
	}
	list, ok := p.configured()
	if !ok {
		return
	}
	name := p.currentProvider()
	if len(p.args) == 1 {
		name = p.args[0]
	} else if name == "" {
		p.line("no model is chosen; choose a provider with /provider name, or a model with /model")
		return
	}
	v, ok := named(list, name)
	if !ok {
		p.line("no provider is called %s; there are: %s", name, names(list))
		p.usage()
		return
	}
	p.line("name: %s", v.Name)
	p.line("kind: %s", v.Kind)
	p.line("base URL: %s", address(v.BaseURL))
	p.line("models: %s", models(v))
	p.line("default: %s", or(defaultModel(v), "none; name a model with /model "+v.Name+"/ID"))
	p.line("key: %s", key(v))
	if len(p.args) == 1 {
		ref := v.Name
		if id := defaultModel(v); id != "" {
			ref += "/" + id
		}
		p.switchModel(ctx, ref)
	}
}

func (p *page) currentProvider() string {
	if p.env.CurrentModel == nil {
		return ""
	}
	name, _, _ := strings.Cut(p.env.CurrentModel(), "/")
	return name
}

// named finds a provider by its name, in any case when no other has it exactly.
func named(list []Provider, name string) (Provider, bool) {
	i := slices.IndexFunc(list, func(v Provider) bool { return v.Name == name })
	if i < 0 {
		i = slices.IndexFunc(list, func(v Provider) bool { return strings.EqualFold(v.Name, name) })
	}
	if i < 0 {
		return Provider{}, false
	}
	return list[i], true
}

func names(list []Provider) string {
	var all []string
	for _, v := range list {
		all = append(all, v.Name)
	}
	return strings.Join(all, ", ")
}

func models(v Provider) string { return or(strings.Join(v.Models, ", "), "any") }

func defaultModel(v Provider) string {
	if v.Default == "" && len(v.Models) > 0 {
		return v.Models[0]
	}
	return v.Default
}

func key(v Provider) string {
	switch {
	case v.KeyEnv == "":
		return "none needed"
	case v.HasKey:
		return v.KeyEnv + " is set"
	}
	return v.KeyEnv + " is not set; run `reasonix setup`"
}

// address shows a URL without the places where people put secrets.
func address(base string) string {
	if base == "" {
		return "no address"
	}
	u, err := url.Parse(base)
	if err != nil {
		return "an address that is no URL"
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}

func (p *page) model(ctx context.Context) {
	switch len(p.args) {
	case 0:
		p.listModels()
	case 1:
		ref := p.args[0]
		if strings.EqualFold(ref, "reset") {
			ref = ""
		}
		p.switchModel(ctx, ref)
	default:
		p.usage()
	}
}

func (p *page) switchModel(ctx context.Context, ref string) {
	if p.env.SwitchModel == nil {
		p.missing("the model of this session is fixed; open another session, or start the agent with --model")
		return
	}
	now, err := p.env.SwitchModel(ctx, ref)
	if err != nil {
		p.failed(err)
		p.line("/model lists the models")
		return
	}
	p.line("the model is now %s", or(now, "the configured default"))
}

func (p *page) listModels() {
	if p.env.Models == nil {
		p.missing(noProviders)
		return
	}
	list, err := p.env.Models()
	if err != nil {
		p.failed(err)
		return
	}
	current := ""
	if p.env.CurrentModel != nil {
		current = p.env.CurrentModel()
	}
	if current != "" && !slices.Contains(list, current) {
		list = append([]string{current}, list...)
	}
	if len(list) == 0 {
		p.line("none configured; put [[providers]] in config.toml, or run `reasonix setup`")
	}
	for _, ref := range list {
		mark := ""
		if ref == current {
			mark = " (current)"
		}
		p.line("%s%s", ref, mark)
	}
}

func (p *page) experimental() {
	if p.env.Experiments == nil {
		p.missing("this session has no switches; put them in [experimental] of config.toml")
		return
	}
	list := p.env.Experiments()
	switch len(p.args) {
	case 0:
		if len(list) == 0 {
			p.line("none; put switches in [experimental] of config.toml")
		}
		for _, e := range list {
			p.line("%s: %s%s", e.Name, onOff(e.On), after(", ", e.Description))
		}
	case 2:
		p.setExperiment(list, p.args[0], strings.ToLower(p.args[1]))
	default:
		p.usage()
	}
}

func (p *page) setExperiment(list []Experiment, name, value string) {
	i := slices.IndexFunc(list, func(e Experiment) bool { return strings.EqualFold(e.Name, name) })
	switch {
	case value != "on" && value != "off":
		p.usage()
	case i < 0:
		p.line("no switch is called %s; /experimental lists them", name)
		p.usage()
	case p.env.SetExperiment == nil:
		p.missing("switches cannot be changed in this session; set them in [experimental] of config.toml")
	default:
		if err := p.env.SetExperiment(list[i].Name, value == "on"); err != nil {
			p.failed(err)
			return
		}
		p.line("%s is now %s, for this session", list[i].Name, value)
	}
}

// after is the text behind a separator, or nothing.
func after(sep, text string) string {
	if text == "" {
		return ""
	}
	return sep + text
}
