package agent

import (
	"github.com/acpkit/acpkit/agent/internal/config"
)

// Provider is a model provider as `reasonix setup` writes it down.
type Provider = config.NewProvider

// Home returns the folder of the user's configuration: $REASONIX_HOME, else
// ~/.reasonix. getenv nil reads the environment.
func Home(getenv func(string) string) (string, error) { return config.HomeDir(getenv) }

// WriteProvider adds the provider to config.toml in home, or replaces the one of
// that name, and puts the key beside it in .env. Both files get mode 0600 and
// are replaced whole; the rest of them stays as it is.
func WriteProvider(home string, p Provider, key string, makeDefault bool) error {
	p.Key = config.NewSecret(key)
	return config.WriteProvider(home, p, makeDefault)
}

// Configured is what the user's own config.toml says about models. It holds no
// keys.
type Configured struct {
	DefaultModel string // a reference, as it is written; may be ""
	Providers    []ConfiguredProvider
}

// ConfiguredProvider is one provider of config.toml.
type ConfiguredProvider struct {
	Name, Kind string
	BaseURL    string // without query; "" for other kinds than openai
	Models     []string
	Default    string
	KeyEnv     string // the variable of its key; "" when it needs none
	HasKey     bool   // it needs none, or the variable is set in the environment or in .env
}

// Provider finds a provider by name.
func (c Configured) Provider(name string) (ConfiguredProvider, bool) {
	for _, p := range c.Providers {
		if p.Name == name {
			return p, true
		}
	}
	return ConfiguredProvider{}, false
}

// Configured reads the user's config.toml, without a project. The error says
// file, line and mend.
func (a *Agent) Configured() (Configured, error) {
	conf, err := config.Load(config.Options{Home: a.conf.Home, Getenv: a.conf.Getenv})
	if err != nil {
		return Configured{}, err
	}
	c := Configured{DefaultModel: conf.DefaultModel}
	for _, p := range conf.Providers {
		c.Providers = append(c.Providers, configured(conf, p))
	}
	return c, nil
}

func configured(conf *config.Config, p config.Provider) ConfiguredProvider {
	key, err := conf.Secret(p.APIKeyEnv)
	return ConfiguredProvider{Name: p.Name, Kind: p.Kind, BaseURL: plainURL(p.BaseURL), Models: p.Models, Default: p.Default, KeyEnv: p.APIKeyEnv,
		HasKey: p.APIKeyEnv == "" || err == nil && !key.IsZero()}
}
