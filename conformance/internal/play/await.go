package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/acpkit/conformance/internal/transcript"
)

// errMissed says that what an await wants was there once, which is the usual reason why it waits in vain.
var errMissed = errors.New("a line that fits stands in the transcript already; this await looks only behind the last match")

// await does one await step. Answers come in any order, so any answer that no await has taken will do. Everything else is
// looked for behind the last match only: the tool_call of the turn before must not satisfy an await for this turn's.
func (p *player) await(ctx context.Context, s transcript.Step) error {
	search, err := p.search(s)
	if err != nil {
		return err
	}
	anywhere := s.Kind == transcript.AwaitResponse || s.Kind == transcript.AwaitError
	i, err := p.wait(ctx, func() int {
		if anywhere {
			return search(p.lines)
		}
		if i := search(p.lines[p.mark:]); i >= 0 {
			return p.mark + i
		}
		return -1
	})
	if err != nil {
		if !anywhere && search(p.lines[:p.mark]) >= 0 {
			return fmt.Errorf("%w\n%w", err, errMissed)
		}
		return err
	}
	p.lines[i].consumed = true
	p.record(i + 1)
	return nil
}

// search returns the function that finds the line which an await wants: its index in the lines given, or -1.
func (p *player) search(s transcript.Step) (func([]line) int, error) {
	params, err := p.rec.Expand(s.Params)
	if err != nil {
		return nil, err
	}
	switch s.Kind {
	case transcript.AwaitResponse:
		return first(func(l line) bool { return l.Kind == transcript.Response && l.ID == s.Arg }), nil
	case transcript.AwaitError:
		return first(func(l line) bool { return l.Kind == transcript.Response && l.ID == "null" && l.Code == s.Arg }), nil
	case transcript.AwaitUpdate:
		return first(func(l line) bool {
			return l.Kind == transcript.Notification && l.Update == s.Arg && l.ParamsContain(params)
		}), nil
	case transcript.AwaitRequest, transcript.AwaitNotification:
		kind := transcript.Request
		if s.Kind == transcript.AwaitNotification {
			kind = transcript.Notification
		}
		return first(func(l line) bool { return l.Kind == kind && l.Method == s.Arg && l.ParamsContain(params) }), nil
	}
	text, err := p.rec.ExpandText(s.Arg)
	return func(lines []line) int { return said(lines, text) }, err
}

// first finds the first line that fits and that no await has taken.
func first(fits func(line) bool) func([]line) int {
	return func(lines []line) int {
		return slices.IndexFunc(lines, func(l line) bool { return !l.consumed && fits(l) })
	}
}

// said finds the line whose message chunk completes text, however the text is cut.
func said(lines []line, text string) int {
	var end string // the last characters said, as many as text could need
	for i, l := range lines {
		if l.MessageText() == "" {
			continue
		}
		end += l.MessageText()
		if strings.Contains(end, text) {
			return i
		}
		end = end[max(0, len(end)-len(text)):]
	}
	return -1
}

// wait returns the index that find finds in p.lines, as soon as the agent has written that line; find returns -1 until then.
func (p *player) wait(ctx context.Context, find func() int) (int, error) {
	timer := time.NewTimer(p.cfg.Timeout)
	defer timer.Stop()
	for ended := false; ; {
		p.pull()
		if i := find(); i >= 0 {
			return i, nil
		}
		if ended {
			return -1, fmt.Errorf("it cannot come any more: %s", p.proc.state())
		}
		select {
		case <-p.proc.out.changed:
		case <-p.proc.out.ended:
			ended = true // once more: the last lines may have come since
		case <-timer.C:
			return -1, fmt.Errorf("timed out after %s", p.cfg.Timeout)
		case <-ctx.Done():
			return -1, context.Cause(ctx)
		}
	}
}
