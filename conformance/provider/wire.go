package provider

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/acpkit/acpkit/generated/script"
)

// wire is one protocol between an agent and a model. It turns a reply into events and knows nothing of bytes, time and
// connections.
type wire interface {
	// name is how the record calls it.
	name() string
	// accepts reports whether a POST to path is a model call of this wire.
	accepts(path string) bool
	// read finds in a request's body what a choice of reply may depend on. It takes what it can: the body may be wrong.
	read(path string, body []byte) call
	// stream is a reply as events: the output, what closes it, and the end marker, if the wire has one.
	stream(c *call, r *Reply) (output, closing []event, end string)
	// whole is a reply as one JSON value, for a call that asks for no stream.
	whole(c *call, r *Reply) []byte
	// failure is an error value of this wire.
	failure(status int, message string) []byte
}

// wires are all protocols; the first that accepts a path has it.
func wires() []wire { return []wire{chat{}} }

// call is a model call, as far as it matters here.
type call struct {
	number   int    // of the request
	model    string // as asked for
	stream   bool
	usage    bool      // the client wants token counts in the stream
	messages []message // in order
}

// message is one message of a call's history.
type message struct {
	role string // "user", "assistant" and others; a message of tool results is no user message
	text string
}

// event is one event of a stream.
type event struct {
	name  string // for the field event; "" for wires that do without
	data  []byte
	paced bool // part of the thought, text or calls: delayMs comes before it
}

// marshal is JSON as model servers write it: characters stand for themselves.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Only raw JSON of a Handler's reply can be wrong, and check has looked at that of scripts.
		return []byte(`{"error":{"message":` + strings.TrimSpace(string(marshal(err.Error()))) + `}}`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// merge puts the members of extra, a JSON object, into an object.
func merge(object, extra []byte) []byte {
	if len(extra) == 0 {
		return object
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || json.Unmarshal(extra, &members) != nil {
		return object
	}
	return marshal(members)
}

// pieces cuts a text into n parts of nearly equal length, fewer when it has fewer characters; 0 counts as 1.
func pieces(text string, n uint32) []string {
	runes := []rune(text)
	count := min(max(int(n), 1), len(runes))
	parts := make([]string, 0, count)
	for i := range count {
		parts = append(parts, string(runes[len(runes)*i/count:len(runes)*(i+1)/count]))
	}
	return parts
}

// counts is the JSON of a reply's token counts when part of total pieces have been sent; nil without any.
func counts(r *Reply, part, total int) json.RawMessage {
	if r.Usage == nil {
		return r.UsageRaw
	}
	u := r.Usage
	output := u.Output * uint64(part) / uint64(total)
	reasoning := min(u.Reasoning, output)
	if or(r.UsageShape, script.UsageShapeOpenai) == script.UsageShapeAnthropic {
		return marshal(struct {
			Input   uint64 `json:"input_tokens"`
			Output  uint64 `json:"output_tokens"`
			Read    uint64 `json:"cache_read_input_tokens"`
			Created uint64 `json:"cache_creation_input_tokens"`
		}{u.Input - min(u.Cached, u.Input), output, u.Cached, 0})
	}
	type promptDetails struct {
		Cached uint64 `json:"cached_tokens"`
	}
	type completionDetails struct {
		Reasoning uint64 `json:"reasoning_tokens"`
	}
	v := struct {
		Prompt     uint64            `json:"prompt_tokens"`
		Completion uint64            `json:"completion_tokens"`
		Total      uint64            `json:"total_tokens"`
		Hit        *uint64           `json:"prompt_cache_hit_tokens,omitempty"`
		Miss       *uint64           `json:"prompt_cache_miss_tokens,omitempty"`
		P          promptDetails     `json:"prompt_tokens_details"`
		C          completionDetails `json:"completion_tokens_details"`
	}{Prompt: u.Input, Completion: output, Total: u.Input + output, P: promptDetails{u.Cached}, C: completionDetails{reasoning}}
	if r.UsageShape != nil && *r.UsageShape == script.UsageShapeDeepseek {
		v.Hit, v.Miss = new(u.Cached), new(u.Input-min(u.Cached, u.Input))
	}
	return marshal(v)
}
