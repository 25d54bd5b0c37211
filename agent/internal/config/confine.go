package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/permission"
)

// Values of `bash` in the `[sandbox]` table, weakest first.
const (
	SandboxOff     = "off"     // commands are not confined
	SandboxOn      = "on"      // they are where an engine works
	SandboxRequire = "require" // they do not run where none works
)

// Sandbox is the `[sandbox]` table.
type Sandbox struct {
	// Bash is SandboxOff, SandboxOn or SandboxRequire; default SandboxOn.
	Bash string
	// Network lets confined commands use the network; default false.
	Network bool
	// Write are further folders that confined commands may write in, absolute.
	Write []string
	// Env are variables that commands get although they look like secrets.
	Env []string
}

// confine is what one file says about permissions and the sandbox, with the
// lines for warnings.
type confine struct {
	rules              permission.Rules
	allowLine          int
	bash               string
	bashLine           int
	network            *bool
	networkLine        int
	write, env         []string
	writeLine, envLine int
}

func (l *layer) readPermissions(f field) error {
	c := &l.confine
	return f.each(fields{
		"deny": func(f field) (err error) {
			c.rules.Deny, err = readRules(f, func(r []string) permission.Rules { return permission.Rules{Deny: r} })
			return err
		},
		"ask": func(f field) (err error) {
			c.rules.Ask, err = readRules(f, func(r []string) permission.Rules { return permission.Rules{Ask: r} })
			return err
		},
		"allow": func(f field) (err error) {
			c.rules.Allow, err = readRules(f, func(r []string) permission.Rules { return permission.Rules{Allow: r} })
			c.allowLine = f.line
			return err
		},
	}, l.unknown)
}

func readRules(f field, as func([]string) permission.Rules) ([]string, error) {
	list, err := f.texts()
	if err != nil {
		return nil, err
	}
	for i, rule := range list {
		if !printable(rule) || len(rule) > 4*maxName {
			return nil, f.fail(fmt.Sprintf("entry %d is too long or holds control characters", i+1), `write a rule such as "Edit(src/**)" or "bash(git log *)"`)
		}
	}
	if err := as(list).Check(); err != nil {
		return nil, f.fail(err.Error(), `write a rule such as "Edit(src/**)" or "bash(git log *)"`)
	}
	return list, nil
}

func (l *layer) readSandbox(f field) error {
	c := &l.confine
	return f.each(fields{
		"bash":    func(f field) (err error) { c.bash, err = readSandboxMode(f); c.bashLine = f.line; return err },
		"network": func(f field) (err error) { c.network, err = f.flag(); c.networkLine = f.line; return err },
		"write":   func(f field) (err error) { c.write, err = readFolders(f); c.writeLine = f.line; return err },
		"env":     func(f field) (err error) { c.env, err = readEnvNames(f); c.envLine = f.line; return err },
	}, l.unknown)
}

func readSandboxMode(f field) (string, error) {
	s, err := f.text()
	switch s { // the words of other programs that read this file
	case "auto":
		s = SandboxOn
	case "enforce":
		s = SandboxRequire
	}
	if err == nil && strength(s) < 0 {
		err = f.fail(fmt.Sprintf("%q is not known", shorten(s)), fmt.Sprintf("write %q, %q or %q", SandboxOn, SandboxOff, SandboxRequire))
	}
	return s, err
}

func strength(mode string) int {
	return slices.Index([]string{SandboxOff, SandboxOn, SandboxRequire}, mode)
}

func readFolders(f field) ([]string, error) {
	list, err := f.texts()
	if err != nil {
		return nil, err
	}
	for i, dir := range list {
		if !printable(dir) || !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~/") {
			return nil, f.fail(fmt.Sprintf("entry %d is no absolute path", i+1), `write "/folder" or "~/folder"`)
		}
	}
	return list, nil
}

func readEnvNames(f field) ([]string, error) {
	list, err := f.texts()
	if err != nil {
		return nil, err
	}
	for i, name := range list {
		if !envName(name) { // not repeated: it may be the secret itself
			return nil, f.fail(fmt.Sprintf("entry %d is not the name of a variable", i+1), `write env = ["GITHUB_TOKEN"] or alike`)
		}
	}
	return list, nil
}

// mergeConfinement lets the project tighten what the user has said, and nothing
// else. What it would loosen is ignored, and the warnings say so.
func (c *Config) mergeConfinement(user, project *layer) (warnings []string) {
	u, p := &user.confine, &project.confine
	ignored := func(line int, what string) {
		warnings = append(warnings, project.at(line)+what+" is ignored: a project may only tighten this; write it in "+filepath.Join(c.Home, userFile))
	}
	c.Permissions = permission.Rules{
		Deny:  slices.Concat(u.rules.Deny, p.rules.Deny),
		Ask:   slices.Concat(u.rules.Ask, p.rules.Ask),
		Allow: u.rules.Allow,
	}
	if len(p.rules.Allow) > 0 {
		ignored(p.allowLine, "permissions.allow")
	}
	c.Sandbox = Sandbox{Bash: SandboxOn, Network: u.network != nil && *u.network, Write: u.write, Env: u.env}
	if u.bash != "" {
		c.Sandbox.Bash = u.bash
	}
	switch {
	case p.bash == "":
	case strength(p.bash) >= strength(c.Sandbox.Bash):
		c.Sandbox.Bash = p.bash
	default:
		ignored(p.bashLine, fmt.Sprintf("sandbox.bash = %q", p.bash))
	}
	switch {
	case p.network == nil:
	case !*p.network:
		c.Sandbox.Network = false
	case !c.Sandbox.Network:
		ignored(p.networkLine, "sandbox.network = true")
	}
	if len(p.write) > 0 {
		ignored(p.writeLine, "sandbox.write")
	}
	if len(p.env) > 0 {
		ignored(p.envLine, "sandbox.env")
	}
	c.WebFetch.AllowPrivate = user.allowPrivate
	if len(project.allowPrivate) > 0 {
		ignored(project.privateLine, "web_fetch.allow_private")
	}
	return warnings
}

// SecretFiles are the paths below the home that hold keys and conversations; a
// command has no business there.
func (c *Config) SecretFiles() []string {
	return []string{filepath.Join(c.Home, envFile), filepath.Join(c.Home, "acp")}
}

// KeyVariables are the names of the variables that hold the keys of providers,
// the withheld ones too.
func (c *Config) KeyVariables() []string {
	var names []string
	for _, p := range c.Providers {
		for _, name := range []string{p.APIKeyEnv, p.withheld} {
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return unique(names)
}
