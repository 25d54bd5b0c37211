package openai

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/generated/openai"
)

// body is the request as it is sent. The same request gives the same bytes, and one that goes on a conversation repeats the
// bytes of its earlier messages: caches of providers work on exact prefixes.
func (c *Client) body(req *model.Request) []byte {
	wire := openai.ChatRequest{Model: c.cfg.Model, Stream: true}
	if !c.dialect.NoStreamOptions {
		wire.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	thinking := c.setEffort(&wire, req.Effort)
	if req.System != "" {
		wire.Messages = append(wire.Messages, &openai.SystemMessage{Content: req.System})
	}
	for i := range req.Messages {
		wire.Messages = append(wire.Messages, c.message(&req.Messages[i], thinking))
	}
	for _, t := range req.Tools {
		tool := openai.Tool{Type: openai.ToolTypeFunction, Function: openai.FunctionDefinition{Name: t.Name, Parameters: t.Params}}
		if t.Description != "" {
			tool.Function.Description = &t.Description
		}
		wire.Tools = append(wire.Tools, tool)
	}
	if len(wire.Tools) > 0 && c.dialect.ToolStream {
		wire.ToolStream = new(true)
	}
	c.setLimit(&wire)
	return c.addExtra(&wire)
}

func (c *Client) setLimit(wire *openai.ChatRequest) {
	limit := c.cfg.MaxOutputTokens
	if limit == 0 {
		return
	}
	if top := c.dialect.MaxOutput; top > 0 {
		limit = min(limit, top)
	}
	if c.dialect.Limit == MaxCompletionTokens {
		wire.MaxCompletionTokens = &limit
	} else {
		wire.MaxTokens = &limit
	}
}

// setEffort writes how much to think, and reports whether the model is going to think, as far as this is known: where
// nothing is said, it may.
func (c *Client) setEffort(wire *openai.ChatRequest, effort string) bool {
	d := &c.dialect
	on := true
	switch effort = strings.ToLower(effort); effort {
	case "", "auto":
		return true
	case "none", "off", "disabled":
		if d.AlwaysThinks {
			return true
		}
		on = false
	}
	if effort == "on" || effort == "enabled" { // with the amount that the model chooses
		effort = ""
	}
	var word *openai.ReasoningEffort
	if on && effort != "" {
		word = new(openai.ReasoningEffort(d.level(effort)))
	}
	switch d.Effort {
	case EffortWord, EffortOptions:
		if !on {
			word = new(openai.ReasoningEffortNone)
		}
		switch {
		case word == nil && d.Effort == EffortOptions:
			wire.Reasoning = &openai.ReasoningOptions{Enabled: new(true)}
		case d.Effort == EffortOptions:
			wire.Reasoning = &openai.ReasoningOptions{Effort: word}
		default:
			wire.ReasoningEffort = word
		}
	case EffortThinking, EffortSwitch, EffortAdaptive:
		kind := openai.ThinkingTypeEnabled
		switch {
		case !on:
			kind = openai.ThinkingTypeDisabled
		case d.Effort == EffortAdaptive:
			kind = openai.ThinkingTypeAdaptive
		}
		if !d.AlwaysThinks {
			wire.Thinking = &openai.Thinking{Type: kind}
		}
		if d.Effort == EffortThinking {
			wire.ReasoningEffort = word
		}
	case EffortEnable:
		wire.EnableThinking = &on
		wire.ReasoningEffort = word
	}
	return on
}

func (c *Client) message(m *model.Message, thinking bool) openai.Message {
	switch m.Role {
	case model.Assistant:
		return c.assistant(m, thinking)
	case model.Tool:
		wire := &openai.ToolMessage{ToolCallID: c.callID(m.CallID), Content: m.Text}
		if c.dialect.ToolName {
			wire.Name = &m.Name
		}
		return wire
	default:
		return &openai.UserMessage{Content: openai.UserContentText(m.Text)}
	}
}

func (c *Client) assistant(m *model.Message, thinking bool) *openai.AssistantMessage {
	var wire openai.AssistantMessage
	if m.Text != "" || len(m.Calls) == 0 {
		wire.Content = openai.AssistantContentText(m.Text) // else null: some refuse an empty text beside calls
	}
	thought := m.Thought
	if c.cfg.Origin != "" && m.Origin != "" && m.Origin != c.cfg.Origin {
		thought = ""
	}
	switch {
	case c.dialect.Replay == ReplayContent && thinking:
		// Also when it is empty: DeepSeek refuses a message without the member, and takes an empty one.
		wire.ReasoningContent = &thought
	case c.dialect.Replay == ReplayParts && thought != "":
		parts := openai.AssistantContentParts{&openai.ThinkingPart{Thinking: []openai.ThinkingText{&openai.TextPart{Text: thought}}}}
		if m.Text != "" {
			parts = append(parts, &openai.TextPart{Text: m.Text})
		}
		wire.Content = parts
	}
	for _, call := range m.Calls {
		args := string(call.Args)
		if args == "" {
			args = "{}"
		}
		to := openai.ToolCall{ID: c.callID(call.ID), Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: call.Name, Arguments: args}}
		if c.dialect.CallExtra {
			to.ExtraContent = call.Extra
		}
		wire.ToolCalls = append(wire.ToolCalls, to)
	}
	return &wire
}

// callID is an id in the form that the dialect takes: the id itself, or nine characters made from it, the same each time and
// on both sides of the pair.
func (c *Client) callID(id string) string {
	if c.dialect.CallID == AnyID || len(id) == 9 && strings.Trim(id, letters) == "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	var nine [9]byte
	for i := range nine {
		nine[i] = letters[int(sum[i])%len(letters)]
	}
	return string(nine[:])
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// addExtra writes the request with the configured members at its end, in alphabetical order. They win over ours of the same
// name: the user knows his endpoint.
func (c *Client) addExtra(wire *openai.ChatRequest) []byte {
	if len(c.cfg.ExtraBody) == 0 {
		return wire.AppendJSON(nil)
	}
	names := slices.Sorted(maps.Keys(c.cfg.ExtraBody))
	for _, name := range names {
		switch name {
		case "reasoning":
			wire.Reasoning = nil
		case "enable_thinking":
			wire.EnableThinking = nil
		case "tool_stream":
			wire.ToolStream = nil
		}
	}
	body := wire.AppendJSON(nil)
	body = body[:len(body)-1]
	for _, name := range names {
		key, _ := json.Marshal(name)
		body = append(append(append(append(body, ','), key...), ':'), c.cfg.ExtraBody[name]...)
	}
	return append(body, '}')
}
