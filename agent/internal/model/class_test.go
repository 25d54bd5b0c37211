package model

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestClasses(t *testing.T) {
	tests := []struct {
		err   Error
		class string // all that hold
		retry bool
	}{
		{Error{Status: 401, Body: `{"error":{"message":"Authentication Fails"}}`}, "key", false},
		{Error{Status: 403, Body: `{"error":{"code":"invalid_api_key"}}`}, "key", false},
		{Error{Status: 403, Body: `{"error":{"message":"moderation"}}`}, "forbidden", false},
		{Error{Status: 402, Body: `{"error":{"message":"Insufficient Balance"}}`}, "funds", false},
		{Error{Status: 429, Body: `{"error":{"type":"insufficient_quota","code":null}}`}, "funds", false},
		{Error{Status: 429, Body: `{"error":{"type":7,"code":"slow_down"}}`}, "rate", true},
		{Error{Status: 400, Body: `{"error":{"code":"Arrearage"}}`}, "funds", false},
		{Error{Status: 429}, "rate", true},
		{Error{Status: 429, Headers: map[string]string{"X-Should-Retry": "false"}}, "rate", false},
		{Error{Status: 400, Headers: map[string]string{"X-Should-Retry": "true"}}, "", true},
		{Error{Status: 429, Body: `{"error":{"code":"insufficient_quota"}}`, Headers: map[string]string{"x-should-retry": "true"}}, "funds", false},
		{Error{Status: 404}, "found", false},
		{Error{Status: 400, Body: `{"error":{"code":"model_not_found"}}`}, "found", false},
		{Error{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 1048576 tokens"}}`}, "long", false},
		{Error{Status: 413}, "long", false},
		{Error{Body: `{"error":{"code":502,"message":"upstream"}}`}, "", true},
		{Error{Status: 200, Body: `{"error":{"code":429,"message":"upstream"}}`}, "rate", true},
		{Error{Body: `{"error":{"code":402}}`}, "funds", false},
		{Error{Body: `{"error":{"code":401}}`}, "key", false},
		{Error{Body: `{"error":{"message":"odd"}}`}, "", true},
		{Error{Body: `{"error":"text"}`}, "", true},
		{Error{Body: `{"error":{"type":"invalid_request_error"}}`}, "", false},
		{Error{Body: `{"error":{"code":"data_inspection_failed"}}`}, "", false},
		{Error{Body: `{"error":{"code":200}}`}, "", true},
		{Error{Message: "no route", Unreachable: true, Transient: true}, "", true},
		{Error{Message: "a bad certificate", Unreachable: true}, "", false},
		{Error{Message: "silent", Silent: true}, "", true},
		{Error{}, "", false},
	}
	for _, test := range tests {
		e := &test.err
		var got []string
		for _, class := range []struct {
			name string
			is   bool
		}{{"key", e.KeyRefused()}, {"forbidden", e.Forbidden()}, {"funds", e.OutOfFunds()}, {"found", e.NotFound()}, {"rate", e.RateLimited()}, {"long", e.TooLong()}} {
			if class.is {
				got = append(got, class.name)
			}
		}
		if class := strings.Join(got, " "); class != test.class {
			t.Errorf("%+v is %q, want %q", test.err, class, test.class)
		}
		if got := e.Retryable(); got != test.retry {
			t.Errorf("%+v: retryable %t", test.err, got)
		}
	}
}

func TestErrorInWords(t *testing.T) {
	for want, err := range map[string]Error{
		"cannot reach api.example: connection refused":                    {Message: "cannot reach api.example: connection refused", Err: io.EOF},
		"the provider failed in the middle of its answer: no capacity":    {Body: `{"error":{"message":"no capacity"}}`},
		"the provider failed in the middle of its answer: {\"error\":{}}": {Body: `{"error":{}}`},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err.Error(), want)
		}
	}
	if err := error(&Error{Cut: true, Err: io.ErrUnexpectedEOF}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock stands at 2000-01-01 00:00:00 UTC
		type headers = map[string]string
		for _, test := range []struct {
			headers headers
			want    time.Duration
			ok      bool
		}{
			{nil, 0, false},
			{headers{"Retry-After": "2"}, 2 * time.Second, true},
			{headers{"retry-after": " 0.5 "}, 500 * time.Millisecond, true},
			{headers{"Retry-After": "2", "Retry-After-Ms": "1500"}, 1500 * time.Millisecond, true},
			{headers{"Retry-After": "2", "Retry-After-Ms": "soon"}, 2 * time.Second, true},
			{headers{"Retry-After": "-3"}, 0, true},
			{headers{"Retry-After": "1e300"}, 0, false},
			{headers{"Retry-After": "NaN"}, 0, false},
			{headers{"Retry-After": ""}, 0, false},
			{headers{"Retry-After": "Sat, 01 Jan 2000 00:01:00 GMT"}, time.Minute, true},
			{headers{"Retry-After": "Fri, 31 Dec 1999 00:01:00 GMT"}, 0, true},
			{headers{"Retry-After": "Sat Jan  1 00:01:00 2000"}, time.Minute, true},
			// The clocks differ by an hour.
			{headers{"Retry-After": "Sat, 01 Jan 2000 01:00:30 GMT", "Date": "Sat, 01 Jan 2000 01:00:00 GMT"}, 30 * time.Second, true},
		} {
			err := Error{Status: 429, Headers: test.headers}
			if got, ok := err.RetryAfter(); got != test.want || ok != test.ok {
				t.Errorf("%v: %v %t, want %v %t", test.headers, got, ok, test.want, test.ok)
			}
		}
	})
}
