package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/generated/acp"
)

const (
	pageSize = 50
	maxPages = 16 // listings that can be continued, the latest
)

// sessionList lists what is stored and what is open, the latest first, in pages.
// What was never prompted is listed as long as it is open. Errors: -32602 for a
// relative cwd and for a cursor that no page gave, -32603 when the store cannot be
// read. Source: session list; seed 58, 59.
func (c *connection) sessionList(_ context.Context, p *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	const method = acp.MethodSessionList
	cwd := ""
	if p.CWD != nil {
		if !filepath.IsAbs(*p.CWD) {
			return nil, badParam(method, "/cwd", "cwd %q is not an absolute path", *p.CWD)
		}
		cwd = filepath.Clean(*p.CWD)
	}
	if p.Cursor != nil && *p.Cursor != "" {
		list, ok := c.pages.take(*p.Cursor)
		if !ok {
			return nil, badParam(method, "/cursor", "the cursor is of no page that this process gave, or too old; start again without one")
		}
		return c.page(list), nil
	}
	list, err := c.listed(cwd)
	if err != nil {
		return nil, openError(method, err)
	}
	return c.page(list), nil
}

// listed is the whole list at this moment.
func (a *Agent) stored(cwd string, keep func(ledger.Summary) bool) ([]ledger.Summary, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	list, err := store.List()
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(s ledger.Summary) bool {
		return cwd != "" && filepath.Clean(s.CWD) != cwd || !s.Prompted && !keep(s)
	})
	slices.SortFunc(list, func(a, b ledger.Summary) int { return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID)) })
	return list, nil
}

func (c *connection) listed(cwd string) ([]ledger.Summary, error) {
	return c.stored(cwd, func(s ledger.Summary) bool { return c.sessions.Find(s.ID) != nil })
}

// page answers with the first of the list and keeps the rest for the next page:
// a listing stays as it was when it began, however many sessions come and move.
func (c *connection) page(list []ledger.Summary) *acp.ListSessionsResponse {
	res := &acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	n := min(pageSize, len(list))
	for _, s := range list[:n] {
		res.Sessions = append(res.Sessions, c.info(s))
	}
	if n < len(list) {
		res.NextCursor = new(c.pages.keep(list[n:]))
	}
	return res
}

func (c *connection) info(s ledger.Summary) acp.SessionInfo {
	info := acp.SessionInfo{SessionID: acp.SessionID(s.ID), CWD: s.CWD, UpdatedAt: new(s.Updated.UTC().Format(time.RFC3339Nano))}
	if s.Title != "" {
		info.Title = &s.Title
	}
	if open := c.sessions.Find(s.ID); open != nil {
		info.AdditionalDirectories = open.Dirs
		if n := open.Messages(); n > 0 {
			info.Meta = json.RawMessage(fmt.Sprintf(`{"messageCount":%d}`, n))
		}
	}
	return info
}

// pages holds the rests of listings by their cursors.
type pages struct {
	mu    sync.Mutex
	rests map[string][]ledger.Summary
	order []string
}

func (p *pages) keep(rest []ledger.Summary) (cursor string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rests == nil {
		p.rests = map[string][]ledger.Summary{}
	}
	cursor = uuid.NewString()
	p.rests[cursor] = rest
	if p.order = append(p.order, cursor); len(p.order) > maxPages {
		delete(p.rests, p.order[0])
		p.order = p.order[1:]
	}
	return cursor
}

// take finds a rest; it stays, because a host may ask again.
func (p *pages) take(cursor string) ([]ledger.Summary, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest, ok := p.rests[cursor]
	return rest, ok
}
