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
