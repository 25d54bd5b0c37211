package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/acpkit/agent/internal/config"
	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/model/openai"
)

// Secret is a text that is not shown: printed, logged or encoded it is a
// placeholder.
type Secret = config.Secret

// Endpoint is a provider as a Checker sees it.
type Endpoint struct {
	BaseURL string
	Model   string // one that it should have; may be ""
	Key     Secret // the zero value: none is sent
	Headers map[string]Secret
}

// A Checker asks a provider over the network whether it is there and takes the
// key.
type Checker interface {
	// Models returns the ids of the models that the endpoint offers; none when it
	// answers but does not tell. The error is one line for the user. ctx has a
	// deadline.
	Models(ctx context.Context, e Endpoint) ([]string, error)
}

// online is the Checker that does ask.
type online struct{ *Agent }

func (o online) Models(ctx context.Context, e Endpoint) ([]string, error) {
	headers := map[string]string{}
	for name, value := range e.Headers {
		headers[name] = value.Reveal()
	}
	client, err := openai.New(openai.Config{BaseURL: e.BaseURL, Model: cmp.Or(e.Model, "any"), Key: e.Key.Reveal, Headers: headers, MaxOutputTokens: 1,
		Transport: o.transport(), UserAgent: "reasonix/" + o.conf.Version})
	if err != nil {
		return nil, err
	}
	found, err := client.Check(ctx)
	var refused *model.Error
	if errors.As(err, &refused) && refused.NotFound() && found.Models != nil {
		return found.Models, nil // the key is good, and what there is shows that the model is not
	}
	return found.Models, err
}

// checkTime is how long a provider may take to answer a check.
const checkTime = 15 * time.Second

// CheckProvider asks the provider for its models. With key "" the one that is
// already there under p.APIKeyEnv is sent. No error
// repeats the key.
func (a *Agent) CheckProvider(ctx context.Context, p Provider, key string) ([]string, error) {
	e := Endpoint{BaseURL: p.BaseURL, Model: p.Default, Key: config.NewSecret(key)}
	if key == "" && p.APIKeyEnv != "" {
		conf, err := config.Load(config.Options{Home: a.conf.Home, Getenv: a.conf.Getenv})
		if err != nil {
			return nil, err
		}
		if e.Key, err = conf.Secret(p.APIKeyEnv); err != nil {
			return nil, err
		}
		if e.Key.IsZero() {
			return nil, fmt.Errorf("there is no key: $%s is not set", p.APIKeyEnv)
		}
	}
	return a.models(ctx, e)
}

func (a *Agent) models(ctx context.Context, e Endpoint) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	models, err := a.conf.Checker.Models(ctx, e)
	if err == nil {
		return models, nil
	}
	// Providers repeat the key that they refuse.
	text := err.Error()
	for _, s := range e.secrets() {
		text = strings.ReplaceAll(text, s, "[redacted]")
	}
	return nil, errors.New(cmp.Or(strings.TrimSpace(text), "the check failed"))
}

// secrets lists what no message may repeat, the longest first, because one may be
// the beginning of another. A header of a few letters is no secret.
func (e Endpoint) secrets() (list []string) {
	if key := e.Key.Reveal(); key != "" {
		list = append(list, key)
	}
	for _, h := range e.Headers {
		if text := h.Reveal(); len(text) > 5 {
			list = append(list, text)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return list
}
