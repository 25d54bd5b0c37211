// Package status follows what a session is doing, from its events: the same ones
// live and when it is opened again, so that both tell the same. It knows no wire
// and no currency.
package status

import (
	"unicode/utf8"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/model"
)

// The modes that matter here: in one a prompt becomes a goal, in the other the model only plans.
const (
	goalMode = "goal"
	planMode = "plan"
)

// complete is the state of a goal that is reached.
const complete = "complete"

// maxSummary bounds Status.Summary and Goal.Objective, in bytes.
const maxSummary = 16 << 10

// Phase is what the session is doing, or how its last turn ended.
type Phase string

// The phases so far.
const (
	Idle              Phase = "idle"
	Starting          Phase = "starting"
	Planning          Phase = "planning"
	Implementing      Phase = "implementing"
	WaitingPermission Phase = "waiting_permission"
	WaitingInput      Phase = "waiting_input"
	Completed         Phase = "completed"
	ReviewReady       Phase = "review_ready"
	Paused            Phase = "paused"
	RecoveryPaused    Phase = "recovery_paused"
	Cancelled         Phase = "cancelled"
	Error             Phase = "error"
)

// Outcome is how the last turn ended.
type Outcome string

// The outcomes.
const (
	NoOutcome        Outcome = "none"
	CompletedOutcome Outcome = "completed"
	CancelledOutcome Outcome = "cancelled"
	PausedOutcome    Outcome = "paused"
	ErrorOutcome     Outcome = "error"
)

// Publish says why a status is to be told to the host; "" is for not at all.
type Publish string

// The reasons, in the words of the wire.
const (
	PhaseEvent      Publish = "phase"
	UsageEvent      Publish = "usage"
	CompletionEvent Publish = "completion"
	PauseEvent      Publish = "pause"
	ErrorEvent      Publish = "error"
)

// Totals are sums over model calls.
type Totals struct {
	model.Usage
	Calls int
	Last  model.Usage // of the latest call alone
}

func (t *Totals) add(u model.Usage) {
	t.Input += u.Input
	t.Output += u.Output
	t.Cached += u.Cached
	t.Reasoning += u.Reasoning
	t.Last = u
	t.Calls++
}

// Goal is what the session works towards in goal mode.
type Goal struct {
	Objective string // "" when there is none
	State     string // "" while it is open, else the model's word: complete or blocked
	Reason    string // of the state
	Turns     uint64
	Tokens    uint64
	Requests  uint64
}

// Status is the state of one session. The zero value is a new one.
type Status struct {
	Sequence uint64 // grows with each change, also those that are not published
	Running  bool
	Phase    Phase
	Outcome  Outcome
	Reason   string // of the outcome
	Ready    bool   // the last turn ended normally
	Summary  string // the model's last words
	Turn     Totals // the running turn, or the last one
	All      Totals
	Turns    int
	Goal     Goal
	// Stopped is the outcome of a turn that was cancelled or failed, until the
	// next begins; it covers the goal's own state.
	Stopped event.Outcome

	words []byte // of the model's running answer, as far as clip looks at them
}

// Apply takes the next event, behind which the session has this mode, and says
// whether the new status is to be published.
func (s *Status) Apply(e event.Event, mode string) Publish {
	s.leave(mode)
	switch e := e.(type) {
	case event.Opened:
		s.Phase, s.Outcome = Idle, NoOutcome
	case event.Set:
		s.Sequence++
	case event.Prompt:
		s.begin()
		switch {
		case mode == goalMode && (s.Goal.Objective == "" || s.Goal.State == complete):
			s.Goal = Goal{Objective: clip(e.Text)}
		case mode == goalMode: // goes on, blocked or not
			s.Goal.State, s.Goal.Reason = "", ""
		}
		return PhaseEvent
	case event.Command:
		s.begin()
		return PhaseEvent
	case event.Text:
		if len(s.words) <= maxSummary {
			s.words = append(s.words, e.Text...)
		}
	case event.Output:
		s.Summary = clip(e.Text)
	case event.Answer:
		if len(s.words) > 0 {
			s.Summary = clip(string(s.words))
			s.words = nil
		}
		if len(e.Calls) > 0 {
			if s.change(Implementing); mode == planMode {
				s.Phase = Planning
			}
		}
	case event.Usage:
		s.Turn.add(e.Usage)
		s.All.add(e.Usage)
		s.Goal.count(e.Usage)
		s.Sequence++
		return UsageEvent
	case event.Goal:
		if s.Goal.Objective != "" {
			s.Goal.State, s.Goal.Reason = e.State, clip(e.Reason)
			s.Sequence++
		}
	case event.Waiting:
		if e.Input {
			s.change(WaitingInput)
			return PhaseEvent
		}
		s.change(WaitingPermission)
		return PhaseEvent
	case event.Done:
		return s.end(e)
	}
	return ""
}

func (s *Status) change(p Phase) {
	s.Phase = p
	s.Sequence++
}

func (s *Status) begin() {
	s.Running, s.Outcome, s.Reason, s.Ready, s.Summary, s.Stopped = true, NoOutcome, "", false, "", ""
	s.Turn = Totals{}
	s.Turns++
	s.words = nil
	s.change(Starting)
}

func (s *Status) end(e event.Done) Publish {
	if len(s.words) > 0 { // cut off
		s.Summary = clip(string(s.words))
		s.words = nil
	}
	s.Running, s.Reason, s.Ready = false, e.Reason, false
	if s.Goal.Objective != "" {
		s.Goal.Turns++
	}
	publish := CompletionEvent
	switch e.Outcome {
	case event.Cancelled:
		s.Outcome, s.Stopped = CancelledOutcome, e.Outcome
		s.change(Cancelled)
	case event.Failed:
		s.Outcome, s.Stopped, publish = ErrorOutcome, e.Outcome, ErrorEvent
		s.change(Error)
	case event.MaxTurnRequests, event.Budget, event.Dismissed:
		s.Outcome, publish = PausedOutcome, PauseEvent
		s.change(Paused)
	default:
		if e.Outcome == event.EndTurn && s.Goal.Objective != "" && s.Goal.State != complete {
			s.Outcome, publish = PausedOutcome, PauseEvent
			s.change(Paused)
			break
		}
		s.Outcome, s.Ready = CompletedOutcome, e.Outcome == event.EndTurn
		if s.Goal.State == complete {
			s.change(ReviewReady)
			break
		}
		s.change(Completed)
	}
	return publish
}

// leave takes the goal away when the session is in another mode.
func (s *Status) leave(mode string) {
	if mode != goalMode {
		s.Goal = Goal{}
	}
}

// Recover ends what the events left running: the process that ran it has died.
func (s *Status) Recover(mode string) {
	s.leave(mode)
	if !s.Running {
		return
	}
	s.Running, s.Outcome, s.Ready = false, PausedOutcome, false
	if len(s.words) > 0 {
		s.Summary = clip(string(s.words))
		s.words = nil
	}
	s.change(RecoveryPaused)
}

func (g *Goal) count(u model.Usage) {
	if g.Objective != "" {
		g.Tokens += u.Input + u.Output
		g.Requests++
	}
}

func clip(s string) string {
	if len(s) <= maxSummary {
		return s
	}
	end := maxSummary - len("…")
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
