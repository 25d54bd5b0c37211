// Package fetch gets one page from the web as readable text. It keeps nothing between two calls: no cookies, no
// connections, no cache, and it uses no proxy, since a proxy would hide which address is really asked. It decides nothing
// about hosts but refuses addresses that are not public.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/acpkit/acpkit/agent/internal/charset"
)

const (
	maxBody      = 5 << 20 // bytes of a body that are read, unpacked
	maxRedirects = 10
	maxURL       = 8000
	timeout      = 30 * time.Second // for the network alone, not for questions in between
)

// Options is how to fetch.
type Options struct {
	// AllowPrivate are hosts, by name or address and without port, that may have an address that is not public.
	AllowPrivate []string
	// Approve is asked before a redirect leads to another host, in the form of Host. An error ends the fetch. Without it
	// such redirects are refused.
	Approve func(ctx context.Context, host string) error
	// UserAgent, for example reasonix/1.0.
	UserAgent string
}

// Page is what came.
type Page struct {
	URL   string // after redirects
	Title string // of an HTML page
	Text  string // UTF-8; HTML is turned into plain text
	Cut   bool   // there was more than is read
}

// Parse checks a URL that somebody wants to fetch.
func Parse(text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, fmt.Errorf("url is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return nil, errors.New("url is malformed")
	case u.Scheme == "" || u.Opaque != "":
		return nil, fmt.Errorf("url must begin with https:// or http://")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("url has the scheme %q; only http and https can be fetched", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("url has no host")
	case u.User != nil:
		return nil, errors.New("url must not contain a user name or password")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// Host is the host of a URL in lower case, with the port when it is not the scheme's own.
func Host(u *url.URL) string {
	host := hostname(u)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := u.Port()
	if port == "" || u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		return host
	}
	return host + ":" + port
}

func hostname(u *url.URL) string { return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") }

// Get fetches a URL that Parse returned, with up to ten redirects. Errors are sentences for the model.
func Get(ctx context.Context, u *url.URL, o Options) (Page, error) {
	client := o.client()
	defer client.CloseIdleConnections()
	approved := map[string]bool{Host(u): true}
	left := timeout
	for range maxRedirects + 1 {
		start := time.Now()
		once, cancel := context.WithTimeoutCause(ctx, left, fmt.Errorf("%s did not answer within %v", Host(u), timeout))
		page, next, err := o.get(once, client, u)
		if err != nil && ctx.Err() == nil && once.Err() != nil {
			err = context.Cause(once)
		}
		cancel()
		switch {
		case ctx.Err() != nil:
			return Page{}, ctx.Err()
		case err != nil:
			return Page{}, err
		case next == nil:
			return page, nil
		}
		left -= time.Since(start)
		if host := Host(next); !approved[host] {
			if o.Approve == nil {
				return Page{}, fmt.Errorf("%s redirects to another host: fetch %s", Host(u), next)
			}
			if err := o.Approve(ctx, host); err != nil {
				return Page{}, fmt.Errorf("%s redirects to %s: %w", Host(u), host, err)
			}
			approved[host] = true
		}
		u = next
	}
	return Page{}, fmt.Errorf("there are more than %d redirects", maxRedirects)
}

// get makes one request, and returns the page or where it is instead.
func (o Options) get(ctx context.Context, client *http.Client, u *url.URL) (Page, *url.URL, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, nil, errors.New("url is malformed")
	}
	req.Header.Set("User-Agent", o.UserAgent)
	req.Header.Set("Accept", "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5")
	resp, err := client.Do(req)
	if err != nil {
		return Page{}, nil, explain(Host(u), err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		next, err := resp.Location()
		if err == nil {
			next, err = Parse(next.String())
		}
		if err != nil {
			return Page{}, nil, fmt.Errorf("%s redirects to nowhere: %w", Host(u), err)
		}
		return Page{}, next, nil
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return Page{}, nil, fmt.Errorf("%s answers %d %s", Host(u), resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return Page{}, nil, explain(Host(u), err)
	}
	page := Page{URL: u.String()}
	if len(body) > maxBody {
		body, page.Cut = body[:maxBody], true
	}
	return page, nil, page.read(u, resp.Header.Get("Content-Type"), body)
}

// read makes text of the body.
func (p *Page) read(u *url.URL, contentType string, body []byte) error {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(body))
		params = nil
	}
	family, _, _ := strings.Cut(kind, "/")
	switch {
	case strings.HasSuffix(kind, "+xml"): // SVG is an image, but text
	case family == "image" || family == "audio" || family == "video" || family == "font" || kind == "application/pdf" || kind == "application/zip":
		return fmt.Errorf("%s is %s, not text", u, kind)
	}
	label := params["charset"]
	isHTML := kind == "text/html" || kind == "application/xhtml+xml"
	if isHTML && label == "" {
		label = metaCharset(body)
	}
	text := charset.Lenient(body, label)
	if strings.IndexByte(text, 0) >= 0 {
		return fmt.Errorf("%s is not text (%s)", u, kind)
	}
	if p.Text = text; isHTML {
		p.Title, p.Text = readable(u, text)
	}
	return nil
}

// client makes a client that lives for one fetch.
func (o Options) client() *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            o.dial,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: 1 << 18,
		},
	}
}

// dial connects to the host of a request, if the address that is really dialled is public or the host is an exception.
// Because the address is looked at behind the name resolution, a name that resolves differently each time does not help.
func (o Options) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{ControlContext: checkPublic}
	for _, exception := range o.AllowPrivate {
		if strings.EqualFold(strings.Trim(exception, "[]"), strings.TrimSuffix(host, ".")) {
			d.ControlContext = nil
		}
	}
	return d.DialContext(ctx, network, address)
}

// explain says in a sentence why a host could not be asked, without the URL, which the model knows.
func explain(host string, err error) error {
	var private *privateError
	var dns *net.DNSError
	switch {
	case errors.As(err, &private):
		return fmt.Errorf("%s has the address %v, which is not public; it is not fetched", host, private.addr)
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Errorf("there is no host %s", host)
	}
	var ofURL *url.Error
	if errors.As(err, &ofURL) {
		err = ofURL.Err
	}
	return fmt.Errorf("%s could not be fetched: %w", host, err)
}
