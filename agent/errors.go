package agent

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/generated/acp"
)

// maxCause bounds the cause in an error's message, in bytes.
// Source: redaction and length limits; seed 132.
const maxCause = 2048

// fault is an error answer. Its message starts with the method, and its cause is
// cut at a character boundary.
func fault(code acp.ErrorCode, method, format string, a ...any) *acp.Error {
	return &acp.Error{Code: code, Message: method + ": " + bounded(fmt.Sprintf(format, a...))}
}

// bounded cuts a cause at a character boundary.
func bounded(cause string) string {
	if len(cause) > maxCause {
		const mark = "…"
		cut := maxCause - len(mark)
		for cut > 0 && !utf8.RuneStart(cause[cut]) {
			cut--
		}
		cause = cause[:cut] + mark
	}
	return cause
}

// badParam is -32602 for a member that decodes but cannot be used; pointer is
// its JSON pointer.
func badParam(method, pointer, format string, a ...any) *acp.Error {
	e := fault(acp.ErrorCodeInvalidParams, method, format, a...)
	e.Data, _ = json.Marshal(map[string]string{"pointer": pointer})
	return e
}

// checkID refuses what no session can be called.
func checkID(method string, id acp.SessionID) error {
	if ledger.ValidID(string(id)) {
		return nil
	}
	return badParam(method, "/sessionId", "%q is no session id: those have letters, digits, -, _ and . only", id)
}
