// Package demo is the built-in model offline/demo: a piece of code that behaves like a small model, so that a host can be
// tried without a file, a key or a network. It reads only what a real model would: the messages and the tools offered.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/acpkit/acpkit/agent/internal/model"
)

const (
	target     = "acpkit-demo.md" // the file it writes
	source     = "README.md"      // the file it reads
	maxQuoted  = 500              // characters of the prompt that it repeats
	slowPieces = 200
	slowPause  = 20 * time.Millisecond
)

// Model is the demo. It keeps no state: where it stands it sees from the messages.
type Model struct{}

// Stream implements model.Model.
func (Model) Stream(ctx context.Context, req *model.Request, emit func(model.Delta) error) (model.Result, error) {
	s := look(req)
	if s.slow() {
		return stroll(ctx, emit)
	}
	a := s.next()
	for _, piece := range pieces(a.thought) {
		if err := emit(model.Delta{Thought: piece}); err != nil {
			return model.Result{}, err
		}
	}
	for _, piece := range pieces(a.text) {
		if err := emit(model.Delta{Text: piece}); err != nil {
			return model.Result{}, err
		}
	}
	if len(a.calls) > 0 {
		return model.Result{Calls: a.calls, Finish: "tool_calls"}, nil
	}
	return model.Result{Finish: "stop"}, nil
}

// scene is what has happened since the last prompt.
type scene struct {
	prompt  string
	answers int                      // given so far
	results map[string]model.Message // the last result of each tool
	offered map[string]bool
}

func look(req *model.Request) scene {
	s := scene{results: map[string]model.Message{}, offered: map[string]bool{}}
	for _, m := range req.Messages {
		switch m.Role {
		case model.User:
			s.prompt, s.answers = m.Text, 0
			clear(s.results)
		case model.Assistant:
			s.answers++
		case model.Tool:
			s.results[m.Name] = m
		}
	}
	for _, t := range req.Tools {
		s.offered[t.Name] = true
	}
	return s
}

type answer struct {
	thought, text string
	calls         []model.Call
}

// next is the answer after those given: look around, write, tick off, report. A step whose tools are not offered is left out.
func (s scene) next() answer {
	var steps []answer
	for _, step := range []answer{s.start(), s.write(), s.tick()} {
		if len(step.calls) > 0 {
			steps = append(steps, step)
		}
	}
	if s.answers < len(steps) {
		return steps[s.answers]
	}
	return answer{text: s.report()}
}

func (s scene) start() answer {
	return answer{
		thought: "The user wrote: " + quoted(s.prompt, 80) + ". I will look at the workspace, write a short note and report.",
		text:    "Let me look at the workspace first.\n\n",
		calls:   s.calls(s.plan("in_progress", "pending", "pending"), call("read_file", map[string]any{"path": source})),
	}
}

func (s scene) write() answer {
	text := fmt.Sprintf("# acpkit demo\n\nYour prompt was:\n\n> %s\n\n%s\n",
		strings.ReplaceAll(quoted(s.prompt, maxQuoted), "\n", "\n> "), s.finding())
	return answer{calls: s.calls(call("write_file", map[string]any{"path": target, "content": text}))}
}

func (s scene) tick() answer {
	wrote := "completed"
	if !s.wrote() {
		wrote = "pending"
	}
	return answer{calls: s.calls(s.plan("completed", wrote, "completed"))}
}

// report says what was really done.
func (s scene) report() string {
	var b strings.Builder
	b.WriteString("This is acpkit's built-in demo model; it works offline and answers every prompt alike. ")
	if _, read := s.results["read_file"]; read {
		b.WriteString(s.finding() + " ")
	}
	result, asked := s.results["write_file"]
	switch {
	case !asked:
		b.WriteString("Nothing was changed.")
	case !result.Failed:
		b.WriteString("I wrote a note with your prompt to " + target + ".")
	case strings.Contains(result.Text, "refused"):
		b.WriteString("Writing " + target + " was refused, so nothing was changed.")
	default:
		b.WriteString("Writing " + target + " failed, so nothing was changed: " + quoted(result.Text, maxQuoted))
	}
	return b.String()
}

// finding says what reading the source gave.
func (s scene) finding() string {
	result, read := s.results["read_file"]
	if !read || result.Failed {
		return "There is no " + source + " to read here."
	}
	for line := range strings.Lines(result.Text) {
		_, text, numbered := strings.Cut(line, "\t")
		if text = strings.TrimSpace(text); numbered && text != "" {
			return fmt.Sprintf("%s begins with “%s”.", source, quoted(text, 120))
		}
	}
	return source + " is empty."
}

func (s scene) wrote() bool {
	result, asked := s.results["write_file"]
	return asked && !result.Failed
}

// slow reports whether the prompt has the word in it.
func (s scene) slow() bool {
	for word := range strings.FieldsFuncSeq(s.prompt, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if strings.EqualFold(word, "slow") {
			return true
		}
	}
	return false
}

// stroll is the long answer that leaves time to cancel it.
func stroll(ctx context.Context, emit func(model.Delta) error) (model.Result, error) {
	if err := emit(model.Delta{Thought: "The prompt says slow, so I take my time."}); err != nil {
		return model.Result{}, err
	}
	pause := time.NewTicker(slowPause)
	defer pause.Stop()
	for n := 1; n <= slowPieces; n++ {
		select {
		case <-ctx.Done():
			return model.Result{}, ctx.Err()
		case <-pause.C:
		}
		piece := fmt.Sprintf("Step %d of %d. ", n, slowPieces)
		if n%5 == 0 {
			piece += "\n"
		}
		if err := emit(model.Delta{Text: piece}); err != nil {
			return model.Result{}, err
		}
	}
	return model.Result{Finish: "stop"}, nil
}

// calls leaves out those whose tool is not offered.
func (s scene) calls(all ...model.Call) []model.Call {
	var offered []model.Call
	for _, c := range all {
		if s.offered[c.Name] {
			offered = append(offered, c)
		}
	}
	return offered
}

func (s scene) plan(status ...string) model.Call {
	var todos []map[string]any
	for i, content := range []string{"Look at " + source, "Write " + target, "Report what was done"} {
		todos = append(todos, map[string]any{"content": content, "status": status[i], "priority": "medium"})
	}
	return call("todo_write", map[string]any{"todos": todos})
}

func call(name string, args map[string]any) model.Call {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err) // strings in maps always encode
	}
	return model.Call{Name: name, Args: raw}
}

// quoted is the start of a text, in whole characters.
func quoted(text string, max int) string {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) <= max {
		return text
	}
	return string([]rune(text)[:max]) + "…"
}

// pieces cuts a text behind every third word.
func pieces(text string) []string {
	var parts []string
	words := strings.SplitAfter(text, " ")
	for len(words) > 0 {
		n := min(3, len(words))
		if piece := strings.Join(words[:n], ""); piece != "" {
			parts = append(parts, piece)
		}
		words = words[n:]
	}
	return parts
}
