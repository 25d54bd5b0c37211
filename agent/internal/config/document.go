package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// maxFile bounds each file: all of them are written by hand.
const maxFile = 1 << 20

// document is one parsed TOML file.
type document struct {
	file   string
	text   string
	root   map[string]any
	layout *layout
}

// readDocument reads and parses a file. One that does not exist is an empty document.
func readDocument(file string) (*document, error) {
	text, err := readText(file)
	if err != nil {
		return nil, err
	}
	return parseDocument(file, text)
}

// readText reads a bounded UTF-8 file; a missing one is empty.
func readText(file string) (string, error) {
	const mend = "mend the file or move it away"
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return "", &FileError{File: file, Message: "is not a regular file", Mend: "move it away"}
	}
	var data []byte
	if err == nil {
		data, err = readBounded(file)
	}
	if err != nil {
		return "", &FileError{File: file, Message: "cannot be read: " + cause(err), Mend: "check its permissions or move it away", Err: err}
	}
	if len(data) > maxFile {
		return "", &FileError{File: file, Message: fmt.Sprintf("is larger than %d bytes", maxFile), Mend: "shorten it or move it away"}
	}
	if !utf8.Valid(data) {
		return "", &FileError{File: file, Line: badLine(data), Message: "is not UTF-8", Mend: "save it as UTF-8, or " + mend}
	}
	return string(data), nil
}

func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// cause drops the path that the message has already named.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// badLine is the line of the first byte that is not UTF-8.
func badLine(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[n:]
	}
	return line
}

func parseDocument(file, text string) (*document, error) {
	l, tooDeep := scanLayout(text)
	if tooDeep > 0 {
		return nil, &FileError{
			File: file, Line: tooDeep,
			Message: fmt.Sprintf("keys or values are nested more than %d deep", maxDepth),
			Mend:    "write it flatter",
		}
	}
	root, err := decodeTOML(text)
	if err != nil {
		return nil, syntaxError(file, err)
	}
	return &document{file: file, text: text, root: root, layout: l}, nil
}

// decodeTOML turns the library's own "BUG" panics into errors: a file must not
// end the agent.
func decodeTOML(text string) (root map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("cannot be read as TOML")
		}
	}()
	root = map[string]any{}
	_, err = toml.Decode(text, &root)
	return root, err
}

// quotesValue matches the library's messages that repeat a value. The value of
// an unquoted key would end up on stderr and in logs, so they are replaced.
func quotesValue(message string) bool {
	return regexp.MustCompile(`(?i)^(expected value but found "|invalid (float|integer|datetime)|cannot use sign|not an? \w+ number|.* is out of range|expected \w+ hexadecimal digits)`).MatchString(message)
}

func syntaxError(file string, err error) error {
	e := &FileError{File: file, Message: err.Error(), Mend: "fix the line or move the file away", Err: err}
	var p toml.ParseError
	if errors.As(err, &p) {
		e.Line, e.Col, e.Message = p.Position.Line, p.Position.Col, strings.TrimSuffix(p.Message, ".")
		if quotesValue(p.Message) {
			e.Message = `expected a value such as "text", 12 or true (text needs quotes)`
		}
		// Not the cause: its text repeats the value.
		e.Err = nil
	}
	return e
}
