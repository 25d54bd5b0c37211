package transcript

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Op is what a step does; its text is the word that stands in the script.
type Op string

const (
	OpSend        Op = "send"
	OpPadded      Op = "padded"
	OpRaw         Op = "raw"
	OpBytes       Op = "bytes"
	OpAwait       Op = "await"
	OpAnswer      Op = "answer"
	OpAnswerError Op = "answer-error"
	OpEOF         Op = "eof"
	OpKill        Op = "kill"
	OpRestart     Op = "restart"
	OpTimeout     Op = "timeout"
	opMask        Op = "mask" // a statement about the transcript, no step
)

// maxPadded bounds a padded line: its script is short, so a slip of the pen must not fill the memory.
const maxPadded = 1 << 30

// AwaitKind is what an await waits for; its text is the word that stands in the script.
type AwaitKind string

const (
	AwaitResponse     AwaitKind = "response"
	AwaitUpdate       AwaitKind = "update"
	AwaitRequest      AwaitKind = "request"
	AwaitNotification AwaitKind = "notification"
	AwaitError        AwaitKind = "error"
	AwaitText         AwaitKind = "text"
)

// Step is one line of a script that does something.
type Step struct {
	Line int    // its number in the script, from 1
	Text string // the line as written, without space around it
	Op   Op

	JSON   string    // OpSend, OpPadded: the message with jsonrpc; OpAnswer…: result or error; names not yet expanded
	Size   int       // OpPadded: bytes of the line, without its newline
	Raw    string    // OpRaw, OpBytes: what is sent, names not yet expanded
	Method string    // OpAnswer, OpAnswerError
	Kind   AwaitKind // OpAwait
	Arg    string    // OpAwait: id token, update kind, method, error code or text
	Params string    // OpAwait: JSON that the params must contain, "" for any; names not yet expanded

	Timeout time.Duration // OpTimeout
}

// Script is a parsed script. It does not change once made.
type Script struct {
	Steps []Step
	Masks []string // names of members whose values the transcript does not show

	source string
}

// ParseScript reads a script. It checks everything that can be checked before an agent runs: the words, the JSON, and that
// nothing is sent to an agent that the script has ended. The error has the number of the line.
func ParseScript(src []byte) (*Script, error) {
	s := &Script{source: string(src)}
	running := true
	for i, line := range strings.Split(s.source, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		step := Step{Line: i + 1, Text: line}
		err := step.parse(s)
		if err == nil {
			running, err = step.follow(running)
		}
		if err != nil {
			return nil, fmt.Errorf("script:%d: %w: %s", step.Line, err, Shorten(line))
		}
		if step.Op != opMask {
			s.Steps = append(s.Steps, step)
		}
	}
	return s, nil
}

// follow checks that a step makes sense while the agent is running or not, and returns whether it runs afterwards.
func (s *Step) follow(running bool) (bool, error) {
	switch {
	case s.Op == opMask || s.Op == OpTimeout:
		return running, nil
	case s.Op == OpRestart && running:
		return running, errors.New("the agent still runs here; end it by eof or kill first")
	case s.Op != OpRestart && !running:
		return running, errors.New("the agent does not run here; restart it first")
	}
	return s.Op != OpEOF && s.Op != OpKill, nil
}

func (s *Step) parse(script *Script) (err error) {
	word, rest, _ := strings.Cut(s.Text, " ")
	rest = strings.TrimSpace(rest)
	s.Op = Op(word)
	switch s.Op {
	case OpSend:
		s.JSON, err = withVersion(rest)
	case OpPadded:
		size, message, _ := strings.Cut(rest, " ")
		if s.Size, err = strconv.Atoi(size); err != nil || s.Size < 1 || s.Size > maxPadded {
			return fmt.Errorf("want: padded BYTES JSON, with at most %d bytes", maxPadded)
		}
		s.JSON, err = withVersion(strings.TrimSpace(message))
	case OpRaw:
		s.Raw, err = rawText(rest)
	case OpBytes:
		if s.Raw, err = strconv.Unquote(rest); err != nil {
			err = errors.New(`bytes wants a Go string: bytes "…"`)
		}
	case OpAwait:
		err = s.parseAwait(rest)
	case OpAnswer, OpAnswerError:
		s.Method, s.JSON, _ = strings.Cut(rest, " ")
		if s.JSON = strings.TrimSpace(s.JSON); s.JSON == "" {
			return fmt.Errorf("want: %s METHOD JSON", s.Op)
		}
		_, err = parseValue([]byte(s.JSON))
	case OpEOF, OpKill, OpRestart:
		if rest != "" {
			err = fmt.Errorf("%s stands alone", s.Op)
		}
	case OpTimeout:
		if s.Timeout, err = time.ParseDuration(rest); err == nil && s.Timeout <= 0 {
			err = errors.New("a timeout is longer than nothing")
		}
	case opMask:
		if script.Masks = append(script.Masks, strings.Fields(rest)...); rest == "" {
			err = errors.New("want: mask MEMBER…")
		}
	default:
		err = errors.New("a step begins with send, padded, raw, bytes, await, answer, answer-error, eof, kill, restart, timeout or mask")
	}
	return err
}

func (s *Step) parseAwait(rest string) error {
	kind, arg, _ := strings.Cut(rest, " ")
	s.Kind, s.Arg = AwaitKind(kind), strings.TrimSpace(arg)
	if s.Arg == "" {
		return errors.New("want: await response ID, update KIND, request METHOD, notification METHOD, error CODE or text TEXT")
	}
	switch s.Kind {
	case AwaitResponse:
		id, err := parseValue([]byte(s.Arg))
		if err != nil || id.kind == '{' || id.kind == '[' {
			return errors.New(`the id is spelled as in JSON, such as 1 or "a"`)
		}
		s.Arg = id.raw
	case AwaitError:
		if _, err := strconv.Atoi(s.Arg); err != nil {
			return errors.New("the code is a whole number")
		}
	case AwaitUpdate, AwaitRequest, AwaitNotification:
		s.Arg, s.Params, _ = strings.Cut(s.Arg, " ")
		if s.Params = strings.TrimSpace(s.Params); s.Params != "" {
			_, err := parseValue([]byte(s.Params))
			return err
		}
	case AwaitText:
		var err error
		s.Arg, err = rawText(s.Arg)
		return err
	default:
		return errors.New("await knows response, update, request, notification, error and text")
	}
	return nil
}

// rawText reads text that stands as it is or, when it begins with a quote, as a Go string.
func rawText(s string) (string, error) {
	if s == "" {
		return "", errors.New(`no text; for an empty line write ""`)
	}
	if s[0] != '"' {
		return s, nil
	}
	text, err := strconv.Unquote(s)
	if err != nil {
		return "", errors.New(`text that begins with a quote must be a Go string; for a JSON string write "\"…\""`)
	}
	return text, nil
}

// withVersion checks that src is a JSON object and puts jsonrpc first unless it is there.
func withVersion(src string) (string, error) {
	v, err := parseValue([]byte(src))
	if err != nil {
		return "", fmt.Errorf("%w (use raw for what is not JSON)", err)
	}
	if v.kind != '{' {
		return "", errors.New("send wants a JSON object; use raw for anything else")
	}
	if v.get("jsonrpc") != nil {
		return src, nil
	}
	if len(v.kids) == 0 {
		return `{"jsonrpc":"2.0"}`, nil
	}
	return `{"jsonrpc":"2.0",` + src[1:], nil
}

// literals returns every string in the JSON that the script sends, and every UUID and time that it spells anywhere.
func (s *Script) literals() map[string]bool {
	found := map[string]bool{}
	for _, step := range s.Steps {
		if step.JSON == "" {
			continue
		}
		v, err := parseValue([]byte(step.JSON))
		if err != nil {
			panic("transcript: JSON that ParseScript checked: " + err.Error())
		}
		v.walk("", "", func(_, _ string, v *value) bool {
			if text, ok := v.text(); ok {
				found[text] = true
			}
			return true
		})
	}
	for _, re := range []*regexp.Regexp{uuidRE, timeRE} {
		for _, text := range re.FindAllString(s.source, -1) {
			found[text] = true
		}
	}
	return found
}
