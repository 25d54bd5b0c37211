package tool

import (
	"context"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

// place is a path that a call names, and the workspace as the call may use it once it is allowed.
type place struct {
	ws      *workspace.Workspace
	abs     string // resolved
	outside bool
}

func resolve(ws *workspace.Workspace, path string) (place, error) {
	abs, inside, err := ws.Resolve(path)
	return newPlace(ws, abs, inside), err
}

func newPlace(ws *workspace.Workspace, abs string, inside bool) place {
	if !inside {
		ws = ws.Approved(abs)
	}
	return place{ws, abs, !inside}
}

// name is what a person reads.
func (p place) name() string { return p.ws.Show(p.abs) }

func (p place) location() Location { return Location{Path: p.abs} }

// locate reads the member that names a file. The invocation it returns has title and location.
func locate(ws *workspace.Workspace, verb string, args Args, member string) (place, Invocation, error) {
	path, err := args.String(member)
	if err != nil {
		return place{}, Invocation{}, err
	}
	at, err := resolve(ws, path)
	if err != nil {
		return place{}, Invocation{}, err
	}
	return at, Invocation{Title: verb + " " + label(at.name()), Locations: []Location{at.location()}}, nil
}

// locateFolder is locate for an optional member that is the workspace when it is absent.
func locateFolder(ws *workspace.Workspace, args Args, member string) (place, error) {
	if !args.Has(member) {
		return resolve(ws, ".")
	}
	path, err := args.String(member)
	if err != nil {
		return place{}, err
	}
	if path == "" { // as some models say "here"
		path = "."
	}
	return resolve(ws, path)
}

// access is what a call to these places wants.
func access(kind permission.Kind, places ...place) permission.Access {
	a := permission.Access{Kind: kind}
	for _, p := range places {
		a.Paths = append(a.Paths, p.abs)
		if p.outside {
			a.Outside = append(a.Outside, p.abs)
		}
	}
	return a
}

// tellWhenAllowed is for a problem that was found while a call was prepared. The model hears of it at once, unless the
// problem says something about a file outside the workspace: then only when the user has allowed the call.
func (p place) tellWhenAllowed(inv Invocation, problem error) (Invocation, error) {
	if !p.outside {
		return inv, problem
	}
	inv.Run = func(context.Context) (Output, error) { return Output{}, problem }
	return inv, nil
}
