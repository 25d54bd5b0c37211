package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/acpkit/acpkit/agent/internal/model"
	"github.com/acpkit/acpkit/generated/script"
)

// player plays one script to one session.
type player struct {
	script *Script
	calls  int // so far
}

// Stream implements model.Model with the next line. A call that is cancelled has used its line.
func (p *player) Stream(ctx context.Context, _ *model.Request, emit func(model.Delta) error) (model.Result, error) {
	if p.calls++; p.calls > len(p.script.replies) {
		return model.Result{}, fmt.Errorf("script %s has no reply left for model call %d", p.script.name, p.calls)
	}
	r := &p.script.replies[p.calls-1]
	if r.Status != nil {
		return model.Result{}, &model.Error{Status: int(*r.Status), Body: or(r.Body, ""), Headers: r.Headers}
	}
	var deltas []model.Delta
	for _, piece := range pieces(or(r.Think, ""), or(r.Chunks, 1)) {
		deltas = append(deltas, model.Delta{Thought: piece})
	}
	for _, piece := range pieces(or(r.Text, ""), or(r.Chunks, 1)) {
		deltas = append(deltas, model.Delta{Text: piece})
	}
	for _, delta := range deltas {
		if err := wait(ctx, time.Duration(or(r.DelayMS, 0))*time.Millisecond); err != nil {
			return model.Result{}, err
		}
		if err := emit(delta); err != nil {
			return model.Result{}, err
		}
	}
	switch {
	case r.Hang:
		<-ctx.Done()
		return model.Result{}, ctx.Err()
	case r.Cut:
		return model.Result{}, &model.Error{Cut: true}
	}
	return result(r), nil
}

func result(r *script.Reply) model.Result {
	finish := script.FinishReasonStop
	if len(r.Tools) > 0 {
		finish = script.FinishReasonToolCalls
	}
	res := model.Result{Finish: string(or(r.Finish, finish))}
	for _, t := range r.Tools {
		res.Calls = append(res.Calls, model.Call{ID: or(t.ID, ""), Name: t.Name, Args: arguments(t.Args)})
	}
	if r.Usage != nil {
		res.Usage = &model.Usage{Input: r.Usage.Input, Output: r.Usage.Output, Cached: r.Usage.Cached, Reasoning: r.Usage.Reasoning}
	}
	return res
}

// arguments are sent as they stand, but a string as the text in it and nothing as an empty object.
func arguments(raw json.RawMessage) json.RawMessage {
	var text string
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}")
	case raw[0] == '"' && json.Unmarshal(raw, &text) == nil:
		return json.RawMessage(text)
	}
	return raw
}

// pieces cuts a text into n parts of nearly equal length, fewer when it has fewer characters; 0 counts as 1.
func pieces(text string, n uint32) []string {
	if text == "" {
		return nil
	}
	length := utf8.RuneCountInString(text)
	count := int(min(max(uint64(n), 1), uint64(length)))
	parts := make([]string, 0, count)
	for i := range count {
		end := 0
		for range length*(i+1)/count - length*i/count {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		parts = append(parts, text[:end])
		text = text[end:]
	}
	return parts
}

// wait waits, but no longer than ctx.
func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}
