package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/acpkit/acpkit/agent/internal/permission"
)

// ErrNoGoal is the error of update_goal when there is nothing to update.
var ErrNoGoal = errors.New("the session has no goal: the user sets one in goal mode")

// The states that the model can give a goal.
const (
	GoalComplete = "complete"
	GoalBlocked  = "blocked"
)

// UpdateGoal is the tool update_goal. set takes GoalComplete or GoalBlocked, and may return ErrNoGoal.
func UpdateGoal(set func(ctx context.Context, state, reason string) error) Tool {
	return Tool{
		Name: "update_goal",
		Description: "In goal mode, say that the goal is reached (complete) or that you cannot go on without the user (blocked). " +
			"Check the result before you say complete.",
		Params: json.RawMessage(`{"type":"object","properties":{` +
			`"status":{"type":"string","enum":["complete","blocked"]},` +
			`"reason":{"type":"string","description":"What was reached, or what is missing."}},"required":["status"]}`),
		Kind: KindThink,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			inv := Invocation{Title: "Update the goal"}
			state, err := args.String("status")
			if err != nil {
				return inv, err
			}
			reason := ""
			if args.Has("reason") {
				if reason, err = args.String("reason"); err != nil {
					return inv, err
				}
			}
			if state = strings.TrimSpace(state); state != GoalComplete && state != GoalBlocked {
				return inv, errors.New("status must be complete or blocked")
			}
			inv.Title = "The goal is " + state
			inv.Run = func(ctx context.Context) (Output, error) {
				if err := set(ctx, state, reason); err != nil {
					return Output{}, err
				}
				return Output{Text: "The goal is " + state + ". Tell the user in a few words, and stop."}, nil
			}
			return inv, nil
		},
	}
}

// ErrNoPlanMode is the error of exit_plan_mode outside plan mode.
var ErrNoPlanMode = errors.New("the session is not in plan mode; go on with the work")

// ExitPlanMode is the tool exit_plan_mode. The user reads the plan with the permission request; approved ends plan mode, and
// may return ErrNoPlanMode.
func ExitPlanMode(planning func() bool, approved func(context.Context) error) Tool {
	return Tool{
		Name:        "exit_plan_mode",
		Description: "In plan mode, propose your plan to the user, in Markdown. When the user approves it, plan mode ends and you carry the plan out.",
		Params:      json.RawMessage(`{"type":"object","properties":{"plan":{"type":"string","description":"The whole plan, in Markdown."}},"required":["plan"]}`),
		Kind:        KindMode,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			inv := Invocation{Title: "Approve the plan"}
			plan, err := args.String("plan")
			switch {
			case err != nil:
				return inv, err
			case strings.TrimSpace(plan) == "":
				return inv, errors.New("plan is empty")
			}
			inv.Text = plan
			if !planning() {
				return inv, ErrNoPlanMode
			}
			inv.Access = permission.Access{Kind: permission.Approve, Fresh: true}
			inv.Run = func(ctx context.Context) (Output, error) {
				if err := approved(ctx); err != nil {
					return Output{}, err
				}
				return Output{Text: "The user has approved the plan. Plan mode is over: carry it out.\n\n" + plan}, nil
			}
			return inv, nil
		},
	}
}
