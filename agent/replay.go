package agent

import (
	"bytes"
	"context"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/rpc"
)

// replay shows the session's events again, straight from the ledger. A running
// turn waits meanwhile, so the host sees each event once. The last updates may go
// out no sooner than the next message, which is the answer if not another.
func (c *connection) replay(ctx context.Context, s *session.Session) error {
	s.Show.Lock()
	defer s.Show.Unlock()
	r := replayer{id: acp.SessionID(s.ID), live: s.Busy(), render: func(e event.Event) acp.SessionUpdate { return c.render(e, false) }, send: func(update rpc.Appender) error {
		return c.conn.NotifyMore(ctx, acp.MethodSessionUpdate, update)
	}}
	for rec, err := range s.Log.Read(1) {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = r.record(rec)
		}
		if err != nil {
			return err
		}
	}
	return r.end()
}

// replayer renders events as the live session did, except that a call comes once,
// with how it ended, and that the user's words come too.
type replayer struct {
	id     acp.SessionID
	send   func(rpc.Appender) error // sends the parameters of a session/update
	render func(event.Event) acp.SessionUpdate
	live   bool // a call that has not ended may be running
	call   *event.ToolCall
	pieces map[string]*piece // by the kind of their records
}

func (r *replayer) show(u acp.SessionUpdate) error {
	return r.send(&acp.SessionNotification{SessionID: r.id, Update: u})
}

// record shows what the event of a record shows.
func (r *replayer) record(rec ledger.Record) error {
	if words, ok := event.Verbatim(rec.Kind, rec.Data); ok {
		return r.piece(rec.Kind, words)
	}
	e, err := session.Event(rec)
	if e == nil || err != nil {
		return err
	}
	return r.event(e)
}

// piece shows words as they stand in a record. It makes nothing of them but a copy:
// nine tenths of a replay are pieces, and they would take four times as long.
func (r *replayer) piece(kind string, words []byte) error {
	p := r.pieces[kind]
	if p == nil {
		if r.pieces == nil {
			r.pieces = map[string]*piece{}
		}
		p = newPiece(r.id, kind)
		r.pieces[kind] = p
	}
	p.words = words
	return r.send(p)
}

// piece is a session/update that differs from others only in its words.
type piece struct{ before, words, after []byte }

// newPiece takes what is around the words from an update that render makes.
func newPiece(id acp.SessionID, kind string) *piece {
	const words = "\uE000" // not in an id
	update := acp.SessionNotification{SessionID: id, Update: render(event.Piece(kind, words))}
	before, after, _ := bytes.Cut(update.AppendJSON(nil), []byte(words))
	return &piece{before: before, after: after}
}

// AppendJSON writes the update.
func (p *piece) AppendJSON(b []byte) []byte {
	return append(append(append(b, p.before...), p.words...), p.after...)
}

func (r *replayer) event(e event.Event) error {
	switch e.(type) {
	case event.Prompt, event.Command, event.ToolCall, event.Done:
		// A call goes on no further than its turn, however that ended: a process
		// that was killed and a full disk leave no Done behind.
		if err := r.broken(); err != nil {
			return err
		}
	}
	switch e := e.(type) {
	case event.Prompt:
		return r.show(&acp.SessionUpdateUserMessageChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: e.Text}}})
	case event.Steer:
		return r.show(&acp.SessionUpdateUserMessageChunk{ContentChunk: acp.ContentChunk{Content: &acp.TextContent{Text: e.Text}}})
	case event.ToolCall:
		r.call = &e
		return nil
	case event.ToolEnd:
		if r.call == nil || r.call.ID != e.ID {
			break
		}
		call := toolCall(*r.call)
		end := toolEnd(e)
		r.call = nil
		call.Status, call.Content = end.Status, end.Content
		return r.show(call)
	}
	if u := r.render(e); u != nil {
		return r.show(u)
	}
	return nil
}

// broken shows a call that never ended.
func (r *replayer) broken() error {
	if r.call == nil {
		return nil
	}
	call := toolCall(*r.call)
	call.Status = new(acp.ToolCallStatusFailed)
	r.call = nil
	return r.show(call)
}

// end shows what is still open.
func (r *replayer) end() error {
	if r.call != nil && r.live {
		return r.show(toolCall(*r.call))
	}
	return r.broken()
}
