package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/acpkit/acpkit/cmd/reasonix/internal/terminal"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
)

// choice is one option of a question, by what picks it besides its number.
type choice struct {
	letter string // "" when there are more than letters
	id     string
}

// letters gives each option a letter: y, a, n and d where each means one of the
// four usual answers, else the alphabet.
func letters(options []acp.PermissionOption) []choice {
	usual := map[acp.PermissionOptionKind]string{
		acp.PermissionOptionKindAllowOnce: "y", acp.PermissionOptionKindAllowAlways: "a",
		acp.PermissionOptionKindRejectOnce: "n", acp.PermissionOptionKindRejectAlways: "d",
	}
	seen := map[string]bool{"": true}
	choices := make([]choice, len(options))
	alphabet := false
	for i, o := range options {
		choices[i] = choice{usual[o.Kind], string(o.OptionID)}
		alphabet = alphabet || seen[choices[i].letter]
		seen[choices[i].letter] = true
	}
	for i := range choices {
		if alphabet {
			choices[i].letter = ""
			if i < 26 {
				choices[i].letter = string(rune('a' + i))
			}
		}
	}
	return choices
}

// pick is the index of the choice that the answer means, -1 for none. What stands
// on the screen goes before ids, which are the agent's and can be anything.
func pick(choices []choice, answer string) int {
	for i, c := range choices {
		if answer == fmt.Sprint(i+1) || c.letter != "" && strings.EqualFold(answer, c.letter) {
			return i
		}
	}
	return slices.IndexFunc(choices, func(c choice) bool { return answer != "" && answer == c.id })
}

// permission answers permission requests, and questions of the agent, which come
// as such, in the way of the flag.
func (s *screen) permission(how string) func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return func(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if req.ToolCall.Title != nil {
			s.titles[req.ToolCall.ToolCallID] = *req.ToolCall.Title
		}
		if kind := req.ToolCall.Kind; kind != nil && s.titles[req.ToolCall.ToolCallID] == "" {
			s.titles[req.ToolCall.ToolCallID] = string(*kind)
		}
		title := s.named(req.ToolCall.ToolCallID)
		s.content(req.ToolCall.ToolCallID, req.ToolCall.Content)
		s.reading(req.ToolCall.ToolCallID, req.ToolCall.Content)
		switch how {
		case "allow":
			s.block("ask", "  ? "+title+": allowed (--permission allow)")
			return host.Choose(req, acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways), nil
		case "deny":
			s.block("ask", "  ? "+title+": refused (--permission deny)")
			return refuse(req), nil
		}
		if s.choose == nil {
			s.block("ask", "  ? "+title+": refused, because there is nobody to ask (see --permission)")
			return refuse(req), nil
		}
		return s.question(ctx, title, req), nil
	}
}

func refuse(req *acp.RequestPermissionRequest) *acp.RequestPermissionResponse {
	return host.Choose(req, acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways)
}

// question lets the user pick one of the options by its number or letter. The end
// of input, and anything that is no option, refuses.
func (s *screen) question(ctx context.Context, title string, req *acp.RequestPermissionRequest) *acp.RequestPermissionResponse {
	choices := letters(req.Options)
	s.begin("ask")
	s.write(s.style(bold, "  ? "+title) + "\n")
	for i, o := range req.Options {
		letter := ""
		if choices[i].letter != "" {
			letter = " (" + choices[i].letter + ")"
		}
		s.write(fmt.Sprintf("    %d  %s%s\n", i+1, terminal.CleanLine(o.Name), letter))
	}
	if full := s.diffs[req.ToolCall.ToolCallID]; full != "" && s.live != nil {
		s.write("    v  show all of it\n")
		choices = append(choices, choice{letter: "v"})
	}
	i := s.choose(ctx, choices, func() { s.write("    choose: ") })
	if i == len(req.Options) {
		s.write("v\n" + s.diffs[req.ToolCall.ToolCallID])
		s.diffs[req.ToolCall.ToolCallID] = ""
		return s.question(ctx, title, req)
	}
	chosen := "refused"
	if i >= 0 {
		chosen = terminal.CleanLine(req.Options[i].Name)
	}
	if s.live != nil {
		s.write(chosen + "\n") // a key shows nothing by itself
	}
	s.last = "ask done"
	if i < 0 {
		return refuse(req)
	}
	o := req.Options[i]
	return host.Choose(&acp.RequestPermissionRequest{Options: []acp.PermissionOption{o}}, o.Kind)
}

// byLine answers a question by a line of input.
func (s *screen) byLine(in *lineReader) func(context.Context, []choice, func()) int {
	return func(ctx context.Context, choices []choice, invite func()) int {
		invite()
		line, _ := in.next(ctx)
		if !in.echoes {
			s.write("\n") // nobody typed a newline into a pipe's output
		}
		s.bol = true
		return pick(choices, strings.TrimSpace(line))
	}
}

// lineReader reads lines one at a time, when they are asked for.
type lineReader struct {
	echoes bool // what is typed stands on the screen, with its line end

	mu     sync.Mutex // guards all below
	in     *bufio.Reader
	coming chan inputLine // of the read that goes on; nil when none does
}

type inputLine struct {
	text string
	ok   bool
}

func newLineReader(in *os.File) *lineReader {
	return &lineReader{in: bufio.NewReader(in), echoes: term.IsTerminal(int(in.Fd()))}
}

// next is the next line without its end; ok is false at the end of input, and
// when ctx ends first: the line is then the next one.
func (r *lineReader) next(ctx context.Context) (line string, ok bool) {
	r.mu.Lock()
	if r.coming == nil {
		coming := make(chan inputLine, 1)
		r.coming = coming
		go func() {
			text, err := r.in.ReadString('\n')
			coming <- inputLine{strings.TrimRight(text, "\r\n"), err == nil || text != ""}
		}()
	}
	coming := r.coming
	r.mu.Unlock()
	select {
	case l := <-coming:
		r.mu.Lock()
		r.coming = nil
		r.mu.Unlock()
		return l.text, l.ok
	case <-ctx.Done():
		return "", false
	}
}
