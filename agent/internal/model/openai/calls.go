package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-faster/jx"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/generated/openai"
)

// maxCalls bounds the calls of one answer.
const maxCalls = 1024

// calls puts tool calls together from their pieces.
type calls struct {
	list    []*call
	byIndex map[int64]*call
	size    int
}

type call struct {
	id, name string
	args     []byte
	whole    bool // the arguments came as an object
	extra    json.RawMessage
}

// add adds a piece to the call that it belongs to.
func (c *calls) add(piece *openai.ToolCallDelta) error {
	var id, name string
	var args json.RawMessage
	if piece.ID != nil {
		id = *piece.ID
	}
	if f := piece.Function; f != nil {
		args = f.Arguments
		if f.Name != nil {
			name = *f.Name
		}
	}
	to := c.find(piece.Index, id, name)
	if to == nil {
		if len(c.list) == maxCalls {
			return &model.Error{Message: "the provider made more than 1024 calls in one answer"}
		}
		to = &call{}
		c.list = append(c.list, to)
	}
	if piece.Index != nil {
		if c.byIndex == nil {
			c.byIndex = map[int64]*call{}
		}
		c.byIndex[max(*piece.Index, 0)] = to
	}
	if id != "" && to.id == "" {
		to.id = id
	}
	if name != "" {
		to.name = name // set, not appended: some servers repeat it
	}
	if piece.ExtraContent != nil {
		to.extra = piece.ExtraContent
	}
	c.size += len(args) + len(name) + len(id)
	to.addArgs(args)
	return nil
}

// find is the call that a piece belongs to, nil for a new one: the call with its index, else with its id, else a new one when
// there is a name, else the last one.
func (c *calls) find(index *int64, id, name string) *call {
	if index != nil {
		to := c.byIndex[max(*index, 0)]
		if to != nil && id != "" && to.id != "" && id != to.id && name != "" && json.Valid(to.args) {
			return nil // a server that gives every call the same index
		}
		return to
	}
	if id != "" {
		for _, to := range c.list {
			if to.id == id {
				return to
			}
		}
		return nil
	}
	if name != "" || len(c.list) == 0 {
		return nil
	}
	return c.list[len(c.list)-1]
}

// addArgs appends a piece of the text of the arguments. An object is all of them.
func (to *call) addArgs(raw json.RawMessage) {
	switch {
	case len(raw) == 0, string(raw) == "null", to.whole:
	case raw[0] == '"': // read by jx, which leaves a character that is split between pieces as it is
		to.args, _ = jx.DecodeBytes(raw).StrAppend(to.args)
	case raw[0] == '{':
		to.args, to.whole = bytes.Clone(raw), true
	default:
		to.args = append(to.args, raw...)
	}
}

// finish gives the calls in the order in which they began. One without id is named by the caller, who knows all ids of the
// session.
func (c *calls) finish() []model.Call {
	var list []model.Call
	for _, from := range c.list {
		if from.name == "" && from.id == "" && len(from.args) == 0 {
			continue
		}
		args := bytes.ToValidUTF8(bytes.TrimSpace(from.args), []byte("\uFFFD"))
		if len(args) == 0 {
			args = []byte("{}")
		}
		list = append(list, model.Call{
			ID: strings.ToValidUTF8(from.id, "\uFFFD"), Name: strings.ToValidUTF8(from.name, "\uFFFD"),
			Args: args, Extra: from.extra,
		})
	}
	return list
}
