package model

import (
	"strconv"
	"strings"
	"time"
)

// The classes of a failure say what a caller can do about it. They look at the status, then at the provider's code, then at
// its type. A failure may be of none.

// KeyRefused: the provider does not take the key.
func (e *Error) KeyRefused() bool {
	return e.status() == 401 || e.says("invalid_api_key", "authentication_error", "InvalidApiKey", "incorrect_api_key_provided")
}

// Forbidden: the key is good, but what was asked is not allowed with it: the model, the region, the content.
func (e *Error) Forbidden() bool { return e.status() == 403 && !e.KeyRefused() && !e.OutOfFunds() }

// OutOfFunds: the account has no balance left or reached its limit. Waiting does not help, whatever the status.
func (e *Error) OutOfFunds() bool {
	return e.status() == 402 || e.says("insufficient_quota", "credit_balance_exhausted", "organization_spend_limit_exceeded",
		"project_spend_limit_exceeded", "organization_usage_limit_exceeded", "Arrearage")
}

// NotFound: there is no such model, or the address is not that of a provider.
func (e *Error) NotFound() bool { return e.status() == 404 || e.says("model_not_found") }

// RateLimited: too many requests or tokens at once; RetryAfter may say how long to wait.
func (e *Error) RateLimited() bool {
	return !e.OutOfFunds() && (e.status() == 429 || e.says("rate_limit_exceeded", "slow_down"))
}

// TooLong: the conversation does not fit the model.
func (e *Error) TooLong() bool {
	if e.status() == 413 || e.says("context_length_exceeded") {
		return true
	}
	if e.status() != 400 && e.status() != 422 {
		return false
	}
	text := strings.ToLower(e.message())
	return strings.Contains(text, "maximum context length") || strings.Contains(text, "range of input length") ||
		strings.Contains(text, "context window")
}

// Retryable reports whether the same call may succeed a little later. A provider that says so itself is believed, but not
// about an account without funds.
func (e *Error) Retryable() bool {
	if e.OutOfFunds() {
		return false
	}
	switch {
	case e.Header("x-should-retry") == "true":
		return true
	case e.Header("x-should-retry") == "false":
		return false
	case e.Cut, e.Finish != "", e.Silent:
		return true
	case e.Message != "":
		return e.Transient
	}
	switch status := e.status(); status {
	case 408, 409, 429, 500, 502, 503, 504, 529:
		return true
	case 0: // in the stream, and without a number: mostly the model behind a gateway
		return e.Body != "" && !e.KeyRefused() && !e.NotFound() && !e.TooLong() &&
			!e.says("invalid_request_error", "data_inspection_failed", "content_filter", "permission_error")
	default:
		return false
	}
}

// RetryAfter is how long the provider asks to wait at least: retry-after-ms, else Retry-After in seconds or as a date, which
// is compared with the provider's own clock where the answer shows it. A moment that has passed is 0.
func (e *Error) RetryAfter() (time.Duration, bool) {
	if wait, ok := parseWait(e.Header("retry-after-ms"), time.Millisecond); ok {
		return wait, true
	}
	text := strings.TrimSpace(e.Header("Retry-After"))
	if wait, ok := parseWait(text, time.Second); ok {
		return wait, true
	}
	at, ok := parseDate(text)
	if !ok {
		return 0, false
	}
	now, ok := parseDate(e.Header("Date"))
	if !ok {
		now = time.Now()
	}
	return max(at.Sub(now), 0), true
}

// parseDate reads the three forms of a date in a header (RFC 9110, section 5.6.7); net/http, which has the same function, is
// too much to link for it.
func parseDate(s string) (time.Time, bool) {
	for _, form := range [...]string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		if t, err := time.Parse(form, strings.TrimSpace(s)); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// parseWait reads a number of units. A number beyond a year is not meant as one.
func parseWait(s string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	wait := n * float64(unit)
	if err != nil || !(wait < float64(365*24*time.Hour)) {
		return 0, false
	}
	return time.Duration(max(wait, 0)), true
}

// status is the HTTP status, or the one that an error in a stream would have had: OpenRouter sends it as the code.
func (e *Error) status() int {
	if e.Status != 0 && e.Status != 200 {
		return e.Status
	}
	if e.Body == "" {
		return 0
	}
	if code, ok := e.detail().Code.(float64); ok && code >= 400 && code < 600 {
		return int(code)
	}
	return 0
}

// says reports whether the code or the type of the failure is one of the words.
func (e *Error) says(words ...string) bool {
	if e.Body == "" {
		return false
	}
	detail := e.detail()
	for _, word := range words {
		if detail.Code == word || detail.Type == word {
			return true
		}
	}
	return false
}
