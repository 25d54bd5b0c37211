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
)

// Secret is a text that is not shown: printed, logged or encoded it is a
// placeholder.
type Secret = config.Secret

// Endpoint is a provider as a Checker sees it.
type Endpoint struct {
	BaseURL string
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

// checkTime is how long a provider may take to answer a check.
const checkTime = 15 * time.Second

// ErrNotChecked says that there was nothing that could ask the provider.
var ErrNotChecked = errors.New("not checked: this version cannot ask providers yet")

// CheckProvider asks the provider for its models. With key "" the one that is
// already there under p.APIKeyEnv is sent. The error is ErrNotChecked when no
// Checker is configured; no error repeats the key.
func (a *Agent) CheckProvider(ctx context.Context, p Provider, key string) ([]string, error) {
	e := Endpoint{BaseURL: p.BaseURL, Key: config.NewSecret(key)}
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
	if a.conf.Checker == nil {
		return nil, ErrNotChecked
	}
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
