package model

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEnding(t *testing.T) {
	for finish, want := range map[string]Ending{
		"stop": Done, "tool_calls": Done, "function_call": Done, "": Done, "eos": Done,
		"length": Length, "max_tokens": Length, "model_length": Length, "model_context_window_exceeded": Length,
		"content_filter": Filtered, "refusal": Filtered, "sensitive": Filtered,
		"error": Broken, "insufficient_system_resource": Broken, "network_error": Broken,
	} {
		if got := (Result{Finish: finish}).Ending(); got != want {
			t.Errorf("%q ends %d, want %d", finish, got, want)
		}
	}
}

func TestError(t *testing.T) {
	tests := []struct {
		err   Error
		text  string
		retry bool
	}{
		{Error{Cut: true}, "the provider's stream broke off", true},
		{Error{Finish: "insufficient_system_resource"}, `the provider gave up (finish reason "insufficient_system_resource")`, true},
		{Error{Status: 503}, "the provider answered 503", true},
		{Error{Status: 500, Body: "<html>\n"}, "the provider answered 500: <html>", true},
		{Error{Status: 401, Body: `{"error":{"message":"bad key","type":"auth","code":"invalid_api_key"}}`}, "the provider answered 401: bad key", false},
		{Error{Status: 400, Body: `{"object":"error","message":"flat","code":3280}`}, "the provider answered 400: flat", false},
		{Error{Status: 402, Body: `{"error":"no balance"}`}, "the provider answered 402: no balance", false},
		{Error{Status: 422, Body: `{"error":{"message":"odd","code":7,"param":null}}`}, "the provider answered 422: odd", false},
		{Error{Status: 404, Body: `{"error":null}`}, `the provider answered 404: {"error":null}`, false},
		{Error{Status: 429, Body: `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`}, "the provider answered 429: slow down", true},
		{Error{Status: 429, Body: `{"error":{"message":"pay","type":"insufficient_quota","code":"credit_balance_exhausted"}}`}, "the provider answered 429: pay", false},
		{Error{Status: 429, Body: `{"error":{"message":"pay","code":"organization_usage_limit_exceeded"}}`}, "the provider answered 429: pay", false},
		{Error{Status: 429, Body: "[1]"}, "the provider answered 429: [1]", true},
		{Error{Status: 408}, "the provider answered 408", true},
		{Error{Status: 413}, "the provider answered 413", false},
		{Error{Status: 529}, "the provider answered 529", true},
		{Error{Status: 500, Body: "bad \xff byte"}, "the provider answered 500: bad \uFFFD byte", true},
	}
	for _, test := range tests {
		if got := test.err.Error(); got != test.text {
			t.Errorf("%+v says %q, want %q", test.err, got, test.text)
		}
		if got := test.err.Retryable(); got != test.retry {
			t.Errorf("%+v: retryable %t", test.err, got)
		}
	}
}

func TestErrorIsBounded(t *testing.T) {
	for shift := range 3 {
		err := Error{Status: 500, Body: strings.Repeat("x", shift) + strings.Repeat("€", 1<<20)}
		if text := err.Error(); len(text) > maxMessage+len("…") || !utf8.ValidString(text) || !strings.HasSuffix(text, "€…") {
			t.Errorf("%d bytes, valid UTF-8 %t, ends %q", len(text), utf8.ValidString(text), text[len(text)-9:])
		}
	}
}

func TestHeader(t *testing.T) {
	err := Error{Headers: map[string]string{"retry-after": "2"}}
	if got := err.Header("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q", got)
	}
	if got := err.Header("X-Other"); got != "" {
		t.Errorf("X-Other %q", got)
	}
}
