package terminal

import (
	"slices"
	"strings"
	"unicode"
)

// Result is what a key did to the text.
type Result int

// The results.
const (
	Edited      Result = iota
	Submitted          // the text is complete
	Discarded          // Ctrl-C took the text away
	Interrupted        // Ctrl-C without a text
	Ended              // Ctrl-D without a text
	Ambiguous          // Tab could not go on: see Editor.Candidates
)

// Editor is a text of one or more lines that is being written. It draws nothing.
type Editor struct {
	// Complete returns what the text before the cursor can become; nil means
	// nothing. It is called for Tab.
	Complete func(before string) []string
	// Candidates are the choices after Ambiguous.
	Candidates []string

	text    []rune
	pos     int // of the cursor, 0 to len(text)
	history []string
	at      int    // in history; len(history) is the text that is new
	draft   string // the new text while an older one is shown
}

// Text is what is written so far.
func (e *Editor) Text() string { return string(e.text) }

// Remember adds to the history what Up brings back.
func (e *Editor) Remember(text string) {
	if n := len(e.history); text != "" && (n == 0 || e.history[n-1] != text) {
		e.history = append(e.history, text)
	}
}

// Reset takes the text away.
func (e *Editor) Reset() {
	e.text, e.pos, e.at, e.draft = nil, 0, len(e.history), ""
}

// Key does what the key means.
func (e *Editor) Key(k Key) Result {
	switch k.Name {
	case Rune, Paste:
		e.insert(k.Text)
	case Newline:
		e.insert("\n")
	case Enter:
		if n := len(e.text); n > 0 && e.text[n-1] == '\\' {
			e.text[n-1], e.pos = '\n', n
			return Edited
		}
		return Submitted
	case Tab:
		return e.tab()
	case Interrupt:
		if len(e.text) == 0 {
			return Interrupted
		}
		e.Reset()
		return Discarded
	case EndOfInput:
		if len(e.text) == 0 {
			return Ended
		}
		e.remove(e.pos, e.pos+1)
	case Backspace:
		e.remove(e.pos-1, e.pos)
	case Delete:
		e.remove(e.pos, e.pos+1)
	case DeleteWord:
		e.remove(e.word(-1), e.pos)
	case DeleteToEnd:
		e.remove(e.pos, e.lineEnd())
	case DeleteToStart:
		e.remove(e.lineStart(), e.pos)
	default:
		e.move(k.Name)
	}
	return Edited
}

func (e *Editor) move(n Name) {
	switch n {
	case Left:
		e.pos = max(0, e.pos-1)
	case Right:
		e.pos = min(len(e.text), e.pos+1)
	case Home:
		e.pos = e.lineStart()
	case End:
		e.pos = e.lineEnd()
	case WordLeft:
		e.pos = e.word(-1)
	case WordRight:
		e.pos = e.word(1)
	case Up:
		e.up()
	case Down:
		e.down()
	}
}

func (e *Editor) insert(text string) {
	r := []rune(text)
	e.text = slices.Insert(e.text, e.pos, r...)
	e.pos += len(r)
}

// remove takes out what lies between two positions, as far as they are there.
func (e *Editor) remove(from, to int) {
	from, to = max(0, from), min(len(e.text), to)
	if from < to {
		e.text = slices.Delete(e.text, from, to)
		e.pos = from
	}
}

// lineStart and lineEnd are the bounds of the line of the cursor.
func (e *Editor) lineStart() int {
	i := e.pos
	for i > 0 && e.text[i-1] != '\n' {
		i--
	}
	return i
}

func (e *Editor) lineEnd() int {
	i := e.pos
	for i < len(e.text) && e.text[i] != '\n' {
		i++
	}
	return i
}

// word is the next border of a word in the direction -1 or 1.
func (e *Editor) word(direction int) int {
	i := e.pos
	space := func() bool {
		if direction < 0 {
			return unicode.IsSpace(e.text[i-1])
		}
		return unicode.IsSpace(e.text[i])
	}
	more := func() bool { return direction < 0 && i > 0 || direction > 0 && i < len(e.text) }
	for more() && space() {
		i += direction
	}
	for more() && !space() {
		i += direction
	}
	return i
}

// up goes to the line above, or from the first one to the text before.
func (e *Editor) up() {
	start := e.lineStart()
	if start > 0 {
		column := e.pos - start
		e.pos = start - 1
		e.pos = min(e.pos, e.lineStart()+column)
		return
	}
	if e.at > 0 {
		if e.at == len(e.history) {
			e.draft = string(e.text)
		}
		e.show(e.at - 1)
	}
}

func (e *Editor) down() {
	if end := e.lineEnd(); end < len(e.text) {
		column := e.pos - e.lineStart()
		e.pos = end + 1
		e.pos = min(e.lineEnd(), e.pos+column)
		return
	}
	if e.at < len(e.history) {
		e.show(e.at + 1)
	}
}

func (e *Editor) show(at int) {
	e.at = at
	text := e.draft
	if at < len(e.history) {
		text = e.history[at]
	}
	e.text = []rune(text)
	e.pos = len(e.text)
}

// tab goes on as far as all candidates agree.
func (e *Editor) tab() Result {
	if e.Complete == nil {
		return Edited
	}
	before := string(e.text[:e.pos])
	e.Candidates = e.Complete(before)
	switch len(e.Candidates) {
	case 0:
		return Edited
	case 1:
		e.insert(strings.TrimPrefix(e.Candidates[0], before) + " ")
		return Edited
	}
	common := []rune(e.Candidates[0])
	for _, c := range e.Candidates[1:] {
		n := 0
		for r := []rune(c); n < len(common) && n < len(r) && common[n] == r[n]; {
			n++
		}
		common = common[:n]
	}
	more := strings.TrimPrefix(string(common), before)
	if more == "" {
		return Ambiguous
	}
	e.insert(more)
	return Edited
}
