// Package fakemodel is a model provider for tests: an HTTP server that speaks OpenAI's chat completions and says what
// stands in one description, so that two agents are given the same answers.
//
// It knows nothing of ACP, and shares no code with our own provider clients but the generated types of the script format.
package fakemodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/acpkit/generated/script"
)

// Script is what the model says: JSON lines in the format of schema/script/v1, each with one member more, the prompt of
// the user that it belongs to:
//
//	{"prompt":"Write it.","tools":[{"id":"c1","name":"write_file","args":{"path":"a","content":"b"}}]}
//	{"prompt":"Write it.","text":"It is written."}
//
// The lines of one prompt are played in order, one for each call that the agent makes for it. The server finds the prompt
// in the request, so it does not matter which session or process asks.
type Script struct {
	prompts []string // in order, without duplicates
	replies map[string][]script.Reply
}

// Parse reads a description. Blank lines are skipped. Tools need ids, because agents make up different ones.
func Parse(src []byte) (*Script, error) {
	s := &Script{replies: map[string][]script.Reply{}}
	for i, line := range bytes.Split(src, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := s.add(line); err != nil {
			return nil, fmt.Errorf("model line %d: %w", i+1, err)
		}
	}
	return s, nil
}

func (s *Script) add(line []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		return err
	}
	var prompt string
	if err := json.Unmarshal(members["prompt"], &prompt); err != nil || prompt == "" {
		return fmt.Errorf("no prompt")
	}
	delete(members, "prompt")
	rest, err := json.Marshal(members)
	if err != nil {
		return err
	}
	var r script.Reply
	if err := json.Unmarshal(rest, &r); err != nil {
		return err
	}
	for _, tool := range r.Tools {
		if tool.ID == nil {
			return fmt.Errorf("the call of %s has no id", tool.Name)
		}
	}
	if s.replies[prompt] == nil {
		s.prompts = append(s.prompts, prompt)
	}
	s.replies[prompt] = append(s.replies[prompt], r)
	return nil
}

// message is one of a request, its text joined.
type message struct{ role, text string }

// reply picks what to say: the last user message that holds a prompt says which lines are played, and the answers behind
// it how many of them have been.
func (s *Script) reply(messages []message) (script.Reply, error) {
	for i := len(messages) - 1; i >= 0; i-- {
		prompt := s.promptIn(messages[i])
		if prompt == "" {
			continue
		}
		said := 0
		for _, m := range messages[i+1:] {
			if m.role == "assistant" {
				said++
			}
		}
		if said >= len(s.replies[prompt]) {
			return script.Reply{}, fmt.Errorf("call %d for the prompt %q, which has %d replies", said+1, prompt, len(s.replies[prompt]))
		}
		return s.replies[prompt][said], nil
	}
	return script.Reply{}, fmt.Errorf("a call without a known prompt: %s", last(messages))
}

// promptIn is the longest prompt that the message holds: agents put things around it.
func (s *Script) promptIn(m message) (found string) {
	for _, p := range s.prompts {
		if m.role == "user" && len(p) > len(found) && strings.Contains(m.text, p) {
			found = p
		}
	}
	return found
}

func last(messages []message) string {
	if len(messages) == 0 {
		return "no messages"
	}
	m := messages[len(messages)-1]
	return fmt.Sprintf("%s says %.200q", m.role, m.text)
}

// pieces cuts text into n parts of nearly equal length, never inside a character.
func pieces(text string, n uint32) []string {
	count := min(max(int(n), 1), utf8.RuneCountInString(text))
	runes := []rune(text)
	var parts []string
	for i := range count {
		parts = append(parts, string(runes[len(runes)*i/count:len(runes)*(i+1)/count]))
	}
	return parts
}

func or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}
