package terminal

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Key is one key press, or one paste.
type Key struct {
	Name Name
	Text string // of Rune, one character; of Paste, all of it, lines ended by \n
}

// Name says which key.
type Name int

// The keys; Ignored is one that means nothing here.
const (
	Ignored Name = iota
	Rune
	Paste
	Enter
	Newline // a line break that does not submit: Alt-Enter
	Tab
	Escape
	Interrupt  // Ctrl-C
	EndOfInput // Ctrl-D
	Backspace
	Delete
	Left
	Right
	Up
	Down
	Home
	End
	WordLeft
	WordRight
	DeleteWord
	DeleteToEnd
	DeleteToStart
	ClearScreen
)

const (
	esc        = 0x1b
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	maxEscape  = 64 // bytes of a sequence; longer is junk
)

// decode reads the first key of b and how many bytes it takes; 0 means that more
// has to come. With final nothing more comes soon, so that what could be the
// beginning of a sequence is a key of its own. A paste always waits for its end.
func decode(b []byte, final bool) (Key, int) {
	switch {
	case len(b) == 0:
		return Key{}, 0
	case b[0] == esc:
		return decodeEscape(b, final)
	case b[0] < 0x20 || b[0] == 0x7f:
		return Key{Name: control(b[0])}, 1
	case !utf8.FullRune(b) && !final:
		return Key{}, 0
	}
	r, size := utf8.DecodeRune(b)
	if r == utf8.RuneError && size <= 1 || harmful(r) {
		return Key{}, max(size, 1)
	}
	return Key{Name: Rune, Text: string(r)}, size
}

func control(c byte) Name {
	switch c {
	case '\r', '\n':
		return Enter
	case '\t':
		return Tab
	case 0x7f, 'H' - '@':
		return Backspace
	case 'A' - '@':
		return Home
	case 'B' - '@':
		return Left
	case 'C' - '@':
		return Interrupt
	case 'D' - '@':
		return EndOfInput
	case 'E' - '@':
		return End
	case 'F' - '@':
		return Right
	case 'K' - '@':
		return DeleteToEnd
	case 'L' - '@':
		return ClearScreen
	case 'N' - '@':
		return Down
	case 'P' - '@':
		return Up
	case 'U' - '@':
		return DeleteToStart
	case 'W' - '@':
		return DeleteWord
	}
	return Ignored
}

func decodeEscape(b []byte, final bool) (Key, int) {
	if len(b) == 1 {
		if final {
			return Key{Name: Escape}, 1
		}
		return Key{}, 0
	}
	switch b[1] {
	case '[', 'O':
		return decodeSequence(b, final)
	case '\r', '\n':
		return Key{Name: Newline}, 2
	case 'b':
		return Key{Name: WordLeft}, 2
	case 'f':
		return Key{Name: WordRight}, 2
	case 0x7f, 'H' - '@':
		return Key{Name: DeleteWord}, 2
	}
	return Key{Name: Escape}, 1
}

// decodeSequence reads ESC [ parameters letter, and ESC O letter.
func decodeSequence(b []byte, final bool) (Key, int) {
	if bytes.HasPrefix(b, []byte(pasteBegin)) {
		end := bytes.Index(b, []byte(pasteEnd))
		if end < 0 {
			return Key{}, 0
		}
		return Key{Name: Paste, Text: pasted(b[len(pasteBegin):end])}, end + len(pasteEnd)
	}
	n := 2
	for n < len(b) && n < maxEscape && b[n] >= 0x20 && b[n] < 0x40 {
		n++
	}
	switch {
	case n == len(b) && !final:
		return Key{}, 0
	case n == len(b) || n == maxEscape || b[n] < 0x40 || b[n] > 0x7e:
		return Key{}, n
	}
	return Key{Name: sequence(string(b[2:n]), b[n])}, n + 1
}

func sequence(parameters string, letter byte) Name {
	if letter == '~' {
		number, _, _ := strings.Cut(parameters, ";")
		switch number {
		case "1", "7":
			return Home
		case "3":
			return Delete
		case "4", "8":
			return End
		}
		return Ignored
	}
	_, modifier, modified := strings.Cut(parameters, ";")
	byWord := modified && (modifier == "3" || modifier == "5") // Alt, Ctrl
	switch {
	case letter == 'A':
		return Up
	case letter == 'B':
		return Down
	case letter == 'C' && byWord:
		return WordRight
	case letter == 'C':
		return Right
	case letter == 'D' && byWord:
		return WordLeft
	case letter == 'D':
		return Left
	case letter == 'H':
		return Home
	case letter == 'F':
		return End
	}
	return Ignored
}

// pasted is pasted text as it is kept: no control character but tab and line end.
func pasted(b []byte) string {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(string(b), ""))
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && harmful(r) {
			return -1
		}
		return r
	}, text)
}

// harmful characters steer a terminal, or show text in another order than it has.
func harmful(r rune) bool {
	switch {
	case unicode.IsControl(r), r == 0x061c, r == 0x200e, r == 0x200f, 0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return true
	}
	return false
}
