// Package openai calls a model behind an OpenAI-compatible chat completions endpoint: DeepSeek first, and what else speaks
// this wire. It makes one request per call and never repeats one; whether and when to try again is the caller's decision,
// for which a failure carries what is needed. It knows no configuration file, no session and no price, reads no variable of
// the environment but the proxy's (as net/http does), and starts nothing before the first call.
package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/agent/internal/redact"
)

// Config says which model of which endpoint is called, and how. BaseURL and Model are required.
type Config struct {
	// BaseURL is an http or https address without user and password, such as https://api.deepseek.com. The path
	// chat/completions is added; a query stays.
	BaseURL string
	Model   string // as the endpoint calls it

	// Key is asked before each request, so that a new key counts at once. Nil or "": the endpoint needs none.
	Key func() string
	// Headers go along with each request. Authorization, Content-Type, Accept and Host are refused: they are ours.
	Headers map[string]string
	// ExtraBody are members of the request's body, each a JSON value, for what this package does not know. Those that the
	// agent decides are refused: see refusedExtra.
	ExtraBody map[string]json.RawMessage

	MaxOutputTokens uint32 // of one answer, reasoning included; 0 leaves it to the endpoint
	// Dialect is what the endpoint deviates in. Nil: found by BaseURL and Model, see DialectFor.
	Dialect *Dialect
	// Origin is this model's name in model.Message.Origin. Reasoning of a message of another origin is not sent. "": all is.
	Origin string

	Limits Limits
	// Transport carries the requests. Nil: a transport of the client's own, made at the first request. One made with
	// NewTransport can be shared by many clients, which then share connections.
	Transport http.RoundTripper
	UserAgent string // "": acpkit
}

// Limits are how long to wait. The zero value of each is the default behind it.
type Limits struct {
	Dial   time.Duration // for a connection; 30 s
	TLS    time.Duration // for its encryption; 15 s
	Header time.Duration // for the beginning of the answer, from the end of the request; 10 min, as a server without streaming reads the whole prompt first
	Idle   time.Duration // without any byte in a stream, comments included; 120 s
	NoData time.Duration // with nothing but comments; 10 min
	Tail   time.Duration // for usage and end behind the finish reason, which is a proper end without them; 10 s
}

func (l Limits) complete() Limits {
	or := func(d *time.Duration, dflt time.Duration) {
		if *d <= 0 {
			*d = dflt
		}
	}
	or(&l.Dial, 30*time.Second)
	or(&l.TLS, 15*time.Second)
	or(&l.Header, 10*time.Minute)
	or(&l.Idle, 120*time.Second)
	or(&l.NoData, 10*time.Minute)
	or(&l.Tail, 10*time.Second)
	return l
}

// refusedExtra are the members of a request that ExtraBody must not hold.
var refusedExtra = []string{"model", "messages", "stream", "stream_options", "tools", "max_tokens", "max_completion_tokens",
	"temperature", "reasoning_effort", "thinking"}

// refusedHeaders are the headers that Headers must not hold.
var refusedHeaders = []string{"authorization", "content-type", "accept", "host"}

// Client is one model of one endpoint. It keeps no state between calls but connections, so sessions share it: its methods
// may run at the same time.
type Client struct {
	cfg     Config
	base    *url.URL
	dialect Dialect
	http    func() *http.Client
	own     bool // the transport is the client's
}

var _ model.Model = (*Client)(nil)

// New checks the configuration and opens no connection. Its errors repeat no value that could hold a secret.
func New(cfg Config) (*Client, error) {
	base, err := url.Parse(cfg.BaseURL)
	switch {
	case err != nil, base.Scheme != "http" && base.Scheme != "https", base.Hostname() == "":
		return nil, fmt.Errorf("the base URL of a provider must be an http or https address")
	case base.User != nil:
		return nil, fmt.Errorf("the base URL of a provider must hold no user and no password")
	case cfg.Model == "":
		return nil, fmt.Errorf("the provider at %s: no model is named", base.Host)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.ExtraBody)) {
		if slices.Contains(refusedExtra, name) {
			return nil, fmt.Errorf("the provider at %s: the extra body member %q is set by the agent", base.Host, name)
		}
		if !json.Valid(cfg.ExtraBody[name]) {
			return nil, fmt.Errorf("the provider at %s: the extra body member %q is not JSON", base.Host, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Headers)) {
		if slices.Contains(refusedHeaders, strings.ToLower(name)) {
			return nil, fmt.Errorf("the provider at %s: the header %q is set by the agent", base.Host, name)
		}
		if !headerName(name) || !headerValue(cfg.Headers[name]) {
			return nil, fmt.Errorf("the provider at %s: the header %q cannot be sent", base.Host, name)
		}
	}
	base.Fragment, base.RawFragment = "", ""
	base.Path = strings.TrimSuffix(strings.TrimRight(base.Path, "/"), "/chat/completions")
	base.RawPath = ""
	cfg.Limits = cfg.Limits.complete()
	if cfg.UserAgent == "" {
		cfg.UserAgent = "acpkit"
	}
	c := &Client{cfg: cfg, base: base, own: cfg.Transport == nil}
	if cfg.Dialect != nil {
		c.dialect = *cfg.Dialect
	} else {
		c.dialect = DialectFor(cfg.BaseURL, cfg.Model)
	}
	c.http = sync.OnceValue(c.newHTTP)
	return c, nil
}

// Dialect is the dialect in use.
func (c *Client) Dialect() Dialect { return c.dialect }

// Close lets go of idle connections of the client's own transport. Calls that run are not disturbed.
func (c *Client) Close() {
	if c.own {
		c.http().CloseIdleConnections()
	}
}

// Stream implements model.Model with one request. Text comes in whole characters; bytes that are no UTF-8 come as U+FFFD.
func (c *Client) Stream(ctx context.Context, req *model.Request, emit func(model.Delta) error) (model.Result, error) {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := c.post(running, c.body(req))
	if err != nil {
		return model.Result{}, c.failed(ctx, err)
	}
	defer resp.Body.Close()
	w := newWatch(c.cfg.Limits, cancel)
	defer w.stop()
	events := newEvents(w.reader(resp.Body))
	if err := c.checkStream(resp, events); err != nil {
		return model.Result{}, c.failed(ctx, err)
	}
	a := newAnswer(c.dialect, emit)
	if err := a.read(events, w); err != nil {
		if cause := context.Cause(running); cause != nil && a.emitErr == nil {
			err = cause // of the watch: why the body could not be read
		}
		return model.Result{Usage: a.usage}, c.failed(ctx, err)
	}
	return a.result()
}

// redactor hides what this client knows to be secret, beside all that looks so.
func (c *Client) redactor() *redact.Redactor {
	var secrets []string
	if c.cfg.Key != nil {
		secrets = append(secrets, strings.TrimSpace(c.cfg.Key()))
	}
	for _, value := range c.cfg.Headers {
		if len(value) >= 8 { // shorter ones are numbers and words
			secrets = append(secrets, value)
		}
	}
	return redact.New(secrets...)
}
