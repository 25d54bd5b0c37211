package agent

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-faster/jx"

	"github.com/acpkit/acpkit/agent/internal/ledger"
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

// FindStored returns the id that is, or the only one that begins with, the prefix.
func (a *Agent) FindStored(prefix string) (string, error) {
	if prefix == "" {
		return "", errors.New("a session id is empty")
	}
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
		if strings.HasPrefix(s.ID, prefix) {
			found = append(found, s.ID)
		}
	}
	if isThere(store, prefix) {
		return prefix, nil // damaged, so it is in no list
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("there is no session %q; `reasonix sessions list` shows them", prefix)
	case 1:
		return found[0], nil
	}
	return "", ambiguous(prefix, found)
}

func isThere(store ledger.Store, id string) bool {
	for _, err := range store.Read(id, 1) {
		return !errors.Is(err, ledger.ErrUnknown)
	}
	return false
}

// ambiguous names the first of the sessions that begin with the prefix.
func ambiguous(prefix string, ids []string) error {
	const most = 5
	slices.Sort(ids)
	more := ""
	if len(ids) > most {
		more = fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return fmt.Errorf("%q begins more than one session: %s%s", prefix, strings.Join(ids[:min(most, len(ids))], ", "), more)
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
// kind and data. It also works while a process has the session open. Nothing of it
// can steer a terminal.
func (a *Agent) ExportStored(w io.Writer, id string) error {
	var line jx.Writer
	for r, err := range a.records(id) {
		if err != nil {
			return err
		}
		line.Buf = line.Buf[:0]
		line.RawStr(`{"seq":`)
		line.UInt64(r.Seq)
		line.RawStr(`,"time":"` + r.Time.UTC().Format("2006-01-02T15:04:05.000Z07:00") + `","kind":`)
		line.Str(r.Kind)
		line.RawStr(`,"data":`)
		if r.Data == nil {
			line.Null()
		} else {
			line.Raw(Printable(r.Data))
		}
		line.RawStr("}\n")
		if _, err := w.Write(line.Buf); err != nil {
			return err
		}
	}
	return nil
}

// Printable is JSON of the same meaning that a terminal does not obey. What may
// stand in a string although it is a control, DEL and those above it, becomes an
// escape, and what is not UTF-8 the replacement character.
func Printable(data []byte) []byte {
	var safe []byte
	done := 0
	for i := 0; i < len(data); {
		if data[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		if r < 0xa0 || r == utf8.RuneError && size == 1 {
			safe = fmt.Appendf(append(safe, data[done:i]...), `\u%04x`, r)
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return data
	}
	return append(safe, data[done:]...)
}

// ShowStored writes a session as Markdown, for people. Nothing of it can steer a
// terminal.
func (a *Agent) ShowStored(w io.Writer, id string) error {
	t := transcript{w: w}
	for r, err := range a.records(id) {
		if err != nil {
			return err
		}
		if t.record(id, r); t.err != nil {
			return t.err
		}
	}
	t.end()
	return t.err
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
