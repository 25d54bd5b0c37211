package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"unicode/utf8"
)

// Error codes of JSON-RPC 2.0, and the one for a cancelled request.
const (
	CodeParseError       = -32700 // the line is not JSON
	CodeInvalidRequest   = -32600 // JSON, but neither request nor response
	CodeMethodNotFound   = -32601
	CodeInvalidParams    = -32602
	CodeInternalError    = -32603
	CodeRequestCancelled = -32800
)

var (
	// ErrClosed is what Call and Notify fail with (errors.Is) when the
	// connection has ended, and the cause of handlers' contexts at that time.
	ErrClosed = errors.New("connection closed")

	// ErrMethodNotFound from a handler makes the answer -32601 "METHOD: method
	// not found". For a notification it means silence.
	ErrMethodNotFound = errors.New("method not found")

	errNoMethod = errors.New("rpc: empty method")
)

// errCancelled is the cause of a handler's context after $/cancel_request.
var errCancelled error = cancelled{}

type cancelled struct{}

func (cancelled) Error() string        { return "request cancelled by the peer" }
func (cancelled) Is(target error) bool { return target == context.Canceled }

// Error is an error response, as Call receives it. A handler that returns one,
// wrapped or not, answers with the same code, message and data.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage // nil if absent
}

func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// RPCError returns what goes on the wire.
func (e *Error) RPCError() (code int, message string, data json.RawMessage) {
	return e.Code, e.Message, e.Data
}

// wireError decides, alone, what a handler's error becomes on the wire. A
// request that was cancelled and gave up for that reason says so even if a
// layer between has wrapped the error into one with a code of its own.
func wireError(ctx context.Context, method string, err error) *Error {
	var coded interface {
		RPCError() (code int, message string, data json.RawMessage)
	}
	switch {
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))):
		return &Error{Code: CodeRequestCancelled, Message: prefix(method) + "request cancelled"}
	case errors.As(err, &coded):
		code, message, data := coded.RPCError()
		return &Error{Code: code, Message: message, Data: data}
	case errors.Is(err, ErrMethodNotFound):
		return &Error{Code: CodeMethodNotFound, Message: prefix(method) + "method not found"}
	default:
		return &Error{Code: CodeInternalError, Message: err.Error()}
	}
}

func internalError(method string) *Error {
	return &Error{Code: CodeInternalError, Message: prefix(method) + "internal error"}
}

// A panicError keeps a recovered panic for the log.
type panicError struct {
	value any
	stack []byte
}

func recovered(value any) *panicError { return &panicError{value, debug.Stack()} }

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// prefix starts a message of ours with the method it is about.
func prefix(method string) string {
	if method == "" {
		return ""
	}
	return clip(method) + ": "
}

// clip bounds what a peer sent before it goes into a message or the log.
func clip[T string | []byte](s T) string {
	const limit = 200
	if len(s) <= limit {
		return string(s)
	}
	cut := limit
	for cut > limit-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes)", string(s[:cut]), len(s))
}
