package openai

import (
	"bytes"
	"fmt"
	"io"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/generated/openai"
)

// maxAnswer bounds what one answer may hold: text, reasoning and arguments together.
const maxAnswer = 64 << 20

// answer puts the chunks of one stream together.
type answer struct {
	words   words
	calls   calls
	finish  string
	refused bool // the model declined in the member for that
	some    bool // text, reasoning or a call came
	done    bool // the end marker came
	usage   *model.Usage
	size    int
	emitErr error
}

func newAnswer(d Dialect, emit func(model.Delta) error) *answer {
	a := &answer{}
	a.words = words{
		emit: func(delta model.Delta) error {
			if err := emit(delta); err != nil {
				a.emitErr = err
				return err
			}
			return nil
		},
		thinkTags: d.ThinkTags,
	}
	return a
}

// read takes a stream to its proper end: the marker [DONE], or a finish reason and no more data. Anything else is an error.
func (a *answer) read(events *events, w *watch) error {
	for !a.done {
		data, err := events.next()
		if err != nil && (err == io.EOF || a.finish != "") {
			break
		}
		if err != nil {
			return &model.Error{Cut: true, Err: err}
		}
		w.event()
		if data = bytes.TrimSpace(data); len(data) == 0 {
			continue
		}
		if string(data) == "[DONE]" {
			a.done = true
			w.drain(events.r)
			break
		}
		if err := a.take(data, w); err != nil {
			return err
		}
	}
	if a.finish == "" && !a.done {
		return &model.Error{Cut: true, Err: io.ErrUnexpectedEOF}
	}
	if err := a.words.end(); err != nil {
		return err
	}
	if !a.some && a.usage == nil && (model.Result{Finish: a.finish}).Ending() == model.Done {
		return &model.Error{Message: "the provider sent a stream without text, calls and usage", Transient: true}
	}
	return nil
}

// take adds one chunk.
func (a *answer) take(data []byte, w *watch) error {
	var chunk openai.Chunk
	if err := chunk.UnmarshalJSON(data); err != nil {
		return a.unreadable(data, err)
	}
	if chunk.Error != nil || chunk.Object != nil && *chunk.Object == "error" {
		return inStream(data)
	}
	if a.size += len(data); a.size > maxStream {
		return &model.Error{Message: "the provider's answer is too long"}
	}
	empty := true
	for i := range chunk.Choices {
		choice := &chunk.Choices[i]
		if choice.Index != nil && *choice.Index > 0 {
			continue // we asked for one answer
		}
		if choice.Delta != nil {
			was := a.words.size + a.calls.size
			if err := a.delta(choice.Delta); err != nil {
				return err
			}
			empty = empty && a.words.size+a.calls.size == was
		}
		if choice.FinishReason != nil && *choice.FinishReason != "" {
			a.finish = string(*choice.FinishReason)
		}
		a.count(choice.Usage)
	}
	if chunk.XGroq != nil {
		a.count(chunk.XGroq.Usage)
	}
	a.count(chunk.Usage)
	if a.words.size+a.calls.size > maxAnswer {
		return &model.Error{Message: fmt.Sprintf("the provider's answer is longer than %d MiB", maxAnswer>>20)}
	}
	if a.finish != "" && empty { // some servers repeat the reason on every chunk: with text it is not the end
		w.finished()
	}
	return nil
}

// maxStream bounds the bytes of all chunks: even a token in a chunk of its own, with a kilobyte around it, leaves room for
// the longest answers there are.
const maxStream = 1 << 30

func (a *answer) delta(d *openai.Delta) error {
	var thought string
	for _, s := range []*string{d.ReasoningContent, d.Reasoning} {
		if s != nil && thought == "" {
			thought = *s
		}
	}
	text, thinking := contentText(d.Content)
	if thought == "" {
		thought = thinking
	}
	if thought != "" {
		a.some = true
		if err := a.words.thought(thought); err != nil {
			return err
		}
	}
	if d.Refusal != nil && *d.Refusal != "" {
		a.refused = true
		text += *d.Refusal
	}
	if text != "" {
		a.some = true
		if err := a.words.text(text); err != nil {
			return err
		}
	}
	for i := range d.ToolCalls {
		a.some = true
		if err := a.calls.add(&d.ToolCalls[i]); err != nil {
			return err
		}
	}
	return nil
}

// contentText parts content into text and reasoning.
func contentText(content openai.DeltaContent) (text, thinking string) {
	switch content := content.(type) {
	case openai.DeltaContentText:
		return string(content), ""
	case openai.DeltaContentParts:
		for _, part := range content {
			if part.Type != nil && *part.Type == "thinking" {
				inner, _ := contentText(part.Thinking)
				thinking += inner
			} else if part.Text != nil {
				text += *part.Text
			}
		}
	}
	return text, thinking
}

// count keeps the usage when it says something: figures are running totals, so the last one counts.
func (a *answer) count(u *openai.Usage) {
	if usage := convertUsage(u); usage != nil {
		a.usage = usage
	}
}

func (a *answer) result() (model.Result, error) {
	result := model.Result{Calls: a.calls.finish(), Finish: a.finish, Usage: a.usage}
	if a.refused && result.Ending() == model.Done && len(result.Calls) == 0 {
		result.Finish = "refusal"
	}
	return result, nil
}

// inStream is a failure that the provider reports after the answer has begun.
func inStream(data []byte) error {
	if len(data) > maxBody {
		data = data[:maxBody]
	}
	return &model.Error{Body: string(bytes.ToValidUTF8(data, []byte("\uFFFD")))}
}

// unreadable is a chunk that does not decode: an error of odd shape, or no chunk at all.
func (a *answer) unreadable(data []byte, err error) error {
	var body openai.ErrorBody
	if body.UnmarshalJSON(data) == nil && bytes.Contains(data, []byte(`"error"`)) {
		return inStream(data)
	}
	return &model.Error{
		Message: "the provider sent what is no chunk of an answer", Transient: true, Err: err,
		Body: string(bytes.ToValidUTF8(data[:min(len(data), maxExcerpt)], []byte("\uFFFD"))),
	}
}
