package host

import (
	"github.com/acpkit/acpkit/generated/acp"
)

// updateSize is about what an update takes beside its own bytes.
const updateSize = 256

// record keeps updates in their order, up to a bound in bytes. Adjacent pieces
// of one text become one update: an agent may send a piece for each token.
type record struct {
	max     int
	size    int
	updates []acp.SessionUpdate
	omitted int // beyond max

	// The last update while it grows: its text is joined when it has ended, not
	// again for each piece.
	grows *acp.TextContent
	text  []byte
}

// add appends an update that came as size bytes.
func (r *record) add(u acp.SessionUpdate, size int) {
	if r.omitted > 0 || r.max < 0 { // the record has no holes
		r.omitted++
		return
	}
	more := plainPiece(u)
	joins := more != nil && r.follows(u, more)
	if joins {
		size = len(more.Content.(*acp.TextContent).Text)
	} else {
		size += updateSize
	}
	if size > r.max-r.size {
		r.omitted++
		return
	}
	r.size += size
	if joins {
		r.join(more)
		return
	}
	r.seal()
	r.updates = append(r.updates, u)
}

// follows reports whether the piece more, which is u's, goes on with the last
// update.
func (r *record) follows(u acp.SessionUpdate, more *acp.ContentChunk) bool {
	if len(r.updates) == 0 {
		return false
	}
	last := r.updates[len(r.updates)-1]
	if kindOf(u) != kindOf(last) {
		return false
	}
	c := plainPiece(last)
	return c != nil && (c.MessageID == more.MessageID || c.MessageID != nil && more.MessageID != nil && *c.MessageID == *more.MessageID)
}

func (r *record) join(more *acp.ContentChunk) {
	if r.grows == nil {
		// A copy: the handler may have kept the first piece.
		last := len(r.updates) - 1
		first := plainPiece(r.updates[last])
		r.grows = &acp.TextContent{}
		r.text = append(r.text[:0], first.Content.(*acp.TextContent).Text...)
		c := acp.ContentChunk{Content: r.grows, MessageID: first.MessageID}
		switch r.updates[last].(type) {
		case *acp.SessionUpdateAgentMessageChunk:
			r.updates[last] = &acp.SessionUpdateAgentMessageChunk{ContentChunk: c}
		case *acp.SessionUpdateAgentThoughtChunk:
			r.updates[last] = &acp.SessionUpdateAgentThoughtChunk{ContentChunk: c}
		case *acp.SessionUpdateUserMessageChunk:
			r.updates[last] = &acp.SessionUpdateUserMessageChunk{ContentChunk: c}
		}
	}
	r.text = append(r.text, more.Content.(*acp.TextContent).Text...)
}

func (r *record) seal() {
	if r.grows != nil {
		r.grows.Text = string(r.text)
		r.grows = nil
	}
}

// take returns what is recorded and begins anew.
func (r *record) take() (updates []acp.SessionUpdate, omitted int) {
	r.seal()
	updates, omitted = r.updates, r.omitted
	*r = record{max: r.max}
	return updates, omitted
}

// pieceKind tells the kinds of pieces apart.
type pieceKind int

const (
	noPiece pieceKind = iota
	message
	thought
	user
)

func kindOf(u acp.SessionUpdate) pieceKind {
	switch u.(type) {
	case *acp.SessionUpdateAgentMessageChunk:
		return message
	case *acp.SessionUpdateAgentThoughtChunk:
		return thought
	case *acp.SessionUpdateUserMessageChunk:
		return user
	}
	return noPiece
}

// plainPiece returns the chunk of an update that is text and nothing else;
// joining others would lose what they have beside it.
func plainPiece(u acp.SessionUpdate) *acp.ContentChunk {
	var c *acp.ContentChunk
	switch u := u.(type) {
	case *acp.SessionUpdateAgentMessageChunk:
		c = &u.ContentChunk
	case *acp.SessionUpdateAgentThoughtChunk:
		c = &u.ContentChunk
	case *acp.SessionUpdateUserMessageChunk:
		c = &u.ContentChunk
	default:
		return nil
	}
	t, ok := c.Content.(*acp.TextContent)
	if !ok || c.Meta != nil || t.Annotations != nil || t.Meta != nil {
		return nil
	}
	return c
}
