package openai

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// NewTransport makes a transport with the limits for connections. It honours HTTP_PROXY, HTTPS_PROXY and NO_PROXY, and opens
// nothing by itself. Compression is off: what a stream packs together comes late.
func NewTransport(limits Limits) *http.Transport {
	limits = limits.complete()
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: limits.Dial, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    limits.TLS,
		ResponseHeaderTimeout:  limits.Header,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: 1 << 20,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 30 * time.Second}, // a dead connection is shared by all calls
	}
}

func (c *Client) newHTTP() *http.Client {
	transport := c.cfg.Transport
	if transport == nil {
		transport = NewTransport(c.cfg.Limits)
	}
	return &http.Client{Transport: transport, CheckRedirect: checkRedirect}
}

// checkRedirect follows a redirect only within one host, and never to a plainer connection or with another method: the
// request holds the key and the conversation. What is not followed is the answer.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	same := req.URL.Host == first.URL.Host && (req.URL.Scheme == first.URL.Scheme || req.URL.Scheme == "https") && req.Method == first.Method
	if !same || len(via) > 3 {
		return http.ErrUseLastResponse
	}
	return nil
}

// post sends a request for a stream.
func (c *Client) post(ctx context.Context, body []byte) (*http.Response, error) {
	resp, err := c.do(ctx, http.MethodPost, "chat/completions", body)
	if err == nil && resp.StatusCode != http.StatusOK {
		return nil, c.refused(resp)
	}
	return resp, err
}

// do sends a request. An error that comes without an answer is a *model.Error.
func (c *Client) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, &model.Error{Message: "the address of the provider cannot be used", Err: err}
	}
	for name, value := range c.cfg.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("User-Agent", c.cfg.UserAgent)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream")
	}
	if c.cfg.Key != nil {
		switch key := strings.TrimSpace(c.cfg.Key()); {
		case key == "":
		case !headerValue(key):
			return nil, &model.Error{Message: fmt.Sprintf("the key for %s holds characters that cannot be sent", c.base.Host)}
		case c.dialect.KeyHeader != "":
			req.Header.Set(c.dialect.KeyHeader, key)
		default:
			req.Header.Set("Authorization", "Bearer "+key)
		}
	}
	resp, err := c.http().Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	return resp, nil
}

// unreachable says in words why no answer came. net/http puts the URL in front, whose query may hold a key.
func (c *Client) unreachable(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	e := &model.Error{Unreachable: true, Transient: true, Err: err}
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var dns *net.DNSError
	switch {
	case errors.As(err, &certificate), errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		e.Transient = false
		e.Message = fmt.Sprintf("no secure connection to %s: %v", c.base.Host, err)
	case errors.As(err, &dns):
		e.Message = fmt.Sprintf("cannot reach %s: %s", c.base.Host, dns.Err)
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Silent = true
		e.Message = fmt.Sprintf("%s did not answer in time: %v", c.base.Host, err)
	default:
		e.Message = fmt.Sprintf("cannot reach %s: %v", c.base.Host, err)
	}
	e.Message = c.redactor().Clip(e.Message, maxExcerpt)
	return e
}

// failed is err as Stream returns it: the end of ctx counts more than what came of it.
func (c *Client) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var silence silentError
	if errors.As(err, &silence) {
		return &model.Error{Silent: true, Err: err, Message: fmt.Sprintf("%s %s", c.base.Host, silence)}
	}
	return c.hide(err)
}

// hide takes secrets out of a failure: providers repeat parts of keys in their messages.
func (c *Client) hide(err error) error {
	var e *model.Error
	if errors.As(err, &e) {
		r := c.redactor()
		e.Message, e.Body = r.Text(e.Message), r.Text(e.Body)
	}
	return err
}

// silentError ends a stream in which nothing comes.
type silentError struct {
	after    time.Duration
	comments bool // there was life, but no data
}

func (e silentError) Error() string {
	if e.comments {
		return fmt.Sprintf("kept the stream open for %v without sending data", e.after)
	}
	return fmt.Sprintf("sent nothing for %v", e.after)
}

// errTail ends a stream that is complete but for its end.
var errTail = errors.New("nothing came behind the finish reason")

// watch ends a stream's context when it is silent for too long.
type watch struct {
	limits     Limits
	idle, data *time.Timer
	tail       *time.Timer
	cancel     context.CancelCauseFunc
}

func newWatch(limits Limits, cancel context.CancelCauseFunc) *watch {
	w := &watch{limits: limits, cancel: cancel}
	w.idle = time.AfterFunc(limits.Idle, func() { cancel(silentError{limits.Idle, false}) })
	w.data = time.AfterFunc(limits.NoData, func() { cancel(silentError{limits.NoData, true}) })
	return w
}

// event says that data came.
func (w *watch) event() {
	w.data.Reset(w.limits.NoData)
	if w.tail != nil {
		w.tail.Reset(w.limits.Tail)
	}
}

// finished says that only usage and the end of the stream are to come.
func (w *watch) finished() {
	if w.tail == nil {
		w.tail = time.AfterFunc(w.limits.Tail, func() { w.cancel(errTail) })
	}
}

// drain takes what is behind the end of a stream, which should be nothing, so that the connection can be used again. A
// server that keeps it open is not waited for.
func (w *watch) drain(r io.Reader) {
	t := time.AfterFunc(min(drainTime, w.limits.Tail), func() { w.cancel(errTail) })
	defer t.Stop()
	io.CopyN(io.Discard, r, maxExcerpt)
}

const drainTime = 100 * time.Millisecond

func (w *watch) stop() {
	w.idle.Stop()
	w.data.Stop()
	if w.tail != nil {
		w.tail.Stop()
	}
}

func (w *watch) reader(r io.Reader) io.Reader { return watched{w, r} }

type watched struct {
	w *watch
	r io.Reader
}

func (r watched) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.w.idle.Reset(r.w.limits.Idle)
	}
	return n, err
}

// headerName reports whether a header may have this name (RFC 9110, section 5.6.2).
func headerName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// headerValue reports whether a header may have this value. A key or a token beyond ASCII is a mistake in pasting.
func headerValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' })
}

// endpoint is where requests go, without the query.
func (c *Client) endpoint() string {
	return cmp.Or(c.base.Scheme, "https") + "://" + c.base.Host + c.base.Path
}
