package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/acpkit/acpkit/agent"
	"github.com/acpkit/acpkit/generated/acp"
)

// jsonView prints a turn for programs: the params of each session/update on a
// line of their own, and last an object with result or error.
type jsonView struct {
	questions *screen // on stderr

	mu      sync.Mutex // guards all below
	out     io.Writer
	session acp.SessionID
}

func newJSONView(sio stdio, cwd string) *jsonView {
	v := &jsonView{questions: newScreen(stdio{sio.in, sio.err, sio.err}, cwd), out: sio.out}
	return v
}

func (v *jsonView) line(data []byte) error {
	_, err := v.out.Write(append(agent.Printable(data), '\n'))
	return err
}

func (v *jsonView) update(_ context.Context, n *acp.SessionNotification) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.session = n.SessionID
	return v.line(n.AppendJSON(nil))
}

func (v *jsonView) permission(how string) func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return v.questions.permission(how)
}

// last is the last line of the output.
type last struct {
	Session acp.SessionID       `json:"sessionId,omitempty"`
	Result  *acp.PromptResponse `json:"result,omitempty"`
	Error   *lastError          `json:"error,omitempty"`
}

type lastError struct {
	Code    acp.ErrorCode `json:"code,omitempty"`
	Message string        `json:"message"`
}

func (v *jsonView) stop(r acp.StopReason) { v.finish(last{Result: &acp.PromptResponse{StopReason: r}}) }

func (v *jsonView) failed(err error) {
	e := &lastError{Message: err.Error()}
	var answer *acp.Error
	if errors.As(err, &answer) {
		e.Code, e.Message = answer.Code, answer.Message
	}
	v.finish(last{Error: e})
}

func (v *jsonView) finish(l last) {
	v.mu.Lock()
	defer v.mu.Unlock()
	l.Session = v.session
	if data, err := json.Marshal(l); err == nil {
		_ = v.line(data)
	}
}

func (v *jsonView) end() { v.questions.end() }
