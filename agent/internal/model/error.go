package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxMessage bounds what an Error says. It is far above what a host is shown, so that secrets are still whole when the
// message is redacted, before the final cut.
const maxMessage = 16 << 10

// Error is a provider's failure: an HTTP status, a stream without an end, an ending that is no success, or no answer at all.
type Error struct {
	Status  int               // the HTTP status of the answer that came instead of a stream, else 0
	Body    string            // its body; with Status 0 what the provider sent in the stream instead of going on
	Headers map[string]string // its headers that matter, Retry-After for instance
	Cut     bool              // the stream broke off
	Finish  string            // the finish reason, when that is the failure

	// Message says what happened where the members above do not: no connection, an answer that is no stream. Whoever writes
	// it keeps keys and the queries of URLs out.
	Message     string
	Unreachable bool  // no answer came: the host was not reached, or it was silent before its answer began
	Silent      bool  // the connection was open, but nothing of use came for too long
	Transient   bool  // with Message: the same call may succeed a little later
	Err         error // the cause beneath, for errors.Is and logs, which redact it; Error does not show it
}

// Error says what happened, with the provider's own message when it sent one.
func (e *Error) Error() string {
	switch {
	case e.Message != "":
		return bound(e.Message)
	case e.Cut:
		return "the provider's stream broke off"
	case e.Finish != "":
		return fmt.Sprintf("the provider gave up (finish reason %q)", e.Finish)
	case e.Status == 0 && e.Body != "":
		return bound("the provider failed in the middle of its answer: " + e.message())
	case e.Body == "":
		return fmt.Sprintf("the provider answered %d", e.Status)
	}
	return bound(fmt.Sprintf("the provider answered %d: %s", e.Status, e.message()))
}

// Unwrap gives the cause, which may be nil.
func (e *Error) Unwrap() error { return e.Err }

// Header finds a header in any spelling.
func (e *Error) Header(name string) string {
	for key, value := range e.Headers {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

func (e *Error) message() string {
	if text := e.detail().Message; text != "" {
		return text
	}
	return strings.TrimSpace(e.Body)
}

type detail struct {
	Message string
	Type    any // a word, as a rule
	Code    any // string or number, by provider
}

// detail reads the error object of the body: under "error" or, at Mistral, the body itself. Another body has none.
func (e *Error) detail() detail {
	var body struct {
		Error json.RawMessage
		detail
	}
	if json.Unmarshal([]byte(e.Body), &body) != nil {
		return detail{}
	}
	if body.Error == nil {
		return body.detail
	}
	var inner detail
	if json.Unmarshal(body.Error, &inner) != nil {
		json.Unmarshal(body.Error, &inner.Message) // some gateways: "error": "text"
	}
	inner.Message = cmp.Or(inner.Message, body.Message)
	return inner
}

func bound(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxMessage {
		return s
	}
	end := maxMessage
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
