package agent

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/config"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/sandbox"
)

// Finding is one line of a diagnosis.
type Finding struct {
	Check  string        `json:"check"` // what was looked at
	Status FindingStatus `json:"status"`
	Text   string        `json:"text"`
	Fix    string        `json:"fix,omitempty"` // what the user can do
}

// FindingStatus is how a check ended.
type FindingStatus string

// The statuses. Failed means that the agent cannot work as it is; with a Warning
// it can.
const (
	OK         FindingStatus = "ok"
	Warning    FindingStatus = "warning"
	Failed     FindingStatus = "failed"
	NotChecked FindingStatus = "not checked"
)

// Diagnose looks at what the agent needs: home, configuration of the user and of
// the project directory, stored sessions, providers and their keys, sandbox.
// With live, providers are asked over the network. It changes nothing but for an
// empty file that it makes in the home, and removes. No finding holds a key.
func (a *Agent) Diagnose(ctx context.Context, project string, live bool) []Finding {
	d := &diagnosis{Agent: a}
	home, err := a.home()
	if err != nil {
		return append(d.found, Finding{"home", Failed, err.Error(), "set REASONIX_HOME to a folder"})
	}
	d.home(home)
	conf := d.configuration(home, project)
	d.sessions()
	if conf != nil {
		d.models(ctx, conf, live)
	}
	d.confinement(conf)
	return d.found
}

// confinement says what confines the commands that a model runs.
func (d *diagnosis) confinement(conf *config.Config) {
	if conf != nil && conf.Sandbox.Bash == config.SandboxOff {
		d.add("sandbox", Warning, "off: the commands of a model are not confined, and those that are not known to be harmless ask", "take sandbox.bash out of config.toml")
		return
	}
	engine := d.sandbox.Engine()
	if engine != sandbox.None {
		d.add("sandbox", OK, string(engine), "")
		return
	}
	status := Warning
	if conf != nil && conf.Sandbox.Bash == config.SandboxRequire {
		status = Failed
	}
	d.add("sandbox", status, fmt.Sprintf("none: %v; commands that are not known to be harmless ask", d.sandbox.Why()), "install bubblewrap")
}

// modelOf is a model to ask a provider for: the one in question if it is its own.
func modelOf(p config.Provider, ref config.Model) string {
	if p.Name == ref.Provider {
		return ref.ID
	}
	if len(p.Models) > 0 {
		return p.Models[0]
	}
	return p.Default
}

type diagnosis struct {
	*Agent
	found []Finding
}

func (d *diagnosis) add(check string, status FindingStatus, text, fix string) {
	d.found = append(d.found, Finding{check, status, text, fix})
}

// home checks that files can be made there, or where it would be made.
func (d *diagnosis) home(home string) {
	dir, note := home, "writable"
	for {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			d.add("home", Failed, dir+" is not a folder", "move it away, or set REASONIX_HOME to another folder")
			return
		}
		if err == nil {
			break
		}
		if parent := filepath.Dir(dir); errors.Is(err, os.ErrNotExist) && parent != dir {
			dir, note = parent, "does not exist yet and is made when it is needed"
			continue
		}
		d.add("home", Failed, err.Error(), "check its permissions, or set REASONIX_HOME to another folder")
		return
	}
	f, err := os.CreateTemp(dir, ".reasonix-doctor-*")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		d.add("home", Failed, fmt.Sprintf("%s cannot be written: %v", home, err), "check its permissions, or set REASONIX_HOME to another folder")
		return
	}
	d.add("home", OK, home+", "+note, "")
}

// configuration reads the files; nil when they cannot be used.
func (d *diagnosis) configuration(home, project string) *config.Config {
	file := func(check, path string) {
		if _, err := os.Stat(path); err == nil {
			d.add(check, OK, path, "")
		} else {
			d.add(check, OK, path+" is not there, which is fine", "")
		}
	}
	conf, err := config.Load(config.Options{Home: d.conf.Home, Project: project, Getenv: d.conf.Getenv})
	if err != nil {
		var e *config.FileError
		fix := ""
		if errors.As(err, &e) {
			fix = e.Mend
		}
		d.add("configuration", Failed, strings.TrimSuffix(err.Error(), "; "+fix), fix)
		return nil
	}
	file("configuration", filepath.Join(home, "config.toml"))
	file("project configuration", filepath.Join(project, "reasonix.toml"))
	for _, w := range conf.Warnings {
		d.add("configuration", Warning, w, "")
	}
	env := filepath.Join(home, ".env")
	if info, err := os.Stat(env); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		d.add("keys", Warning, fmt.Sprintf("%s can be read by other users (mode %o)", env, info.Mode().Perm()), "chmod 600 "+env)
	}
	return conf
}

func (d *diagnosis) sessions() {
	store, err := d.store()
	if err != nil {
		d.add("sessions", Failed, err.Error(), "")
		return
	}
	list, err := store.List()
	if err != nil {
		d.add("sessions", Failed, "cannot be read: "+err.Error(), "check the permissions of the folder acp of the home")
		return
	}
	prompted, held := 0, 0
	for _, s := range list {
		if s.Prompted {
			prompted++
		}
		if ledger.Held(store, s.ID) {
			held++
		}
	}
	d.add("sessions", OK, fmt.Sprintf("%d stored, %d of all open in some process", prompted, held), "")
}

// models checks the providers. What the default model needs has to work; the
// others may be on their way.
func (d *diagnosis) models(ctx context.Context, conf *config.Config, live bool) {
	ref, err := conf.Resolve(d.conf.Model)
	if err != nil {
		d.add("model", Failed, err.Error(), "reasonix setup, or default_model in config.toml")
	} else {
		d.add("model", OK, ref.String(), "")
	}
	providers := conf.Providers
	if p, ok := conf.Provider(ref.Provider); ok && p.Kind == config.KindOffline {
		providers = append(slices.Clone(providers), p)
	}
	for _, p := range providers {
		bad := Warning
		if p.Name == ref.Provider {
			bad = Failed
		}
		if d.ready(conf, p, bad) && p.Kind == config.KindOpenAI {
			d.live(ctx, conf, p, ref, bad, live)
		}
	}
}

// ready checks all that can be known of a provider without asking it.
func (d *diagnosis) ready(conf *config.Config, p config.Provider, bad FindingStatus) bool {
	check := "provider " + p.Name
	text := "kind " + p.Kind
	if p.BaseURL != "" {
		text += ", " + plainURL(p.BaseURL)
	}
	if err := conf.CheckReady(config.Model{Provider: p.Name}); err != nil {
		fix := ""
		var noKey *config.ErrNoKey
		if errors.As(err, &noKey) && noKey.Withheld == "" {
			fix = "reasonix setup --name " + p.Name + " …, or set $" + noKey.Env
		}
		d.add(check, bad, text+": "+err.Error(), fix)
		return false
	}
	switch {
	case p.Kind != config.KindOpenAI:
	case p.APIKeyEnv != "":
		text += ", its key is in $" + p.APIKeyEnv
	default:
		text += ", without a key"
	}
	d.add(check, OK, text, "")
	return true
}

func (d *diagnosis) live(ctx context.Context, conf *config.Config, p config.Provider, ref config.Model, bad FindingStatus, live bool) {
	check := "provider " + p.Name + ", live"
	if !live {
		d.add(check, NotChecked, "not checked (--offline)", "")
		return
	}
	key, err := conf.Secret(p.APIKeyEnv)
	var models []string
	if err == nil {
		models, err = d.Agent.models(ctx, Endpoint{BaseURL: p.BaseURL, Model: modelOf(p, ref), Key: key, Headers: p.Headers})
	}
	wanted := p.Models
	if p.Name == ref.Provider && !slices.Contains(wanted, ref.ID) {
		wanted = append(slices.Clone(wanted), ref.ID)
	}
	missing := slices.DeleteFunc(slices.Clone(wanted), func(id string) bool { return slices.Contains(models, id) })
	switch {
	case err != nil:
		d.add(check, bad, err.Error(), "check address, key and network; reasonix setup asks again")
	case len(models) == 0:
		d.add(check, OK, "it answers, and does not say which models it has", "")
	case len(missing) > 0:
		d.add(check, Warning, fmt.Sprintf("it answers, but of its %d models none is called %q", len(models), missing[0]), "check the id; reasonix setup shows what there is")
	default:
		d.add(check, OK, fmt.Sprintf("it answers and knows the models (%d)", len(models)), "")
	}
}

// plainURL is a URL without what may hold a secret.
func plainURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || s == "" {
		return ""
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return u.String()
}
