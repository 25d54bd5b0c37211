package agent

import (
	"encoding/json"
	"fmt"

	"github.com/acpkit/acpkit/generated/acp"
)

// fault is an error answer. Its message starts with the method.
func fault(code acp.ErrorCode, method, format string, a ...any) *acp.Error {
	return &acp.Error{Code: code, Message: method + ": " + fmt.Sprintf(format, a...)}
}

// badParam is -32602 for a member that decodes but cannot be used; pointer is
// its JSON pointer.
func badParam(method, pointer, format string, a ...any) *acp.Error {
	e := fault(acp.ErrorCodeInvalidParams, method, format, a...)
	e.Data, _ = json.Marshal(map[string]string{"pointer": pointer})
	return e
}
