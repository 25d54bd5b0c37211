package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/session"
)

// StoredSession is one session of the store, as a list shows it.
type StoredSession struct {
	ID      string    `json:"sessionId"`
	CWD     string    `json:"cwd"`
	Title   string    `json:"title"`
	Updated time.Time `json:"updatedAt"`
}

// Stored lists the sessions that were prompted, the latest first; cwd "" is
// everywhere.
func (a *Agent) Stored(cwd string) ([]StoredSession, error) {
	list, err := a.stored(cwd, func(ledger.Summary) bool { return false })
	var out []StoredSession
	for _, s := range list {
		out = append(out, StoredSession{s.ID, s.CWD, s.Title, s.Updated})
	}
	return out, err
}

// FindStored returns the session whose id is, or alone begins with, the prefix.
func (a *Agent) FindStored(prefix string) (string, error) {
	store, err := a.store()
	if err != nil {
		return "", err
	}
	list, err := store.List()
	if err != nil {
		return "", err
	}
	var found []string
	for _, s := range list {
		if s.ID == prefix {
			return s.ID, nil
		}
		if prefix != "" && strings.HasPrefix(s.ID, prefix) {
			found = append(found, s.ID)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("there is no session %q; `reasonix sessions list` shows them", prefix)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%q begins more than one session: %s", prefix, strings.Join(found, ", "))
}

// DeleteStored removes a session for good. One that a process has open is an
// error that names it.
func (a *Agent) DeleteStored(id string) error {
	store, err := a.store()
	if err != nil {
		return err
	}
	return store.Delete(id)
}

// ExportStored writes a session's records, one JSON object a line: seq, time,
// kind and data. It also works while a process has the session open.
func (a *Agent) ExportStored(w io.Writer, id string) error {
	for r, err := range a.records(id) {
		if err != nil {
			return err
		}
		line, err := json.Marshal(struct {
			Seq  uint64          `json:"seq"`
			Time time.Time       `json:"time"`
			Kind string          `json:"kind"`
			Data json.RawMessage `json:"data"`
		}{r.Seq, r.Time, r.Kind, r.Data})
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// ShowStored writes a session as Markdown, for people. Nothing of it can steer a
// terminal.
func (a *Agent) ShowStored(w io.Writer, id string) error {
	out := &storyWriter{w: w, ends: 2}
	for e, err := range session.Events(a.records(id)) {
		if err != nil {
			return err
		}
		out.event(e)
		if out.err != nil {
			return out.err
		}
	}
	if out.ends == 0 {
		out.print("\n")
	}
	return out.err
}

func (a *Agent) records(id string) iter.Seq2[ledger.Record, error] {
	store, err := a.store()
	if err != nil {
		return func(yield func(ledger.Record, error) bool) { yield(ledger.Record{}, err) }
	}
	return func(yield func(ledger.Record, error) bool) {
		for r, err := range store.Read(id, 1) {
			if errors.Is(err, ledger.ErrUnknown) {
				err = fmt.Errorf("session %s: %w", id, err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// storyWriter tells a session's events one after the other, with one blank line
// between its blocks. Pieces of text of one kind make one block.
type storyWriter struct {
	w     io.Writer
	piece string // the kind of text that goes on
	ends  int    // line ends at the end of what is written; 2 is a blank line
	err   error
}

func (s *storyWriter) event(e event.Event) {
	switch e := e.(type) {
	case event.Opened:
		s.line("# Session in %s\n\nmodel %s, mode %s, permissions %s", e.CWD, e.Model, e.Mode, e.Preset)
	case event.Prompt:
		s.line("## %s", e.Text)
	case event.Command:
		s.line("## %s", e.Input)
	case event.Thought:
		s.text("thought", "> ", e.Text)
	case event.Text:
		s.text("text", "", e.Text)
	case event.Output:
		s.line("%s", e.Text)
	case event.Plan:
		s.block()
		for _, p := range e.Entries {
			mark := " "
			if p.Status == "completed" {
				mark = "x"
			}
			s.print("- [%s] %s\n", mark, p.Content)
		}
	case event.ToolCall:
		s.line("- **%s**", e.Title)
	case event.ToolEnd:
		outcome := "completed"
		if e.Failed {
			outcome = "failed: " + strings.SplitN(e.Text, "\n", 2)[0]
		}
		s.print("  %s\n", outcome)
		for _, d := range e.Diffs {
			s.print("  changed %s (%d bytes)\n", d.Path, len(d.New))
		}
	case event.Set:
		for _, axis := range []struct {
			name  string
			value *string
		}{{"model", e.Model}, {"effort", e.Effort}, {"permissions", e.Preset}, {"mode", e.Mode}} {
			if axis.value != nil {
				s.line("*%s: %s*", axis.name, *axis.value)
			}
		}
	case event.Warning:
		s.line("[warning] %s", e.Text)
	case event.Done:
		if e.Outcome != event.EndTurn {
			s.line("*ended: %s %s*", e.Outcome, e.Reason)
		}
	}
}

// block begins a new block.
func (s *storyWriter) block() {
	s.piece = ""
	for s.ends < 2 {
		s.print("\n")
	}
}

func (s *storyWriter) text(kind, prefix, text string) {
	if s.piece != kind {
		s.block()
		s.print("%s", prefix)
	}
	s.piece = kind
	s.print("%s", strings.ReplaceAll(text, "\n", "\n"+prefix))
}

func (s *storyWriter) line(format string, a ...any) {
	s.block()
	s.print(format+"\n", a...)
}

// print takes out what would steer a terminal.
func (s *storyWriter) print(format string, a ...any) {
	text := strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, fmt.Sprintf(format, a...))
	if s.err == nil && text != "" {
		_, s.err = io.WriteString(s.w, text)
		if rest := strings.TrimRight(text, "\n"); rest != "" {
			s.ends = 0
			text = text[len(rest):]
		}
		s.ends += len(text)
	}
}
