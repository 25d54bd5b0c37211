package rpc_test

import (
	"encoding/json"
	"testing"

	"github.com/acpkit/acpkit/rpc"
)

func TestMember(t *testing.T) {
	for params, want := range map[string]string{
		`{"sessionId":"s1"}`: "s1",
		`{"a":{"sessionId":"no"},"b":["}"],"sessionId":"s"}`: "s",
		`{"session\u0049d":"caf\u00e9\n"}`:                   "café\n",
		`{"sessionId":1,"sessionId":"s"}`:                    "s",
		`{"sessionId":"s","sessionId":"t"}`:                  "s",
		`{"sessionId":null}`:                                 "",
		`{"sessionID":"s"}`:                                  "",
		`{}`:                                                 "",
		`["sessionId"]`:                                      "",
		`"sessionId"`:                                        "",
		`{"sessionId":"s`:                                    "",
		`{"a":`:                                              "",
		``:                                                   "",
	} {
		if got := rpc.Member(json.RawMessage(params), "sessionId"); got != want {
			t.Errorf("%s: %q, want %q", params, got, want)
		}
	}
}
