// Package charset turns the bytes of a text file into a Go string and back. A charset is recognised only when it is sure:
// what is not recognised is refused, because a wrong guess would damage the file on the next write. It knows no files.
package charset

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// Charset is how a text is written down as bytes. The zero value is UTF-8 without a byte order mark.
type Charset int

// The charsets that Decode recognises. Latin-1 text is Windows1252, which has the same letters; GBK text is GB18030, which
// contains it.
const (
	UTF8 Charset = iota
	UTF8BOM
	UTF16LE // with a byte order mark, as the next
	UTF16BE
	Windows1252
	GB18030
	ShiftJIS
)

// String is the name a person knows it by.
func (c Charset) String() string {
	switch c {
	case UTF8BOM:
		return "UTF-8 with a byte order mark"
	case UTF16LE, UTF16BE:
		return "UTF-16"
	case Windows1252:
		return "Windows-1252"
	case GB18030:
		return "GB18030"
	case ShiftJIS:
		return "Shift JIS"
	}
	return "UTF-8"
}

// The reasons why bytes are no text.
var (
	ErrBinary = errors.New("not a text file: it contains NUL characters")
	ErrUnsure = errors.New("not UTF-8 text, and it is not certain which other character set it has")
)

// Unencodable is a text with a character that a charset lacks.
type Unencodable struct {
	Charset Charset
	Rune    rune
	Line    int // from 1
}

func (e *Unencodable) Error() string {
	return fmt.Sprintf("line %d has the character %q (U+%04X), which %v, the character set of the file, lacks", e.Line, e.Rune, e.Rune, e.Charset)
}

var errUnstable = errors.New("the text would not be recognised again in the character set of the file")

const (
	bom8  = "\xef\xbb\xbf"
	bomLE = "\xff\xfe"
	bomBE = "\xfe\xff"
	mark  = "\ufeff"
)

// Decode recognises the charset and returns the text without its byte order mark. Writing that text with Encode gives the
// same bytes again. The error is ErrBinary or ErrUnsure.
func Decode(data []byte) (string, Charset, error) {
	switch {
	case bytes.HasPrefix(data, []byte(bom8)):
		return check(string(data[len(bom8):]), UTF8BOM)
	case bytes.HasPrefix(data, []byte(bomLE)):
		return decodeUTF16(data, UTF16LE)
	case bytes.HasPrefix(data, []byte(bomBE)):
		return decodeUTF16(data, UTF16BE)
	case bytes.IndexByte(data, 0) >= 0:
		return "", UTF8, ErrBinary
	case utf8.Valid(data):
		return string(data), UTF8, nil
	}
	return guess(data)
}

func check(text string, c Charset) (string, Charset, error) {
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return "", UTF8, ErrBinary
	case !utf8.ValidString(text) || strings.HasPrefix(text, mark): // a second mark would not survive
		return "", UTF8, ErrUnsure
	}
	return text, c, nil
}

func decodeUTF16(data []byte, c Charset) (string, Charset, error) {
	text, err := c.strict(data[2:])
	if err != nil || strings.HasPrefix(text, mark) || strings.ContainsFunc(text, unlikely) {
		for i := 2; i+1 < len(data); i += 2 {
			if data[i] == 0 && data[i+1] == 0 {
				return "", UTF8, ErrBinary
			}
		}
		return "", UTF8, ErrUnsure
	}
	return text, c, nil
}

// unlikely says which characters do not occur in a text file.
func unlikely(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', 0x1b:
		return false
	}
	return r < ' ' || 0x7f <= r && r < 0xa0
}

// Encode writes the text. When it returns without error, Decode gives the same text again (without a byte order mark in
// front). Errors are an Unencodable, those of Decode, and one for a text that a reader would take for something else.
func (c Charset) Encode(text string) ([]byte, error) {
	var data []byte
	switch c {
	case UTF8:
		data = []byte(text)
	case UTF8BOM:
		data = []byte(bom8 + strings.TrimPrefix(text, mark))
	case UTF16LE, UTF16BE:
		text = strings.TrimPrefix(text, mark)
		body, err := c.encode(text)
		if err != nil {
			return nil, err
		}
		data = append([]byte(c.mark()), body...)
	default:
		body, err := c.encode(text)
		if err != nil {
			return nil, err
		}
		data = body
	}
	again, _, err := Decode(data)
	if err == ErrBinary {
		return nil, err
	}
	if err != nil || again != strings.TrimPrefix(text, mark) {
		if c == UTF8 || c == UTF8BOM {
			return nil, ErrUnsure
		}
		return nil, errUnstable
	}
	return data, nil
}

func (c Charset) mark() string {
	if c == UTF16LE {
		return bomLE
	}
	return bomBE
}

// encode is the text without a mark, and finds the character at fault.
func (c Charset) encode(text string) ([]byte, error) {
	if !utf8.ValidString(text) {
		return nil, ErrUnsure
	}
	enc := c.encoding()
	data, err := enc.NewEncoder().Bytes([]byte(text))
	if err == nil {
		return data, nil
	}
	line := 1
	for _, r := range text {
		if _, err := enc.NewEncoder().String(string(r)); err != nil {
			return nil, &Unencodable{c, r, line}
		}
		if r == '\n' {
			line++
		}
	}
	return nil, err
}

// strict decodes bytes only if the very same bytes come back.
func (c Charset) strict(data []byte) (string, error) {
	text, err := c.encoding().NewDecoder().Bytes(data)
	if err != nil {
		return "", err
	}
	if back, err := c.encoding().NewEncoder().Bytes(text); err != nil || !bytes.Equal(back, data) {
		return "", ErrUnsure
	}
	return string(text), nil
}

func (c Charset) encoding() encoding.Encoding {
	switch c {
	case UTF16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case UTF16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case Windows1252:
		return charmap.Windows1252
	case GB18030:
		return simplifiedchinese.GB18030
	case ShiftJIS:
		return japanese.ShiftJIS
	}
	return encoding.Nop
}
