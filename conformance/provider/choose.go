package provider

import (
	"encoding/json"
	"fmt"
	"strings"
)

// choose says what answers a model call, and notes it in e. The lock is held, so that calls get the replies of a script in
// the order of their numbers.
func (s *Server) choose(e *entry, c *call) (*Reply, error) {
	if s.cfg.Handler != nil {
		if r := s.cfg.Handler(e.Request); r != nil {
			e.Source = "handler"
			return r, check(r)
		}
	}
	if r, n, err := s.prompts.next(c); r != nil || err != nil {
		e.Source, e.Reply = "prompt", n
		return r, err
	}
	if s.script == nil {
		e.Source = "default"
		return &Reply{Text: new("ok")}, nil
	}
	if s.played == len(s.script) {
		return nil, fmt.Errorf("the script has %d replies and none left for request %d", len(s.script), e.Number)
	}
	r := &s.script[s.played]
	s.played++
	e.Source, e.Reply = "script", s.played
	return r, nil
}

// prompts remembers how far the scripts in prompts have come, as far as the history of a call does not say it.
type prompts map[string]*prompt

// prompt is the memory of one script: a reply that failed leaves no assistant message, so the next call looks the same.
type prompt struct {
	failed   map[int]int // by the number of assistant messages behind the script
	answered int         // the highest such number whose call was answered well; -1 for none
}

// next returns the reply that a script in the call's messages has for it and which one that is, from 1, or nil if there is
// no script.
func (p prompts) next(c *call) (*Reply, int, error) {
	text, behind := lastScript(c.messages)
	if text == "" {
		return nil, 0, nil
	}
	replies, err := promptScript(text)
	if err != nil {
		return nil, 0, fmt.Errorf("script in the prompt: %w", err)
	}
	m := p[text]
	if m == nil || behind <= m.answered { // a conversation that begins again begins its script again
		m = &prompt{failed: map[int]int{}, answered: -1}
		p[text] = m
	}
	step := behind
	for at, n := range m.failed {
		if at <= behind {
			step += n
		}
	}
	if step >= len(replies) {
		m.answered = behind
		return &Reply{Text: new("ok")}, 0, nil
	}
	r := &replies[step]
	if fails(r) {
		m.failed[behind]++
	} else {
		m.answered = behind
	}
	return r, step + 1, nil
}

// lastScript returns the text of the last user message with a script, and how many assistant messages are behind it.
func lastScript(messages []message) (text string, behind int) {
	for i := len(messages) - 1; i >= 0; i-- {
		switch m := messages[i]; {
		case m.role == "assistant":
			behind++
		case m.role == "user" && strings.Contains(m.text, scriptMark+"["):
			return m.text, behind
		}
	}
	return "", 0
}

// scriptMark stands before and behind a script in a prompt.
const scriptMark = "@@"

// promptScript reads the last script in a text. Agents that quote the prompt put backslashes into it, so that is tried too.
func promptScript(text string) ([]Reply, error) {
	list, err := lastArray(text)
	if err != nil {
		plain := strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(text)
		if again, errAgain := lastArray(plain); errAgain == nil {
			list, err = again, nil
		}
	}
	if err != nil {
		return nil, err
	}
	replies := make([]Reply, len(list))
	for i, raw := range list {
		r, err := ParseReply(raw)
		if err != nil {
			return nil, fmt.Errorf("reply %d: %w", i+1, err)
		}
		replies[i] = *r
	}
	return replies, nil
}

// lastArray finds the last JSON array between marks. A mark inside such an array is text; one in front of anything else is
// an error only if there is no array at all.
func lastArray(text string) (list []json.RawMessage, err error) {
	found := false
	for {
		_, rest, more := strings.Cut(text, scriptMark+"[")
		if !more {
			break
		}
		text = rest
		dec := json.NewDecoder(strings.NewReader("[" + rest))
		var array []json.RawMessage
		if e := dec.Decode(&array); e != nil {
			err = e
			continue
		}
		rest = rest[dec.InputOffset()-1:]
		if !strings.HasPrefix(rest, scriptMark) {
			err = fmt.Errorf("no %s behind it", scriptMark)
			continue
		}
		list, found, text = array, true, rest[len(scriptMark):]
	}
	if found {
		return list, nil
	}
	return nil, err
}
