package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// defaultRetry is how long a failing model call is tried again.
const defaultRetry = time.Minute

// merge lays the project over the user's configuration. A provider of the
// project replaces the user's of that name as a whole: nothing of the old one,
// its headers for instance, travels to the new address.
//
// The rule for keys: a project's provider gets the key in variable E only if
// the user's own file has a provider with the same E and the same base_url. The
// whole environment is out of reach otherwise, not only variables the user's
// file names; a repository could ask for $GITHUB_TOKEN just as well. Where the
// rule says no, the provider stays, without key, and CheckReady says why.
func merge(home string, user, project *layer) *Config {
	c := &Config{Home: home, Agent: Agent{Coalesce: true, Retry: defaultRetry}}
	for _, l := range []*layer{user, project} {
		if l.defaultModel != "" {
			c.DefaultModel = l.defaultModel
			c.defaultModelFrom = fmt.Sprintf("%s, line %d", l.file, l.defaultLine)
		}
		if l.coalesce != nil {
			c.Agent.Coalesce = *l.coalesce
		}
		if l.maxSteps != nil {
			c.Agent.MaxSteps = *l.maxSteps
		}
		if l.taskTokens != nil {
			c.Agent.TaskTokens = uint64(*l.taskTokens)
		}
		if l.taskTime != nil {
			c.Agent.TaskTime = *l.taskTime
		}
		if l.retry != nil {
			c.Agent.Retry = *l.retry
		}
	}
	c.Providers = slices.Clone(user.providers)
	var moved []string // these warnings are about safety and are never cut off
	for _, p := range project.providers {
		if p.APIKeyEnv != "" && !sharesKey(user.providers, p) {
			moved = append(moved, project.at(p.line)+fmt.Sprintf(
				"provider %q gets no key: this file would send $%s to %s, and %s does not; to allow it, add this provider there",
				p.Name, p.APIKeyEnv, shownURL(p.BaseURL), filepath.Join(home, userFile)))
			p.withheld, p.APIKeyEnv = p.APIKeyEnv, ""
		}
		i := slices.IndexFunc(c.Providers, func(o Provider) bool { return o.Name == p.Name })
		if i < 0 {
			c.Providers = append(c.Providers, p)
			continue
		}
		if old := c.Providers[i]; old.Kind != p.Kind || !sameEndpoint(old.BaseURL, p.BaseURL) {
			moved = append(moved, project.at(p.line)+fmt.Sprintf(
				"provider %q is replaced by this project: %s instead of %s", p.Name, p.target(), old.target()))
		}
		c.Providers[i] = p
	}
	moved = append(moved, c.mergeConfinement(user, project)...)
	c.Warnings = slices.Concat(user.warnings, moved, project.warnings)
	return c
}

// sharesKey says whether the user already sends this key to this address.
func sharesKey(user []Provider, p Provider) bool {
	return slices.ContainsFunc(user, func(u Provider) bool {
		return u.APIKeyEnv == p.APIKeyEnv && sameEndpoint(u.BaseURL, p.BaseURL)
	})
}

// sameEndpoint compares strictly: scheme, host, port, path and query. On a
// shared gateway another path is another owner.
func sameEndpoint(a, b string) bool { return endpoint(a) == endpoint(b) }

func endpoint(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port + strings.TrimRight(u.EscapedPath(), "/") + "?" + u.RawQuery
}

// target is what a provider talks to, for messages.
func (p Provider) target() string {
	if p.Kind == KindScripted {
		return "the script " + p.File
	}
	return shownURL(p.BaseURL)
}

// shownURL leaves out the query, which may hold a token.
func shownURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "its address"
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return u.String()
}
