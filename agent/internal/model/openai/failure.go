package openai

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/generated/openai"
)

const (
	maxBody    = 64 << 10 // bytes of an answer that is no stream
	maxExcerpt = 512      // bytes of it in a message
	bodyTime   = 30 * time.Second
)

// keptHeaders are what callers decide by, and what helps to ask a provider about a failure.
var keptHeaders = []string{"Retry-After", "Retry-After-Ms", "X-Should-Retry", "Date", "Content-Type", "X-Request-Id", "X-Generation-Id"}

// refused makes the failure of an answer with another status, and closes it.
func (c *Client) refused(resp *http.Response) error {
	e := &model.Error{Status: resp.StatusCode, Headers: map[string]string{}}
	for _, name := range keptHeaders {
		if value := resp.Header.Get(name); value != "" {
			e.Headers[name] = value
		}
	}
	e.Body = readBody(resp)
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		e.Message = fmt.Sprintf("%s answered %d: it sends requests on to %s, which are not followed to keep key and conversation safe; if that is right, put it into base_url",
			c.endpoint(), resp.StatusCode, shownLocation(resp))
	}
	if kind := mediaType(resp); kind == "text/html" && e.Message == "" {
		e.Message = fmt.Sprintf("the provider answered %d with a web page: %s", resp.StatusCode, c.excerpt(e.Body))
		e.Transient = retryStatus(resp.StatusCode)
	}
	return e
}

// retryStatus is what model.Error says of a status alone; with a Message it does not look.
func retryStatus(status int) bool { return (&model.Error{Status: status}).Retryable() }

// readBody reads the beginning of an answer that is no stream, and closes it. What breaks off or hangs is used as far as it
// came: the status says enough.
func readBody(resp *http.Response) string {
	slow := time.AfterFunc(bodyTime, func() { resp.Body.Close() })
	defer slow.Stop()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	resp.Body.Close()
	return strings.ToValidUTF8(string(body), "\uFFFD")
}

func shownLocation(resp *http.Response) string {
	u, err := resp.Location()
	if err != nil {
		return "an address that is missing or wrong"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func mediaType(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		kind, _, _ = strings.Cut(resp.Header.Get("Content-Type"), ";")
	}
	return strings.ToLower(strings.TrimSpace(kind))
}

// checkStream returns an error when an answer is no event stream. Where the type is wrong but no web page the beginning of
// the body decides: some gateways do not set it.
func (c *Client) checkStream(resp *http.Response, events *events) error {
	kind := mediaType(resp)
	if kind == "text/event-stream" {
		return nil
	}
	if kind != "text/html" && events.looksRight() {
		return nil
	}
	if err := events.peekErr; err != nil && err != io.EOF {
		return err
	}
	body, _ := io.ReadAll(io.LimitReader(events.r, maxBody))
	text := strings.ToValidUTF8(string(body), "\uFFFD")
	var parsed openai.ErrorBody
	if parsed.UnmarshalJSON(body) == nil && parsed.Error != nil {
		return &model.Error{Status: resp.StatusCode, Body: text}
	}
	if kind == "" {
		kind = "something of no type"
	}
	e := &model.Error{Body: text, Message: fmt.Sprintf("%s answered with %s instead of an event stream; is base_url right?", c.endpoint(), kind)}
	if shown := c.excerpt(text); shown != "" {
		e.Message += " It begins: " + shown
	}
	return e
}

// excerpt is the beginning of a foreign text on one line, without secrets.
func (c *Client) excerpt(text string) string {
	return c.redactor().Clip(strings.Join(strings.Fields(text), " "), maxExcerpt)
}
