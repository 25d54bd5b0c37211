package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/config"
	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/model/demo"
	"github.com/acpkit/acpkit/agent/internal/model/openai"
	"github.com/acpkit/acpkit/agent/internal/model/scripted"
	"github.com/acpkit/acpkit/agent/internal/redact"
	"github.com/acpkit/acpkit/agent/internal/session"
)

// openModel makes the session's own instance of the model.
func (a *Agent) openModel(conf *config.Config, ref config.Model) (m session.Model, err error) {
	if err := conf.CheckReady(ref); err != nil {
		return m, err
	}
	m.Window = conf.Window(ref)
	provider, _ := conf.Provider(ref.Provider)
	switch provider.Kind {
	case config.KindOffline:
		m.Model = demo.Model{}
	case config.KindScripted:
		script, err := scripted.Load(provider.File)
		if err != nil {
			return m, err
		}
		m.Model = script.New()
	case config.KindOpenAI:
		client, err := a.client(conf, provider, ref)
		if err != nil {
			return m, err
		}
		m.Model = named{client, ref, provider}
	default:
		return m, fmt.Errorf("model %s: providers of kind %q are not known here; change the provider's kind, or choose another model", ref, provider.Kind)
	}
	return m, nil
}

// client is the connection to a model over HTTP. Sessions share its transport.
func (a *Agent) client(conf *config.Config, p config.Provider, ref config.Model) (*openai.Client, error) {
	headers := map[string]string{}
	for name, value := range p.Headers {
		headers[name] = value.Reveal()
	}
	return openai.New(openai.Config{
		BaseURL: p.BaseURL, Model: ref.ID, Headers: headers, ExtraBody: p.ExtraBody, MaxOutputTokens: uint32(p.MaxOutput),
		Key: func() string {
			key, err := conf.Secret(p.APIKeyEnv)
			if err != nil {
				a.conf.Logger.Error("the key cannot be read", "provider", p.Name, "error", err)
			}
			return key.Reveal()
		},
		Origin: ref.String(), Limits: openai.Limits{Idle: p.Idle}, Transport: a.transport(), UserAgent: "reasonix/" + a.conf.Version,
	})
}

// named is a model whose failures say whose they are and what can be done.
type named struct {
	*openai.Client
	ref      config.Model
	provider config.Provider
}

func (n named) Stream(ctx context.Context, req *model.Request, emit func(model.Delta) error) (model.Result, error) {
	res, err := n.Client.Stream(ctx, req, emit)
	return res, n.explain(err)
}

func (n named) explain(err error) error {
	var e *model.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.KeyRefused() && n.provider.APIKeyEnv == "":
		return fmt.Errorf("provider %s wants a key, and none is configured; run `reasonix setup`: %w", n.provider.Name, err)
	case e.KeyRefused():
		return fmt.Errorf("provider %s refuses the key in $%s; run `reasonix setup` to change it: %w", n.provider.Name, n.provider.APIKeyEnv, err)
	case e.Forbidden():
		return fmt.Errorf("provider %s does not allow this with the key in $%s: %w", n.provider.Name, n.provider.APIKeyEnv, err)
	case e.OutOfFunds():
		return fmt.Errorf("the account at provider %s has no funds left: %w", n.provider.Name, err)
	case e.NotFound():
		return fmt.Errorf("provider %s does not know the model %s, or base_url is wrong: %w", n.provider.Name, n.ref.ID, err)
	}
	return err
}

// redactor hides what looks like a secret, and the keys of the configuration
// whatever they look like.
func redactor(s *session.Session) *redact.Redactor {
	if s.Secrets == nil {
		return redact.New()
	}
	return redact.New(s.Secrets()...)
}

// hideSecrets hides the keys of the configuration alone.
func hideSecrets(s *session.Session) func(string) string {
	var pairs []string
	if s.Secrets != nil {
		for _, secret := range s.Secrets() {
			if len(secret) >= 8 { // a shorter one would take ordinary text apart
				pairs = append(pairs, secret, redact.Mark)
			}
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

// secrets are the keys and headers of the configured providers, as they are now.
func secrets(conf *config.Config) (list []string) {
	for _, p := range conf.Providers {
		if key, err := conf.Secret(p.APIKeyEnv); err == nil && !key.IsZero() {
			list = append(list, key.Reveal())
		}
		for _, value := range p.Headers {
			list = append(list, value.Reveal())
		}
	}
	return list
}
