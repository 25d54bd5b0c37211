package config

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

const redacted = "[redacted]"

// Secret is a confidential text. Whatever prints, logs or encodes it shows
// "[redacted]"; only Reveal gives it. The zero value is no secret.
type Secret struct {
	// A pointer, because fmt prints the unexported fields of an enclosing struct
	// without asking their methods: it then shows an address.
	text *string
}

// NewSecret wraps a text; an empty one gives the zero value.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal returns the text, for the one place that sends or stores it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero says whether there is no secret.
func (s Secret) IsZero() bool { return s.text == nil }

// Equal compares the texts.
func (s Secret) Equal(o Secret) bool { return s.Reveal() == o.Reveal() }

// String is "[redacted]", or empty when there is no secret.
func (s Secret) String() string {
	if s.text == nil {
		return ""
	}
	return redacted
}

// GoString keeps %#v from showing the text.
func (s Secret) GoString() string { return fmt.Sprintf("config.Secret(%q)", s.String()) }

// MarshalText keeps encoders from showing the text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue keeps slog from showing the text.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Secret looks a variable up: in the environment, then in .env of the home. An
// empty value counts as unset, and a variable that is nowhere gives the zero
// Secret without error. The file is read anew each time, so that a key changed
// while the agent runs is used by the next request and none stays in memory.
//
// The error is a *FileError: .env cannot be read, or the variable is missing and
// a line that could have been meant for it is not KEY=VALUE.
//
// For a provider take the name from APIKeyEnv, never from elsewhere: it is empty
// where the key must not be handed over.
func (c *Config) Secret(name string) (Secret, error) {
	if name == "" {
		return Secret{}, nil
	}
	getenv := c.getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	if v := getenv(name); v != "" {
		return NewSecret(v), nil
	}
	file := filepath.Join(c.Home, envFile)
	text, err := readText(file)
	if err != nil {
		return Secret{}, err
	}
	value, bad := lookupEnv(text, name)
	if value == "" && bad > 0 {
		return Secret{}, &FileError{
			File: file, Line: bad,
			Message: "expected KEY=VALUE, a comment or an empty line; $" + name + " was not found",
			Mend:    "fix the line or remove it",
		}
	}
	return NewSecret(value), nil
}

// CheckReady says whether a resolved model can be called: an *ErrNoKey when its
// key is missing or withheld, a *FileError when .env or its script cannot be
// read, a *RefError when its provider is not configured. It opens no connection.
func (c *Config) CheckReady(m Model) error {
	p, ok := c.Provider(m.Provider)
	if !ok {
		return c.unknownRef(m.String())
	}
	switch p.Kind {
	case KindScripted:
		return checkScript(p)
	case KindOpenAI:
		return c.checkKey(p)
	}
	return nil
}

func checkScript(p Provider) error {
	info, err := os.Stat(p.File)
	if err == nil && info.Mode().IsRegular() {
		return nil
	}
	message := "is not a regular file"
	if err != nil {
		message = "cannot be read: " + cause(err)
	}
	return &FileError{
		File: p.File, Message: message, Err: err,
		Mend: fmt.Sprintf("put the script of provider %q there, or change file in %s, line %d", p.Name, p.Source, p.line),
	}
}

func (c *Config) checkKey(p Provider) error {
	missing := &ErrNoKey{
		Provider: p.Name, Env: p.APIKeyEnv,
		userFile: filepath.Join(c.Home, userFile), envFile: filepath.Join(c.Home, envFile), baseURL: shownURL(p.BaseURL),
	}
	if p.withheld != "" {
		missing.Env, missing.Withheld = p.withheld, p.Source
		return missing
	}
	if p.APIKeyEnv == "" {
		return nil
	}
	key, err := c.Secret(p.APIKeyEnv)
	if err != nil {
		return err
	}
	if key.IsZero() {
		return missing
	}
	return nil
}
