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

// Error is a provider's failure: an HTTP status, a stream without an end, or an ending that is no success.
type Error struct {
	Status  int               // the HTTP status of the answer that came instead of a stream, else 0
	Body    string            // its body
	Headers map[string]string // its headers that matter, Retry-After for instance
	Cut     bool              // the stream broke off
	Finish  string            // the finish reason, when that is the failure
}

// Error says what happened, with the provider's own message when it sent one.
func (e *Error) Error() string {
	switch {
	case e.Cut:
		return "the provider's stream broke off"
	case e.Finish != "":
		return fmt.Sprintf("the provider gave up (finish reason %q)", e.Finish)
	case e.Body == "":
		return fmt.Sprintf("the provider answered %d", e.Status)
	}
	return bound(fmt.Sprintf("the provider answered %d: %s", e.Status, e.message()))
}

// Header finds a header in any spelling.
func (e *Error) Header(name string) string {
	for key, value := range e.Headers {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

// Retryable reports whether the same call may succeed a little later.
func (e *Error) Retryable() bool {
	if e.Cut || e.Finish != "" {
		return true
	}
	switch e.Status {
	case 408, 409, 500, 502, 503, 504, 529:
		return true
	case 429:
		return !e.outOfFunds()
	}
	return false
}

// outOfFunds tells the 429 that waiting does not cure from the one that it does.
func (e *Error) outOfFunds() bool {
	detail := e.detail()
	switch detail.Code {
	case "insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded",
		"project_spend_limit_exceeded", "organization_usage_limit_exceeded":
		return true
	}
	return detail.Type == "insufficient_quota"
}

func (e *Error) message() string {
	if text := e.detail().Message; text != "" {
		return text
	}
	return strings.TrimSpace(e.Body)
}

type detail struct {
	Message, Type string
	Code          any // string or number, by provider
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
