package transcript

import "strings"

// chunk is a message that carries nothing but a piece of text, cut open around it so that neighbours can be joined.
// How text is cut into chunks depends on clocks and has its own tests; a golden transcript must not depend on it.
type chunk struct {
	before, after string // the message around the text; neighbours join when both are equal
	text          string // the token of the text without its quotes
}

var chunkKinds = map[string]bool{"agent_message_chunk": true, "agent_thought_chunk": true, "user_message_chunk": true}

// chunkOf returns nil when root is no text chunk, or has any member beyond session, kind, text and message id: a _meta or
// an annotation would be lost in joining. A text with half a surrogate pair is not joined either, since two halves would
// heal each other and hide that a character had been cut. Root is as it was when chunkOf returns.
func chunkOf(root *value) *chunk {
	params := root.get("params")
	update := params.get("update")
	content := update.get("content")
	if !exactly(root, "jsonrpc", "method", "params") || !exactly(params, "sessionId", "update") || !exactly(content, "type", "text") ||
		!exactly(update, "sessionUpdate", "content") && !exactly(update, "sessionUpdate", "content", "messageId") {
		return nil
	}
	method, _ := root.get("method").text()
	kind, _ := update.get("sessionUpdate").text()
	typ, _ := content.get("type").text()
	text := content.get("text")
	if method != "session/update" || !chunkKinds[kind] || typ != "text" || text.kind != '"' || lossy(text.raw) {
		return nil
	}
	const cut = "\x00" // stands in no JSON text
	raw := text.raw
	text.raw = cut
	before, after, _ := strings.Cut(root.String(), cut)
	text.raw = raw
	return &chunk{before: before, after: after, text: raw[1 : len(raw)-1]}
}

// joins reports whether c may follow d on the same line of a transcript.
func (c *chunk) joins(d *chunk) bool {
	return c != nil && d != nil && c.before == d.before && c.after == d.after
}

// joinChunks returns the message that says at once what the chunks, which join each other, say one after the other.
func joinChunks(chunks []*chunk) value {
	var b strings.Builder
	b.WriteString(chunks[0].before + `"`)
	for _, c := range chunks {
		b.WriteString(c.text)
	}
	b.WriteString(`"` + chunks[0].after)
	v, err := parseValue([]byte(b.String()))
	if err != nil {
		panic("transcript: joined chunks: " + err.Error())
	}
	return v
}

// exactly reports whether v is an object with these members, each once, in any order.
func exactly(v *value, names ...string) bool {
	if v == nil || v.kind != '{' || len(v.kids) != len(names) {
		return false
	}
	for _, n := range names {
		if v.get(n) == nil {
			return false
		}
	}
	return true
}
