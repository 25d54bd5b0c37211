package openai

import (
	"strings"
	"unicode/utf8"

	"github.com/acpkit/acpkit/agent/internal/model"
)

// words hands text and reasoning on: whole characters only, reasoning between <think> tags parted from the text, and no
// markup that should have become a tool call.
type words struct {
	emit      func(model.Delta) error
	thinkTags bool // until it is clear that there are none

	open    [2]string // by kind: the beginning of a character
	state   thinkState
	held    string // text that may be the beginning of a tag or of markup
	last    byte   // of the text before held
	lastWas int    // the kind that came last
	size    int
}

const (
	kindText = iota
	kindThought
)

type thinkState int

const (
	atStart thinkState = iota // of the text: only there a tag opens
	inside                    // of the tags
	behind                    // the closing tag, but white space is not yet over
	over                      // no more tags
)

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	white      = " \t\r\n"
)

// markup is what DeepSeek's models write for a call when the server does not read it.
var markup = []string{"<｜DSML｜tool_calls", "<｜DSML｜function_calls"}

func (w *words) thought(s string) error {
	w.size += len(s)
	if w.state == atStart {
		w.thinkTags = false // there is a member for it
	}
	if w.lastWas == kindText {
		if err := w.flushText(); err != nil {
			return err
		}
	}
	return w.put(kindThought, w.whole(kindThought, s))
}

func (w *words) text(s string) error {
	w.size += len(s)
	if w.lastWas == kindThought && w.state != inside {
		if err := w.rest(kindThought); err != nil {
			return err
		}
	}
	return w.split(w.whole(kindText, s))
}

// split parts reasoning from the text s, behind what was held back.
func (w *words) split(s string) error {
	for s != "" {
		switch {
		case !w.thinkTags || w.state == over:
			return w.guard(s)
		case w.state == atStart:
			s = w.held + s
			w.held = ""
			trimmed := strings.TrimLeft(s, white)
			rest, ok := strings.CutPrefix(trimmed, thinkOpen)
			switch {
			case ok:
				w.state, s = inside, rest
			case strings.HasPrefix(thinkOpen, trimmed) && len(s) < 1<<10: // perhaps; white space may go on for a while
				w.held = s
				return nil
			default:
				w.state = over
			}
		case w.state == inside:
			s = w.held + s
			w.held = ""
			thought, rest, ok := strings.Cut(s, thinkClose)
			if !ok {
				n := heldBytes(s, thinkClose)
				w.held = s[len(s)-n:]
				return w.put(kindThought, s[:len(s)-n])
			}
			w.state = behind
			if err := w.put(kindThought, thought); err != nil {
				return err
			}
			s = rest
		case w.state == behind:
			if s = strings.TrimLeft(s, white); s != "" {
				w.state = over
			}
		}
	}
	return nil
}

// guard passes text on up to markup, which ends the answer. Quoted, it is what people talk about.
func (w *words) guard(s string) error {
	s = w.held + s
	w.held = ""
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '<')
		if i < 0 {
			break
		}
		i += from
		before := w.last
		if i > 0 {
			before = s[i-1]
		}
		if from = i + 1; before == '`' || before == '"' || before == '\'' {
			continue
		}
		for _, m := range markup {
			if strings.HasPrefix(s[i:], m) {
				if err := w.put(kindText, s[:i]); err != nil {
					return err
				}
				return &model.Error{Message: "the provider sent a tool call as raw markup", Transient: true}
			}
			if strings.HasPrefix(m, s[i:]) {
				w.held = s[i:]
			}
		}
		if w.held != "" {
			s = s[:i]
			break
		}
	}
	if s != "" {
		w.last = s[len(s)-1]
	}
	return w.put(kindText, s)
}

// flushText gives out the text that was held back: something else follows it.
func (w *words) flushText() error {
	s := w.held + strings.ToValidUTF8(w.open[kindText], "\uFFFD")
	w.held, w.open[kindText] = "", ""
	kind := kindText
	if w.state == inside {
		kind = kindThought
	}
	return w.put(kind, s)
}

func (w *words) rest(kind int) error {
	s := strings.ToValidUTF8(w.open[kind], "\uFFFD")
	w.open[kind] = ""
	return w.put(kind, s)
}

// end gives out all that was held back.
func (w *words) end() error {
	if err := w.rest(kindThought); err != nil {
		return err
	}
	return w.flushText()
}

func (w *words) put(kind int, s string) error {
	if s == "" {
		return nil
	}
	w.lastWas = kind
	if kind == kindThought {
		return w.emit(model.Delta{Thought: s})
	}
	return w.emit(model.Delta{Text: s})
}

// whole completes characters that were split between pieces, and replaces bytes that are no UTF-8.
func (w *words) whole(kind int, s string) string {
	if w.open[kind] != "" {
		s = w.open[kind] + s
	}
	n := 0
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				n = len(s) - i
			}
			break
		}
	}
	w.open[kind] = s[len(s)-n:]
	return strings.ToValidUTF8(s[:len(s)-n], "\uFFFD")
}

// heldBytes counts the bytes at the end of s that may begin tag.
func heldBytes(s, tag string) int {
	for n := min(len(tag)-1, len(s)); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
