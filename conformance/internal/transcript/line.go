package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Side is who sent a line.
type Side string

const (
	Client Side = "client" // the host that the script plays
	Agent  Side = "agent"
)

// Kind is what a line of a transcript shows. Its text is the word that stands in the transcript; a message has none.
type Kind string

const (
	KindMessage Kind = ""        // one JSON value
	KindPadded  Kind = "padded"  // a message of the script with spaces behind it
	KindRaw     Kind = "raw"     // a line that was sent as it stands, or a line of the agent that is no ACP message
	KindBytes   Kind = "bytes"   // what the script sent without a newline behind it
	KindExit    Kind = "exit"    // the agent ended after its input was closed
	KindKill    Kind = "kill"    // the script killed the agent
	KindRestart Kind = "restart" // the script started it again
)

// Line is one line of a transcript.
type Line struct {
	From    Side            // "" when Kind is KindExit, KindKill or KindRestart
	Kind    Kind            // what the other members mean
	Message json.RawMessage // of KindMessage and KindPadded: compact, one line, without jsonrpc "2.0"
	Size    int             // of KindPadded: the bytes of the line that was sent, without its newline
	Text    string          // of KindRaw and KindBytes: what was sent; of KindExit: the status, such as 0 or "signal: killed"
}

// String is the line as it stands in a transcript, without its newline.
func (l Line) String() string {
	switch {
	case l.From == "":
		return strings.TrimSuffix(string(l.Kind)+" "+l.Text, " ")
	case l.Kind == KindMessage:
		return string(l.From) + " " + string(l.Message)
	case l.Kind == KindPadded:
		return fmt.Sprintf("%s %s %d %s", l.From, l.Kind, l.Size, l.Message)
	default:
		return string(l.From) + " " + string(l.Kind) + " " + strconv.Quote(l.Text)
	}
}

// Format writes lines as a transcript.
func Format(lines []Line) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	return b.Bytes()
}

// Parse reads what Format wrote. Format(Parse(x)) is x again; a line that Format cannot have written is an error with its
// number.
func Parse(src []byte) ([]Line, error) {
	if len(src) == 0 {
		return nil, nil
	}
	text, ended := strings.CutSuffix(string(src), "\n")
	if !ended {
		return nil, fmt.Errorf("transcript: the last line has no newline")
	}
	var lines []Line
	for i, s := range strings.Split(text, "\n") {
		l, err := parseLine(s)
		if err == nil && l.String() != s {
			err = fmt.Errorf("spelled %s by the player", l)
		}
		if err != nil {
			return nil, fmt.Errorf("transcript:%d: %w: %s", i+1, err, Shorten(s))
		}
		lines = append(lines, l)
	}
	return lines, nil
}

func parseLine(s string) (Line, error) {
	word, rest, _ := strings.Cut(s, " ")
	switch Kind(word) {
	case KindExit:
		if rest == "" {
			return Line{}, fmt.Errorf("exit without a status")
		}
		return Line{Kind: KindExit, Text: rest}, nil
	case KindKill, KindRestart:
		return Line{Kind: Kind(word)}, nil
	}
	l := Line{From: Side(word)}
	if l.From != Client && l.From != Agent {
		return Line{}, fmt.Errorf("a line begins with client, agent, exit, kill or restart")
	}
	for _, kind := range []Kind{KindRaw, KindBytes} {
		if quoted, ok := strings.CutPrefix(rest, string(kind)+" "); ok {
			var err error
			l.Kind = kind
			if l.Text, err = strconv.Unquote(quoted); err != nil {
				return Line{}, fmt.Errorf("%s wants a Go string", kind)
			}
			return l, nil
		}
	}
	if padded, ok := strings.CutPrefix(rest, string(KindPadded)+" "); ok {
		size, message, _ := strings.Cut(padded, " ")
		var err error
		if l.Size, err = strconv.Atoi(size); err != nil {
			return Line{}, fmt.Errorf("padded wants the number of bytes")
		}
		l.Kind, rest = KindPadded, message
	}
	v, err := parseValue([]byte(rest))
	if err != nil {
		return Line{}, err
	}
	l.Message = []byte(v.String())
	return l, nil
}

// Shorten cuts s for an error text, at a character border.
func Shorten(s string) string {
	const limit = 400
	if len(s) <= limit {
		return s
	}
	cut := limit
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:cut], len(s))
}
