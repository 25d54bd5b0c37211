package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

// MoveFile is the tool move_file.
func MoveFile(ws *workspace.Workspace) Tool {
	return Tool{
		Name: "move_file",
		Description: "Move or rename a file or a folder. destination is the whole new path, not a folder to move into, and must not exist; missing folders are created. " +
			"A symlink is moved itself.",
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"source":{"type":"string","description":"What to move, absolute or relative to the workspace."},` +
			`"destination":{"type":"string","description":"Its new path, absolute or relative to the workspace."}},` +
			`"required":["source","destination"]}`),
		Kind: KindMove,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			source, err := locateName(ws, args, "source")
			if err != nil {
				return Invocation{}, err
			}
			inv := Invocation{Title: "Move " + label(source.name()), Locations: []Location{source.location()}}
			destination, err := locateName(ws, args, "destination")
			if err != nil {
				return inv, err
			}
			inv.Title += " to " + label(destination.name())
			inv.Locations = append(inv.Locations, destination.location())
			inv.Access = access(permission.Edit, source, destination)
			both := place{ws: ws.Approved(inv.Access.Outside...), abs: source.abs, outside: source.outside || destination.outside}
			if err := both.ws.CheckMove(source.abs, destination.abs); err != nil {
				return both.tellWhenAllowed(inv, err)
			}
			inv.Run = func(ctx context.Context) (Output, error) {
				if err := both.ws.Move(ctx, source.abs, destination.abs); err != nil {
					return Output{}, err
				}
				return Output{Text: fmt.Sprintf("Moved %s to %s.", source.name(), destination.name())}, nil
			}
			return inv, nil
		},
	}
}

// locateName reads the member that names something to move.
func locateName(ws *workspace.Workspace, args Args, member string) (place, error) {
	path, err := args.String(member)
	if err != nil {
		return place{}, err
	}
	abs, inside, err := ws.ResolveName(path)
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", member, err)
	}
	return newPlace(ws, abs, inside), nil
}
