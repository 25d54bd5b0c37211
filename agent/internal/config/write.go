package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// newName is what WriteProvider accepts as a name: easy to type in a reference.
// Files may use more.
func newName(s string) bool { return regexp.MustCompile(`^[a-z][a-z0-9_-]*$`).MatchString(s) }

// NewProvider is what `reasonix setup` knows about a provider.
type NewProvider struct {
	// Name matches ^[a-z][a-z0-9_-]*$ and is not "offline".
	Name string
	// Kind is KindOpenAI; empty means the same.
	Kind string
	// BaseURL is an http or https URL without credentials.
	BaseURL string
	// Models may be empty: any id is then accepted.
	Models []string
	// Default is one of Models, if there are any; empty means the first.
	Default string
	// APIKeyEnv names the variable of the key; empty when no key is needed.
	APIKeyEnv string
	// Key goes to .env; empty leaves .env as it is. It needs APIKeyEnv and is
	// free of newlines and control characters.
	Key Secret
}

// WriteProvider puts a provider into config.toml of the home and its key into
// .env beside it, and sets default_model if asked or if there is none.
//
// Everything else in both files stays, byte for byte. An entry of that name is
// updated key by key when its base_url stays the same; when that changes it is
// replaced as a whole, because headers and other keys belonged to the old
// address. Both files are replaced atomically with mode 0600, in a folder of
// mode 0700; symbolic links to them are followed.
//
// When an error is returned nothing has been written, unless the very last
// rename failed. It is a *FileError for an existing file that does not parse or
// cannot be edited safely, and otherwise says which member of p is wrong.
func WriteProvider(home string, p NewProvider, makeDefault bool) error {
	if p.Kind == "" {
		p.Kind = KindOpenAI
	}
	p.Models = unique(p.Models)
	if err := p.check(); err != nil {
		return fmt.Errorf("provider %q cannot be written: %w", shorten(p.Name), err)
	}
	home, err := filepath.Abs(home)
	if err != nil {
		return err
	}
	doc, err := readDocument(filepath.Join(home, userFile))
	if err != nil {
		return err
	}
	text, err := editConfig(doc, p, makeDefault)
	if err != nil {
		return err
	}
	write := []newFile{{doc.file, text}}
	if !p.Key.IsZero() {
		file := filepath.Join(home, envFile)
		old, err := readText(file)
		if err != nil {
			return err
		}
		// The key first: a provider without key is worse than a key without provider.
		write = slices.Insert(write, 0, newFile{file, setEnv(old, p.APIKeyEnv, p.Key.Reveal())})
	}
	if err := privateDir(home); err != nil {
		return err
	}
	return replaceFiles(write)
}

func (p NewProvider) check() error {
	if !newName(p.Name) || len(p.Name) > maxName || p.Name == OfflineProvider {
		return fmt.Errorf("the name must start with a letter a-z, go on with a-z, 0-9, _ or -, and not be %q", OfflineProvider)
	}
	if p.Kind != KindOpenAI {
		return fmt.Errorf("unknown kind %q; use %q", shorten(p.Kind), KindOpenAI)
	}
	if message, _ := checkBaseURL(p.BaseURL); message != "" {
		return errors.New("base URL: " + message)
	}
	if !utf8.ValidString(p.BaseURL) {
		return errors.New("base URL: it is not UTF-8")
	}
	models := slices.Clone(p.Models)
	if p.Default != "" {
		models = append(models, p.Default)
	}
	for _, id := range models {
		if !usable(id) || !utf8.ValidString(id) {
			return errors.New("a model id is empty, too long or holds characters that are not printable")
		}
	}
	if p.Default != "" && len(p.Models) > 0 && !slices.Contains(p.Models, p.Default) {
		return fmt.Errorf("the default %q is not one of the models", shorten(p.Default))
	}
	return p.checkKey()
}

// checkKey repeats neither the key nor a variable's name that may be one.
func (p NewProvider) checkKey() error {
	key := p.Key.Reveal()
	switch {
	case p.APIKeyEnv != "" && !envName(p.APIKeyEnv):
		return errors.New("the variable's name must consist of letters, digits and _")
	case key != "" && p.APIKeyEnv == "":
		return errors.New("a key needs the name of its variable")
	case strings.ContainsFunc(key, unicode.IsControl) || !utf8.ValidString(key):
		return errors.New("the key holds a newline or another character that is not printable")
	}
	return nil
}

// ref is what default_model becomes.
func (p NewProvider) ref() string {
	switch {
	case p.Default != "":
		return p.Name + "/" + p.Default
	case len(p.Models) > 0:
		return p.Name + "/" + p.Models[0]
	}
	return p.Name
}
