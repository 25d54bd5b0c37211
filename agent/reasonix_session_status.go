package agent

import (
	"context"

	"github.com/acpkit/acpkit/agent/internal/event"
	"github.com/acpkit/acpkit/agent/internal/sandbox"
	"github.com/acpkit/acpkit/agent/internal/session"
	"github.com/acpkit/acpkit/agent/internal/status"
	"github.com/acpkit/acpkit/agent/internal/tool"
	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/generated/reasonix"
)

// statusVersion is the version of the status objects.
const statusVersion = 1

// reasonixSessionStatus tells what a session is doing, at once also during a turn.
// Error: -32602 for an unknown session. Source: wire 19.
func (c *connection) reasonixSessionStatus(_ context.Context, p *reasonix.SessionStatusRequest) (*reasonix.SessionStatus, error) {
	s := c.sessions.Find(string(p.SessionID))
	if s == nil {
		return nil, badParam(reasonix.MethodReasonixSessionStatus, "/sessionId", "unknown session %q", p.SessionID)
	}
	report := c.statusReport(s, s.State())
	return &report, nil
}

// tellStatus publishes the status. The caller holds s.Show.
func (c *connection) tellStatus(ctx context.Context, s *session.Session, why status.Publish) error {
	state := s.State()
	return c.client.ReasonixSessionStatusUpdate(ctx, &reasonix.SessionStatusUpdateNotification{SchemaVersion: statusVersion, Sequence: state.Status.Sequence,
		SessionID: acp.SessionID(s.ID), Event: reasonix.SessionStatusEvent(why), Status: c.statusReport(s, state)})
}

func (c *connection) statusReport(s *session.Session, state session.State) reasonix.SessionStatus {
	st := &state.Status
	r := reasonix.SessionStatus{
		SchemaVersion: statusVersion, Sequence: st.Sequence, SessionID: acp.SessionID(s.ID), State: reasonix.SessionStateIdle,
		Model: reasonix.ModelReference(state.Axes.Model), Effort: state.Axes.Effort, Mode: reasonix.CollaborationMode(state.Axes.Mode),
		WorkMode: reasonix.WorkModeStandard, PlannerMode: reasonix.PlannerModeOff, Goal: goalReport(st), Phase: reasonix.SessionPhase(st.Phase),
		TurnOutcome:    reasonix.TurnOutcome{Kind: reasonix.TurnOutcomeKind(st.Outcome)},
		FinalReadiness: reasonix.FinalReadiness{ReadyForReview: st.Ready, Summary: st.Summary, Risks: []string{}},
		Sandbox:        c.sandboxReport(s),
		Usage:          reasonix.SessionUsage{Turn: totals(st.Turn), Cumulative: totals(st.All)},
	}
	if st.Running {
		r.State = reasonix.SessionStateRunning
	}
	if st.Reason != "" {
		r.TurnOutcome.Reason = &st.Reason
	}
	return r
}

// sandboxReport says what confines the commands of the session.
func (c *connection) sandboxReport(s *session.Session) reasonix.SandboxReport {
	r := reasonix.SandboxReport{Mode: reasonix.SandboxModeOff, Engine: reasonix.SandboxEngineNone, Available: true,
		WorkspaceRoot: s.Workspace.Root(), WriteRoots: s.Workspace.Roots(), NetworkEnabled: true}
	if s.Confined {
		engine := c.sandbox.Engine()
		r.Mode, r.Engine, r.Available, r.NetworkEnabled = reasonix.SandboxModeEnforce, reasonix.SandboxEngine(engine), engine != sandbox.None, s.Network
	}
	return r
}

func goalReport(st *status.Status) reasonix.GoalReport {
	r := reasonix.GoalReport{Status: reasonix.GoalStatusNone}
	if st.Goal.Objective != "" {
		r.Status = reasonix.GoalStatusRunning
		switch st.Goal.State {
		case tool.GoalComplete:
			r.Status = reasonix.GoalStatusComplete
		case tool.GoalBlocked:
			r.Status = reasonix.GoalStatusBlocked
		}
		r.Objective = &st.Goal.Objective
		r.Runtime = &reasonix.GoalRuntime{TurnsUsed: st.Goal.Turns, TokensUsed: st.Goal.Tokens}
		if st.Goal.Requests > 0 {
			r.Runtime.RequestsUsed = &st.Goal.Requests
		}
	}
	switch st.Stopped {
	case event.Cancelled:
		r.Status = reasonix.GoalStatusCancelled
	case event.Failed:
		r.Status = reasonix.GoalStatusFailed
	}
	return r
}

func totals(t status.Totals) reasonix.UsageTotals {
	r := reasonix.UsageTotals{
		TotalTokens: t.Input + t.Output, PromptTokens: t.Input, CompletionTokens: t.Output, ReasoningTokens: t.Reasoning,
		CacheHitTokens: t.Cached, CacheMissTokens: t.Input - min(t.Cached, t.Input), UsageSource: reasonix.UsageSourceExecutor,
	}
	if t.Calls > 0 {
		r.ContextPromptTokens, r.ContextCompletionTokens = new(t.Last.Input), new(t.Last.Output)
	}
	if t.Input > 0 {
		r.CacheHitRatio = new(float64(r.CacheHitTokens) / float64(r.CacheHitTokens+r.CacheMissTokens))
	}
	return r
}
