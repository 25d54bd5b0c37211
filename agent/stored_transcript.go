package agent

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/aymanbagabas/go-udiff"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/ledger"
	"github.com/acpkit/acpkit/agent/internal/tool"
)

const (
	shortResult = 10 // lines of a call's result
	shortDiff   = 40 // lines of a diff
)

// transcript writes events as Markdown while they come. It keeps no more than the
// calls that have not ended. Pieces of text of one kind make one block, and
// between blocks is one blank line.
type transcript struct {
	w   io.Writer
	err error // of w; nothing is written after it

	cwd     string
	calls   []event.ToolCall // announced, and not ended
	running bool             // inside a turn
	unknown int              // records that cannot be shown

	streaming string // the kind of the text that is being written, "" between blocks
	ends      string // of what was written, at most the last two bytes; "" at the start
}

func (t *transcript) write(s string) {
	if s == "" || t.err != nil {
		return
	}
	_, t.err = io.WriteString(t.w, s)
	tail := t.ends + s[max(0, len(s)-2):]
	t.ends = tail[max(0, len(tail)-2):]
}

// gap ends what was written before with one blank line.
func (t *transcript) gap() {
	t.streaming = ""
	for t.err == nil && t.ends != "" && t.ends != "\n\n" {
		t.write("\n")
	}
}

// block writes a paragraph.
func (t *transcript) block(format string, a ...any) {
	t.gap()
	t.write(fmt.Sprintf(format, a...) + "\n")
}

// record writes one record. A record that cannot be read is named in its place.
func (t *transcript) record(id string, r ledger.Record) {
	e, err := event.Decode(r.Kind, r.Data)
	if err != nil {
		t.block("**Record %d cannot be read:** %s", r.Seq, oneLine(err.Error(), ""))
		return
	}
	switch e := e.(type) {
	case nil:
		t.unknown++
	case event.Opened:
		t.opened(id, r, e)
	case event.Set:
		t.set(e)
	case event.Prompt:
		t.begin(r, e.Text)
	case event.Command:
		t.begin(r, e.Input)
	case event.Thought:
		t.thought(e.Text)
	case event.Text:
		t.stream("text", "")
		t.write(visible(e.Text))
	case event.Output:
		if strings.TrimSpace(e.Text) != "" {
			t.fence("", visible(e.Text))
		}
	case event.Plan:
		t.plan(e)
	case event.ToolCall:
		t.calls = append(t.calls, e)
	case event.ToolEnd:
		t.ended(e)
	case event.Retry:
		t.block("*Model call failed: %s*", oneLine(e.Text, ""))
	case event.Steer:
		t.block("**User, meanwhile:**")
		t.block("%s", strings.Trim(visible(e.Text), "\n"))
	case event.Nudge:
		t.block("*The model was told to go on*")
	case event.Goal:
		t.block("*The goal is %s: %s*", oneLine(e.State, "unknown"), oneLine(e.Reason, "no reason given"))
	case event.Compacted:
		t.block("*%d of %d messages were condensed to this:*", e.Dropped, e.Before)
		t.fence("", visible(e.Message))
	case event.Warning:
		t.block("**Warning:** %s", strings.TrimSpace(visible(e.Text)))
	case event.Done:
		t.done(e)
	}
}

func (t *transcript) opened(id string, r ledger.Record, e event.Opened) {
	t.cwd = e.CWD
	t.block("# Session %s", oneLine(id, ""))
	t.block("- Folder: %s\n- Started: %s\n- Model: %s, mode: %s, permissions: %s", oneLine(e.CWD, "unknown"), moment(r.Time),
		oneLine(e.Model, "unknown"), oneLine(e.Mode, "unknown"), oneLine(e.Preset, "unknown"))
}

func (t *transcript) set(e event.Set) {
	for _, axis := range []struct {
		name  string
		value *string
	}{{"Model", e.Model}, {"Effort", e.Effort}, {"Permissions", e.Preset}, {"Mode", e.Mode}} {
		if axis.value != nil {
			t.block("*%s: %s*", axis.name, oneLine(*axis.value, "default"))
		}
	}
}

// begin starts a turn with the user's words.
func (t *transcript) begin(r ledger.Record, words string) {
	t.stop()
	t.running = true
	t.block("## User, %s", moment(r.Time))
	t.block("%s", strings.Trim(visible(words), "\n"))
}

func (t *transcript) done(e event.Done) {
	t.broken()
	t.running = false
	reason := oneLine(e.Reason, "")
	if reason != "" {
		reason = ": " + reason
	}
	t.block("*Turn ended: %s%s*", oneLine(string(e.Outcome), "unknown"), reason)
}

// stop ends a turn whose end was never written down.
func (t *transcript) stop() {
	t.broken()
	if t.running {
		t.block("*Turn not ended*")
	}
}

// end writes what only the end of the session shows.
func (t *transcript) end() {
	t.stop()
	if t.unknown > 0 {
		t.block("*Records of kinds that this version does not know: %d; `reasonix sessions export` has them*", t.unknown)
	}
}

// stream goes on with the text of this kind, or begins it.
func (t *transcript) stream(kind, start string) {
	if t.streaming != kind {
		t.gap()
		t.streaming = kind
		t.write(start)
	}
}

// thought writes a piece of reasoning as a quotation.
func (t *transcript) thought(piece string) {
	t.stream("thought", "> **Thought:** ")
	for line := range strings.Lines(visible(piece)) {
		if strings.HasSuffix(t.ends, "\n") {
			t.write("> ")
		}
		t.write(line)
	}
}

func (t *transcript) plan(p event.Plan) {
	t.block("**Plan**")
	t.gap()
	for _, e := range p.Entries {
		box, note := "[ ]", ""
		switch e.Status {
		case "completed":
			box = "[x]"
		case "in_progress":
			note = " (in progress)"
		}
		t.write("- " + box + " " + oneLine(e.Content, "") + note + "\n")
	}
}

// ended writes a call with how it ended, in one piece, as session/load shows it.
func (t *transcript) ended(e event.ToolEnd) {
	i := slices.IndexFunc(t.calls, func(c event.ToolCall) bool { return c.ID == e.ID })
	if i < 0 {
		return
	}
	call := t.calls[i]
	t.calls = slices.Delete(t.calls, i, i+1)
	outcome := "completed"
	if e.Failed {
		outcome = "failed"
	}
	t.call(call, outcome)
	for _, d := range e.Diffs {
		t.diff(d)
	}
	if e.Failed || len(e.Diffs) == 0 {
		t.fence("", short(visible(e.Text), shortResult))
	}
}

// broken writes the calls that never ended.
func (t *transcript) broken() {
	for _, c := range t.calls {
		t.call(c, "not ended")
	}
	t.calls = nil
}

func (t *transcript) call(c event.ToolCall, outcome string) {
	t.block("**%s** (%s): %s", oneLine(c.Title, "Tool call"), oneLine(c.Tool, "unnamed"), outcome)
}

func (t *transcript) diff(d tool.Diff) {
	path := t.path(d.Path)
	old, from := "", "/dev/null"
	if d.Old != nil {
		old, from = *d.Old, path
	}
	t.fence("diff", short(harmless(udiff.Unified(from, path, old, d.New)), shortDiff))
}

// path is a path relative to the workspace where it lies in it.
func (t *transcript) path(abs string) string {
	rel, err := filepath.Rel(t.cwd, abs)
	if err != nil || !filepath.IsLocal(rel) {
		rel = abs
	}
	return oneLine(rel, "unnamed")
}

// fence writes text as it stands, between fences that are longer than any in it.
func (t *transcript) fence(language, text string) {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	t.block("%s%s\n%s\n%s", marks, language, strings.TrimSuffix(text, "\n"), marks)
}

// short keeps the first lines, and says how many there are beyond.
func short(text string, most int) string {
	end := 0
	for range most {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	if end == len(text) {
		return text
	}
	rest := strings.Count(strings.TrimSuffix(text[end:], "\n"), "\n") + 1
	return fmt.Sprintf("%s… %d more lines", text[:end], rest)
}

// harmless replaces the characters that steer a terminal. Text comes from models,
// files and commands.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, text)
}

// visible is harmless for words, where the line ends of Windows mean nothing more.
func visible(text string) string { return harmless(strings.ReplaceAll(text, "\r", "")) }

// oneLine is text as a part of a line, or other when nothing is in it.
func oneLine(text, other string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, text)
	return cmp.Or(strings.TrimSpace(harmless(text)), other)
}

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }
