package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	inMemory = "this session is in memory only; start the agent without --no-persist to keep sessions on disk"
	noLedger = "this session keeps no events; open a new one with session/new"
)

func tooLarge(err error) bool { return errors.Is(err, strconv.ErrRange) }

func (p *page) help() {
	if !p.none() {
		return
	}
	list := p.set.Entries()
	if p.env.Others != nil {
		list = firstOfEach(append(list, p.env.Others()...), func(e Entry) string { return e.Name })
	}
	for _, e := range list {
		p.line("%s: %s", strings.TrimSpace("/"+e.Name+" "+e.Hint), or(e.Description, "(no description)"))
	}
}

func (p *page) status() {
	if !p.none() {
		return
	}
	if p.env.Status == nil {
		p.missing("open a session with session/new or session/load")
		return
	}
	s := p.env.Status()
	p.line("session: %s", s.SessionID)
	p.line("state: %s", or(s.State, "unknown"))
	p.line("phase: %s", or(s.Phase, "unknown"))
	p.line("model: %s", or(s.Model, "none; choose one with /model"))
	p.line("effort: %s", or(s.Effort, "auto"))
	p.line("mode: %s", or(s.Mode, "unknown"))
	p.line("permissions: %s", or(s.Preset, "unknown"))
	p.line("sandbox: %s", or(s.Sandbox, "none"))
	if s.ContextSize == 0 {
		p.line("context: %d tokens used, size unknown", s.ContextUsed)
	} else {
		p.line("context: %d of %d tokens used (%d%%)", s.ContextUsed, s.ContextSize, percent(s.ContextUsed, s.ContextSize))
	}
	p.line("turns: %d", s.Turns)
	t := s.Tokens
	p.line("tokens: input %d (cached %d), output %d (reasoning %d)", t.Input, t.Cached, t.Output, t.Reasoning)
	p.line("cost: %s", or(s.Cost, "unknown; no price is configured for this model"))
}

func percent(part, whole uint64) uint64 { return uint64(float64(part) / float64(whole) * 100) }

func (p *page) session() {
	if !p.none() {
		return
	}
	if p.env.Session == nil {
		p.missing("open a session with session/new or session/load")
		return
	}
	s := p.env.Session()
	p.line("id: %s", s.ID)
	p.line("cwd: %s", s.CWD)
	p.line("additional directories: %s", or(strings.Join(s.Dirs, ", "), "none; the host passes them in session/new"))
	p.line("title: %s", or(s.Title, "none yet; the first prompt gives one"))
	p.line("created: %s", when(s.Created))
	p.line("updated: %s", when(s.Updated))
	p.line("messages: %d", s.Messages)
	p.line("events: %d", s.Events)
	p.line("bytes: %d", s.Bytes)
	p.line("folder: %s", or(s.Folder, "none; "+inMemory))
}

func (p *page) save() {
	if !p.none() {
		return
	}
	if p.env.Save == nil {
		p.missing(inMemory)
		return
	}
	s, err := p.env.Save()
	if err != nil {
		p.failed(err)
		return
	}
	p.line("folder: %s", s.Folder)
	p.line("events: %d", s.Events)
	p.line("checksum of the last: %s", or(s.Checksum, "none, there is no event yet"))
}

func (p *page) sessions() {
	if !p.none() {
		return
	}
	if p.env.Sessions == nil {
		p.missing(inMemory)
		return
	}
	list, err := p.env.Sessions()
	if err != nil {
		p.failed(err)
		return
	}
	if len(list) == 0 {
		p.line("none stored for this working directory; a session is stored with its first prompt")
		return
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b StoredSession) int { return b.Updated.Compare(a.Updated) })
	current := ""
	if p.env.Session != nil {
		current = p.env.Session().ID
	}
	for _, s := range list[:min(len(list), maxList)] {
		mark := ""
		if s.ID == current {
			mark = " (this one)"
		}
		p.line("%s%s, updated %s: %s", s.ID, mark, when(s.Updated), or(oneLine(s.Title, maxText), "(no title)"))
	}
	if more := len(list) - maxList; more > 0 {
		p.line("and %d older", more)
	}
}

func (p *page) history() {
	n, ok := p.count()
	if !ok {
		return
	}
	if p.env.History == nil {
		p.missing(noLedger)
		return
	}
	list, err := p.env.History(n)
	if err != nil {
		p.failed(err)
		return
	}
	if len(list) == 0 {
		p.line("no messages yet; send a prompt")
	}
	for _, m := range last(list, n) {
		p.line("%s: %s", m.Role, or(oneLine(m.Text, maxText), "(no text)"))
	}
}

func (p *page) events() {
	n, ok := p.count()
	if !ok {
		return
	}
	if p.env.Events == nil {
		p.missing(noLedger)
		return
	}
	list, err := p.env.Events(n)
	if err != nil {
		p.failed(err)
		return
	}
	if len(list) == 0 {
		p.line("no events yet; send a prompt")
	}
	for _, e := range last(list, n) {
		p.line("%d, %s, %s, %d bytes", e.Seq, when(e.Time), e.Kind, e.Size)
	}
}

func (p *page) compacts() {
	n, ok := p.count()
	if !ok {
		return
	}
	if p.env.Compactions == nil {
		p.missing("this session does not compact its history; open a new one with session/new")
		return
	}
	list, err := p.env.Compactions(n)
	if err != nil {
		p.failed(err)
		return
	}
	if len(list) == 0 {
		p.line("none yet; the history is compacted when the context is nearly full")
	}
	for _, c := range last(list, n) {
		p.line("%s: messages %d -> %d, tokens %d -> %d",
			when(c.Time), c.MessagesBefore, c.MessagesNow, c.TokensBefore, c.TokensNow)
	}
}

func (p *page) tree() {
	if !p.none() {
		return
	}
	if p.env.Tree == nil {
		p.missing(noLedger)
		return
	}
	turns, err := p.env.Tree()
	if err != nil {
		p.failed(err)
		return
	}
	if len(turns) == 0 {
		p.line("no turns yet; send a prompt")
		return
	}
	if more := len(turns) - maxList; more > 0 {
		p.line("%d earlier turns", more)
	}
	for i, t := range turns {
		if i < len(turns)-maxList {
			continue
		}
		p.line("%d. %s [%s]", i+1, or(oneLine(t.Prompt, maxText), "(no text)"), or(t.Outcome, "running"))
		for _, s := range t.Steps[:min(len(t.Steps), maxList)] {
			p.step(s)
		}
		if more := len(t.Steps) - maxList; more > 0 {
			p.sub("and %d more", more)
		}
	}
}

func (p *page) step(s Step) {
	text := or(oneLine(s.Text, maxText), "(no text)")
	switch s.Kind {
	case Steer:
		p.sub("steer: %s", text)
	case Compacted:
		p.sub("compacted: %s", text)
	default:
		p.sub("%s [%s]", text, or(s.Outcome, "running"))
	}
}

func (p *page) checkpoint() {
	if !p.none() {
		return
	}
	if p.env.Checkpoint == nil {
		p.missing(noLedger)
		return
	}
	c, err := p.env.Checkpoint()
	if err != nil {
		p.failed(err)
		return
	}
	if c.Set {
		p.line("checkpoint: since %s; /continue-checks goes on from there", when(c.Time))
		for _, m := range c.Missing {
			p.sub("open: %s", m)
		}
	} else {
		p.line("checkpoint: none; one is kept when a turn ends before its final checks are done")
	}
	p.line("last durable event: %s", lastEvent(c.LastSeq))
}

func lastEvent(seq uint64) string {
	if seq == 0 {
		return "none"
	}
	return fmt.Sprint(seq)
}
