package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/generated/script"
)

// Reply is what the server does in answer to one model call: one line of a script.
type Reply = script.ProviderReply

// ParseScript reads JSON lines; blank ones are skipped. An error names the line.
func ParseScript(src []byte) ([]Reply, error) {
	replies := []Reply{}
	n := 0
	for line := range bytes.Lines(src) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		r, err := ParseReply(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		replies = append(replies, *r)
	}
	return replies, nil
}

// ParseReply reads one reply. A member that the format does not have, or that makes no sense beside another, is an error:
// a test whose failure is misspelt would test nothing.
func ParseReply(src []byte) (*Reply, error) {
	var r Reply
	if err := json.Unmarshal(src, &r); err != nil {
		return nil, err
	}
	if err := known(src, &r); err != nil {
		return nil, err
	}
	var raw struct {
		Tools   []json.RawMessage
		Framing json.RawMessage
		Usage   json.RawMessage
	}
	if err := json.Unmarshal(src, &raw); err != nil {
		return nil, err
	}
	for i := range raw.Tools {
		if err := known(raw.Tools[i], &r.Tools[i]); err != nil {
			return nil, fmt.Errorf("tool %d: %w", i+1, err)
		}
	}
	if raw.Framing != nil {
		if err := known(raw.Framing, r.Framing); err != nil {
			return nil, fmt.Errorf("framing: %w", err)
		}
	}
	if raw.Usage != nil {
		if err := known(raw.Usage, r.Usage); err != nil {
			return nil, fmt.Errorf("usage: %w", err)
		}
	}
	return &r, check(&r)
}

// known makes an error of a member that the codec has skipped, and which therefore does not come out again.
func known(src []byte, v json.Marshaler) error {
	again, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	var in, out map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(src, &in), json.Unmarshal(again, &out)); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if _, kept := out[name]; !kept {
			return fmt.Errorf("unknown member %q", name)
		}
	}
	return nil
}

// check holds what the schema can only say in words. A Handler's replies pass it too.
func check(r *Reply) error {
	output := r.Think != nil || r.Text != nil || r.Tools != nil
	kinds := 0
	for _, is := range []bool{r.Status != nil, r.Events != nil, r.Raw != nil, output || r.Finish != nil || r.Usage != nil || r.UsageRaw != nil} {
		if is {
			kinds++
		}
	}
	place, by := or(r.At, script.PlaceOutput), or(r.CutBy, script.CutByClose)
	switch {
	case kinds > 1:
		return errors.New("status, events and raw each exclude one another and what is made of think, text, tools, finish and usage")
	case r.Body != nil && r.Status == nil:
		return errors.New("body needs status")
	case r.Status != nil && (*r.Status < 200 || *r.Status > 599):
		return fmt.Errorf("status %d is not between 200 and 599", *r.Status)
	case r.Status != nil && (*r.Status == 204 || *r.Status == 304):
		return fmt.Errorf("status %d can have no body", *r.Status)
	case r.Status != nil && r.Error != nil:
		return errors.New("error is an event of a stream; with status, write it into body")
	case r.Cut && (r.Hang || r.Error != nil):
		return errors.New("cut excludes hang and error")
	case r.At != nil && !r.Cut && !r.Hang:
		return errors.New("at needs cut or hang")
	case r.CutBy != nil && !r.Cut:
		return errors.New("cutBy needs cut")
	case r.Cut && place == script.PlaceConnection && by == script.CutByEnd:
		return errors.New(`at "connection" there is no body that could end; cutBy close or reset`)
	case r.Usage != nil && r.UsageRaw != nil:
		return errors.New("usage and usageRaw exclude each other")
	case r.Usage == nil && r.UsageRaw == nil && r.UsageOn != nil, r.Usage == nil && r.UsageShape != nil:
		return errors.New("usageOn and usageShape need usage")
	case r.Think == nil && r.ThinkAs != nil:
		return errors.New("thinkAs needs think")
	case place == script.PlaceCharacter && ascii(r):
		return errors.New(`at "character" needs output with a character of more than one byte`)
	}
	return nil
}

// ascii reports whether all that r has to say is ASCII.
func ascii(r *Reply) bool {
	all := []string{or(r.Think, ""), or(r.Text, ""), or(r.Body, ""), or(r.Raw, "")}
	for i := range r.Tools {
		all = append(all, r.Tools[i].Name, arguments(&r.Tools[i]))
	}
	for _, e := range r.Events {
		all = append(all, asItIs(e))
	}
	return strings.IndexFunc(strings.Join(all, ""), func(c rune) bool { return c > 0x7f }) < 0
}

// fails reports whether a client is likely to ask again after r, so that no assistant message stands for it.
func fails(r *Reply) bool {
	switch or(r.Finish, script.FinishReasonStop) {
	case script.FinishReasonStop, script.FinishReasonLength, script.FinishReasonToolCalls, script.FinishReasonContentFilter, "function_call", "":
	default:
		return true
	}
	return r.Retried || r.Status != nil || r.Cut || r.Hang || r.Error != nil || r.Raw != nil || r.Events != nil || or(r.Text, "") == "" && len(r.Tools) == 0
}

// arguments is the text of a call's arguments.
func arguments(t *script.ProviderTool) string {
	var text string
	switch {
	case len(t.Args) == 0:
		return "{}"
	case t.Args[0] == '"' && json.Unmarshal(t.Args, &text) == nil:
		return text
	}
	return string(t.Args)
}

func or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}
