package host

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/acpkit/acpkit/generated/acp"
)

// permission asks the given function, and answers `cancelled` when the prompt
// is cancelled first, as the protocol demands.
func (h *Host) permission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	cancelled := &acp.RequestPermissionResponse{Outcome: &acp.RequestPermissionOutcomeCancelled{}}
	if h.conf.Handlers.SessionRequestPermission == nil {
		return Choose(req, acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways), nil
	}
	if s := h.sessions.find(req.SessionID); s != nil {
		var stop func()
		ctx, stop = s.whilePrompting(ctx)
		defer stop()
	}
	answered := make(chan permissionAnswer, 1)
	go func() { answered <- h.ask(ctx, req) }()
	select {
	case a := <-answered:
		if errors.Is(context.Cause(ctx), errPromptCancelled) || a.err == nil && a.res == nil {
			return cancelled, nil
		}
		return a.res, a.err
	case <-ctx.Done():
		return cancelled, nil
	}
}

type permissionAnswer struct {
	res *acp.RequestPermissionResponse
	err error
}

// ask runs the given function on a goroutine that is not rpc's, so it has to
// catch a panic itself.
func (h *Host) ask(ctx context.Context, req *acp.RequestPermissionRequest) (a permissionAnswer) {
	defer func() {
		if v := recover(); v != nil {
			h.log.Error(fmt.Sprintf("panic: %v", v), "method", acp.MethodSessionRequestPermission, "stack", string(debug.Stack()))
			a = permissionAnswer{err: errors.New(acp.MethodSessionRequestPermission + ": internal error")}
		}
	}()
	a.res, a.err = h.conf.Handlers.SessionRequestPermission(ctx, req)
	return a
}

// Choose answers a permission request with the first option of one of the
// kinds, in the order of kinds; `cancelled` when there is none.
func Choose(req *acp.RequestPermissionRequest, kinds ...acp.PermissionOptionKind) *acp.RequestPermissionResponse {
	for _, kind := range kinds {
		for _, o := range req.Options {
			if o.Kind == kind {
				return &acp.RequestPermissionResponse{Outcome: &acp.SelectedPermissionOutcome{OptionID: o.OptionID}}
			}
		}
	}
	return &acp.RequestPermissionResponse{Outcome: &acp.RequestPermissionOutcomeCancelled{}}
}
