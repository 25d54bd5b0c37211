package provider

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/acpkit/acpkit/generated/script"
)

// chat is the OpenAI chat completions wire, with the members that other vendors put into it.
type chat struct{}

func (chat) name() string { return "chat" }

func (chat) accepts(path string) bool { return strings.HasSuffix(path, "/chat/completions") }

func (chat) read(_ string, body []byte) call {
	var in struct {
		Model         string
		Stream        bool
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(body, &in) // what does not fit stays zero
	c := call{model: in.Model, stream: in.Stream, usage: in.StreamOptions.IncludeUsage}
	for _, m := range in.Messages {
		c.messages = append(c.messages, message{role: m.Role, text: contentText(m.Content)})
	}
	return c
}

// contentText is the text of a content, which is a string or a list of parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(raw, &parts)
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

// What a chunk is made of. Members are in the order in which servers send them.
type (
	chatChunk struct {
		ID      string          `json:"id"`
		Object  string          `json:"object"`
		Created int             `json:"created"`
		Model   string          `json:"model"`
		Choices []chatChoice    `json:"choices"`
		Usage   json.RawMessage `json:"usage,omitempty"`
		Groq    *chatGroq       `json:"x_groq,omitempty"`
	}
	chatGroq struct {
		Usage json.RawMessage `json:"usage"`
	}
	chatChoice struct {
		Index   int             `json:"index"`
		Delta   *chatDelta      `json:"delta,omitempty"`
		Message *chatDelta      `json:"message,omitempty"`
		Finish  *string         `json:"finish_reason"`
		Usage   json.RawMessage `json:"usage,omitempty"`
	}
	chatDelta struct {
		Role             string            `json:"role,omitempty"`
		ReasoningContent *string           `json:"reasoning_content,omitempty"`
		Reasoning        *string           `json:"reasoning,omitempty"`
		Content          any               `json:"content,omitempty"`
		ToolCalls        []json.RawMessage `json:"tool_calls,omitempty"`
	}
	chatPart struct {
		Type     string     `json:"type"`
		Text     string     `json:"text,omitempty"`
		Thinking []chatPart `json:"thinking,omitempty"`
	}
)

func (chat) stream(c *call, r *Reply) (output, closing []event, end string) {
	deltas := append([]*chatDelta{{Role: "assistant", Content: ""}}, chatOutput(r)...)
	out := make([]chatChunk, len(deltas))
	for i, d := range deltas {
		out[i] = c.chunk(d)
	}
	var rest []chatChunk
	last := func() *chatChunk { // the last chunk with a choice
		if len(rest) > 0 {
			return &rest[0]
		}
		return &out[len(out)-1]
	}
	finish := finishReason(r)
	switch on := or(r.FinishOn, script.FinishOnOwn); on {
	case script.FinishOnOwn, script.FinishOnEvery:
		rest = append(rest, c.chunk(&chatDelta{}))
		rest[0].Choices[0].Finish = &finish
		for i := range out {
			if on == script.FinishOnEvery {
				out[i].Choices[0].Finish = &finish
			}
		}
	case script.FinishOnLast:
		out[len(out)-1].Choices[0].Finish = &finish
	}
	if r.Error != nil {
		closing = append(closing, event{data: marshal(struct {
			Error json.RawMessage `json:"error"`
		}{r.Error})})
		rest = nil
	} else if usage := counts(r, 1, 1); usage != nil {
		switch or(r.UsageOn, script.UsageOnOwn) {
		case script.UsageOnOwn:
			extra := c.chunk(nil)
			extra.Usage = usage
			rest = append(rest, extra)
		case script.UsageOnLast:
			last().Usage = usage
		case script.UsageOnChoice:
			last().Choices[0].Usage = usage
		case script.UsageOnXGroq:
			last().Groq = &chatGroq{usage}
		case script.UsageOnEvery:
			for i := range out {
				out[i].Usage = counts(r, i+1, len(out)+1)
			}
			for i := range rest {
				rest[i].Usage = usage
			}
		}
	}
	for i, chunk := range out {
		output = append(output, event{data: c.encode(chunk, r), paced: i > 0})
	}
	for _, chunk := range rest {
		closing = append(closing, event{data: c.encode(chunk, r)})
	}
	return output, closing, "[DONE]"
}

func (c *call) chunk(d *chatDelta) chatChunk {
	chunk := chatChunk{ID: fmt.Sprintf("chatcmpl-%d", c.number), Object: "chat.completion.chunk", Created: 1, Model: c.model, Choices: []chatChoice{}}
	if d != nil {
		chunk.Choices = append(chunk.Choices, chatChoice{Delta: d})
	}
	if c.usage {
		chunk.Usage = json.RawMessage("null") // who asks for token counts gets the member in every chunk
	}
	return chunk
}

func (c *call) encode(chunk chatChunk, r *Reply) []byte { return merge(marshal(chunk), r.Extra) }

func finishReason(r *Reply) string {
	if r.Finish == nil && len(r.Tools) > 0 {
		return string(script.FinishReasonToolCalls)
	}
	return string(or(r.Finish, script.FinishReasonStop))
}

// chatOutput is the thought, the text and the calls of a reply, each in its pieces.
func chatOutput(r *Reply) []*chatDelta {
	var deltas []*chatDelta
	think, as := or(r.Think, ""), or(r.ThinkAs, script.ThinkAsReasoningContent)
	if think != "" && as == script.ThinkAsTag {
		think = "<think>" + think + "</think>"
	}
	for range max(or(r.Repeat, 1), 1) {
		for _, piece := range pieces(think, or(r.Chunks, 1)) {
			deltas = append(deltas, thinkDelta(piece, as, r.ContentList))
		}
	}
	for range max(or(r.Repeat, 1), 1) {
		for _, piece := range pieces(or(r.Text, ""), or(r.Chunks, 1)) {
			deltas = append(deltas, &chatDelta{Content: content(piece, r.ContentList)})
		}
	}
	for _, piece := range callPieces(r) {
		deltas = append(deltas, &chatDelta{ToolCalls: []json.RawMessage{piece}})
	}
	return deltas
}

func thinkDelta(piece string, as script.ThinkAs, list bool) *chatDelta {
	switch as {
	case script.ThinkAsReasoning:
		return &chatDelta{Reasoning: &piece}
	case script.ThinkAsBoth:
		return &chatDelta{ReasoningContent: &piece, Reasoning: &piece}
	case script.ThinkAsList:
		return &chatDelta{Content: []chatPart{{Type: "thinking", Thinking: []chatPart{{Type: "text", Text: piece}}}}}
	case script.ThinkAsTag:
		return &chatDelta{Content: content(piece, list)}
	}
	return &chatDelta{ReasoningContent: &piece}
}

func content(text string, list bool) any {
	if list {
		return []chatPart{{Type: "text", Text: text}}
	}
	return text
}

func (chat) whole(c *call, r *Reply) []byte {
	if r.Error != nil {
		return marshal(map[string]json.RawMessage{"error": r.Error})
	}
	m := &chatDelta{Role: "assistant", Content: content(or(r.Text, ""), r.ContentList)}
	if r.Think != nil {
		switch as := or(r.ThinkAs, script.ThinkAsReasoningContent); as {
		case script.ThinkAsTag:
			m.Content = content("<think>"+*r.Think+"</think>"+or(r.Text, ""), r.ContentList)
		case script.ThinkAsList:
			m.Content = append(thinkDelta(*r.Think, as, false).Content.([]chatPart), chatPart{Type: "text", Text: or(r.Text, "")})
		default:
			d := thinkDelta(*r.Think, as, false)
			m.ReasoningContent, m.Reasoning = d.ReasoningContent, d.Reasoning
		}
	}
	for i := range r.Tools {
		t := r.Tools[i]
		t.Whole, t.NoIndex = true, t.NoIndex || t.Index == nil
		m.ToolCalls = append(m.ToolCalls, callOf(&t, i)...)
	}
	chunk := c.chunk(nil)
	chunk.Object, chunk.Usage = "chat.completion", counts(r, 1, 1)
	finish := finishReason(r)
	choice := chatChoice{Message: m}
	if or(r.FinishOn, script.FinishOnOwn) != script.FinishOnNever {
		choice.Finish = &finish
	}
	chunk.Choices = append(chunk.Choices, choice)
	return c.encode(chunk, r)
}

func (chat) failure(status int, text string) []byte {
	kind := "server_error"
	switch {
	case status == 401:
		kind = "authentication_error"
	case status == 429:
		kind = "rate_limit_error"
	case status < 500:
		kind = "invalid_request_error"
	}
	return []byte(fmt.Sprintf(`{"error":{"message":%s,"type":%q,"param":null,"code":null}}`, marshal(text), kind))
}
