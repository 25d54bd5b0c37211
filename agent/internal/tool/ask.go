package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrDismissed ends a turn: the user did not answer a question.
var ErrDismissed = errors.New("dismissed by the user")

// Bounds of what can be asked in one call.
const (
	maxQuestions = 8
	maxOptions   = 20
)

// Question is one question to the user.
type Question struct {
	Call    string // the id of the call that asks
	ID      string // unique in its call
	Header  string // a few words; may be empty
	Text    string
	Options []Option
	Multi   bool // more than one would do; hosts let the user choose one all the same
}

// Option is one possible answer.
type Option struct{ Label, Description string }

// Asker puts a question to the user and returns the index of the option that was chosen; ErrDismissed when none was.
type Asker func(ctx context.Context, q Question) (int, error)

// Ask is the tool ask. When alone is set, nobody may be there to answer: then the model goes on by itself instead of
// stopping.
func Ask(ask Asker, alone bool) Tool {
	return Tool{
		Name: "ask",
		Description: "Ask the user to choose, when you cannot go on without a decision that is theirs. Give each question two or more " +
			"options. Do not ask for permission: tools that need it ask by themselves.",
		Params: json.RawMessage(`{"type":"object","properties":{"questions":{"type":"array","minItems":1,"maxItems":8,"items":{"type":"object","properties":{` +
			`"question":{"type":"string"},` +
			`"header":{"type":"string","description":"A few words above the question."},` +
			`"options":{"type":"array","minItems":2,"items":{"type":"object","properties":{"label":{"type":"string"},"description":{"type":"string"}},"required":["label"]}},` +
			`"multi":{"type":"boolean","description":"More than one option would do."}},` +
			`"required":["question","options"]}}},"required":["questions"]}`),
		Kind: KindOther,
		Prepare: func(ctx context.Context, args Args) (Invocation, error) {
			inv := Invocation{Title: "Ask the user"}
			questions, err := questionsOf(args)
			if err != nil {
				return inv, err
			}
			call := CallID(ctx)
			if inv.Title = "Ask: " + label(questions[0].Text); len(questions) > 1 {
				inv.Title = fmt.Sprintf("Ask %d questions", len(questions))
			}
			inv.Run = func(ctx context.Context) (Output, error) {
				var b strings.Builder
				for _, q := range questions {
					q.Call = call
					n, err := ask(ctx, q)
					switch {
					case errors.Is(err, ErrDismissed) && alone:
						return Output{Text: "Nobody is there to answer. Go on with the assumption that you think best, and say which one it is."}, nil
					case err != nil:
						return Output{}, err
					}
					fmt.Fprintf(&b, "%s\n→ %s\n", q.Text, q.Options[n].Label)
				}
				return Output{Text: b.String()}, nil
			}
			return inv, nil
		},
	}
}

func questionsOf(args Args) ([]Question, error) {
	if !args.Has("questions") {
		return nil, errors.New("questions is missing")
	}
	var list []struct {
		ID       string `json:"id"`
		Question string `json:"question"`
		Prompt   string `json:"prompt"`
		Header   string `json:"header"`
		Multi    bool   `json:"multi"`
		Options  []Option
	}
	if json.Unmarshal(args["questions"], &list) != nil {
		return nil, errors.New(`questions must be an array of objects like {"question": "…", "options": [{"label": "…"}, {"label": "…"}]}`)
	}
	if len(list) == 0 || len(list) > maxQuestions {
		return nil, fmt.Errorf("questions must hold 1 to %d questions", maxQuestions)
	}
	var questions []Question
	for i, q := range list {
		text := strings.TrimSpace(q.Question)
		if text == "" {
			text = strings.TrimSpace(q.Prompt)
		}
		switch {
		case text == "":
			return nil, fmt.Errorf("question %d has no text", i+1)
		case len(q.Options) < 1 || len(q.Options) > maxOptions:
			return nil, fmt.Errorf("question %d must have 1 to %d options", i+1, maxOptions)
		}
		for n, o := range q.Options {
			if strings.TrimSpace(o.Label) == "" {
				return nil, fmt.Errorf("option %d of question %d has no label", n+1, i+1)
			}
		}
		questions = append(questions, Question{ID: fmt.Sprintf("q%d", i+1), Header: strings.TrimSpace(q.Header), Text: text, Options: q.Options, Multi: q.Multi})
	}
	return questions, nil
}

type callKey struct{}

// WithCallID is a context that names the call which is prepared in it.
func WithCallID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

// CallID is the id of the call that is being prepared or run.
func CallID(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}
