// Package terminal is the user's side of a chat: keys as they are pressed, and
// the editing of one text while other output goes on above it. It knows nothing
// of agents.
//
// It is our own because golang.org/x/term's Terminal counts each character as one
// column, which breaks Chinese and Japanese, takes Ctrl-C for the end of input and
// holds one line only; and because the libraries that were looked at (peterh/liner)
// know no bracketed paste and want standard input for themselves, where a chat has
// to see Ctrl-C and the answer to a question while a turn runs.
package terminal

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// escapeTime is how long the rest of an escape sequence may take; after that
// Escape was a key of its own.
const escapeTime = 50 * time.Millisecond

// Terminal is an open terminal in raw mode. Its methods may be called from
// several goroutines.
type Terminal struct {
	in, out *os.File
	before  *term.State
	keys    chan Key
	closed  chan struct{}

	mu     sync.Mutex // guards all below, and writing to out
	editor *Editor    // nil while no text is being written
	prompt string
	row    int  // of the cursor below the first row of the editor's picture
	open   bool // the last line that was written has no end yet
}

// Usable reports whether a chat can be had there: both ends are a terminal that
// understands the usual sequences.
func Usable(in, out *os.File) bool {
	return term.IsTerminal(int(in.Fd())) && Capable(out)
}

// Capable reports whether out understands the usual sequences.
func Capable(out *os.File) bool {
	return term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb" && understands(out)
}

// Open puts the terminal into raw mode and starts to read keys. Close must be
// called before the process ends.
func Open(in, out *os.File) (*Terminal, error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	t := &Terminal{in: in, out: out, before: before, keys: make(chan Key), closed: make(chan struct{})}
	_, _ = io.WriteString(out, "\x1b[?2004h") // pastes come in brackets
	go t.read()
	return t, nil
}

// Close gives the terminal back as it was. The Keys end.
func (t *Terminal) Close() error {
	close(t.closed)
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := io.WriteString(t.out, "\x1b[?2004l")
	return errors.Join(err, term.Restore(int(t.in.Fd()), t.before))
}

// Keys are the keys as they are pressed; it is closed when the terminal is gone.
func (t *Terminal) Keys() <-chan Key { return t.keys }

// read decodes what is typed. The goroutine that waits for the next byte stays
// behind after Close, since nothing can end it but that byte.
func (t *Terminal) read() {
	defer close(t.keys)
	chunks := make(chan []byte)
	go func() {
		defer close(chunks)
		for {
			buf := make([]byte, 4096)
			n, err := t.in.Read(buf)
			select {
			case chunks <- buf[:n]:
			case <-t.closed:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	var pending []byte
	for {
		var late <-chan time.Time
		if len(pending) > 0 {
			late = time.After(escapeTime)
		}
		final := false
		select {
		case chunk, ok := <-chunks:
			if !ok {
				return
			}
			pending = append(pending, chunk...)
		case <-late:
			final = true
		case <-t.closed:
			return
		}
		for {
			k, n := decode(pending, final)
			if n == 0 {
				break
			}
			pending = pending[n:]
			select {
			case t.keys <- k:
			case <-t.closed:
				return
			}
		}
	}
}

// Size is the terminal's, in columns and rows.
func (t *Terminal) Size() (wide, high int) {
	wide, high, err := term.GetSize(int(t.out.Fd()))
	if err != nil || wide <= 0 || high <= 0 {
		return 80, 24
	}
	return wide, high
}

// Write writes text, above the text that is being written if there is one.
func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	text := strings.ReplaceAll(string(p), "\n", "\r\n") // raw mode does not do it
	t.open = t.editor == nil && !bytes.HasSuffix(p, []byte("\n"))
	if t.editor != nil {
		if !bytes.HasSuffix(p, []byte("\n")) {
			text += "\r\n"
		}
		text = erase(t.row) + text + t.picture(0)
	}
	if _, err := io.WriteString(t.out, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// picture paints the editor anew; the caller holds mu.
func (t *Terminal) picture(cursorRow int) string {
	wide, high := t.Size()
	p := t.editor.paint(t.prompt, wide, high)
	t.row = p.row
	return p.draw(cursorRow)
}

// Begin shows the editor behind a prompt; from then on its keys go to Edit.
func (t *Terminal) Begin(prompt string, e *Editor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.editor, t.prompt, t.open = e, prompt, false
	_, _ = io.WriteString(t.out, t.picture(0))
}

// Edit gives a key to the editor and shows the result.
func (t *Terminal) Edit(k Key) Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.editor == nil {
		return Edited
	}
	clear := ""
	if k.Name == ClearScreen {
		clear, t.row = "\x1b[H\x1b[2J", 0
	}
	r := t.editor.Key(k)
	_, _ = io.WriteString(t.out, clear+t.picture(t.row))
	return r
}

// End leaves the text on the screen and goes to the line below it.
func (t *Terminal) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.editor == nil {
		return
	}
	t.editor.pos = len(t.editor.text)
	_, _ = io.WriteString(t.out, t.picture(t.row)+"\r\n")
	t.editor, t.row = nil, 0
}

// Notes writes whole lines that come from elsewhere, such as diagnostics, while
// the terminal is open: each begins on a line of its own.
func Notes(t *Terminal) io.Writer { return notes{t} }

type notes struct{ *Terminal }

func (n notes) Write(p []byte) (int, error) {
	if n.midLine() {
		_, _ = io.WriteString(n.Terminal, "\n")
	}
	return n.Terminal.Write(p)
}

func (t *Terminal) midLine() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open && t.editor == nil
}
