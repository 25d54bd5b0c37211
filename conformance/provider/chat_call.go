package provider

import (
	"encoding/json"

	"github.com/acpkit/acpkit/generated/script"
)

type (
	chatCall struct {
		Index    *int64       `json:"index,omitempty"`
		ID       *string      `json:"id,omitempty"`
		Type     string       `json:"type,omitempty"`
		Function chatFunction `json:"function"`
	}
	chatFunction struct {
		Name      *string         `json:"name,omitempty"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
	}
)

// callPieces are the entries of tool_calls for all calls of a reply, in the order in which they are sent.
func callPieces(r *Reply) []json.RawMessage {
	calls := make([][]json.RawMessage, len(r.Tools))
	total := 0
	for i := range r.Tools {
		calls[i] = callOf(&r.Tools[i], i)
		total += len(calls[i])
	}
	all := make([]json.RawMessage, 0, total)
	if !r.Interleave {
		for _, c := range calls {
			all = append(all, c...)
		}
		return all
	}
	for round := 0; len(all) < total; round++ {
		for _, c := range calls {
			if round < len(c) {
				all = append(all, c[round])
			}
		}
	}
	return all
}

// callOf are the pieces of one call, the place-th of its reply.
func callOf(t *script.ProviderTool, place int) []json.RawMessage {
	index := new(or(t.Index, int64(place)))
	if t.NoIndex {
		index = nil
	}
	first := chatCall{Index: index, ID: t.ID, Type: "function", Function: chatFunction{Name: &t.Name}}
	var args []json.RawMessage
	switch {
	case t.ArgsObject && json.Valid([]byte(arguments(t))):
		args = []json.RawMessage{json.RawMessage(arguments(t))}
	case t.Whole:
		args = []json.RawMessage{marshal(arguments(t))}
	default:
		for _, piece := range pieces(arguments(t), or(t.Pieces, 1)) {
			args = append(args, marshal(piece))
		}
	}
	if t.Whole {
		first.Function.Arguments = args[0]
		return []json.RawMessage{merge(marshal(first), t.Extra)}
	}
	if !t.ArgsObject {
		first.Function.Arguments = json.RawMessage(`""`)
	}
	list := []json.RawMessage{merge(marshal(first), t.Extra)}
	for _, a := range args {
		next := chatCall{Index: index, Function: chatFunction{Arguments: a}}
		if t.RepeatName {
			next.Function.Name = &t.Name
		}
		if t.RepeatID {
			next.ID = t.ID
		}
		list = append(list, marshal(next))
	}
	return list
}
