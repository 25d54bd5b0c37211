package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// TodoWrite is the tool todo_write. It changes nothing but the plan the user sees.
func TodoWrite() Tool {
	return Tool{
		Name: "todo_write",
		Description: "Show the user your plan for a task of several steps. Send the complete list each time: it replaces the last one. " +
			"Keep exactly one step in_progress while you work.",
		Params: json.RawMessage(`{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{` +
			`"content":{"type":"string","description":"The step, in a few words."},` +
			`"status":{"type":"string","enum":["pending","in_progress","completed"]},` +
			`"priority":{"type":"string","enum":["high","medium","low"]}},` +
			`"required":["content","status"]}}},"required":["todos"]}`),
		Kind: KindThink,
		Prepare: func(_ context.Context, args Args) (Invocation, error) {
			inv := Invocation{Title: "Update the plan"}
			if !args.Has("todos") {
				return inv, errors.New("todos is missing")
			}
			var todos []todo
			if json.Unmarshal(args["todos"], &todos) != nil {
				return inv, errors.New(`todos must be an array of objects like {"content": "…", "status": "pending"}`)
			}
			done := 0
			for _, t := range todos {
				if strings.TrimSpace(t.Content) == "" {
					continue
				}
				entry := t.entry()
				if entry.Status == "completed" {
					done++
				}
				inv.Plan = append(inv.Plan, entry)
			}
			inv.Title = fmt.Sprintf("Update the plan (%d of %d done)", done, len(inv.Plan))
			text := fmt.Sprintf("The plan has %d steps, %d of them completed.", len(inv.Plan), done)
			inv.Run = func(context.Context) (Output, error) { return Output{Text: text}, nil }
			return inv, nil
		},
	}
}

// todo is one item as models send it. Some rank by level, where 0 is the highest.
type todo struct {
	Content  string
	Status   any
	Priority any
	Level    any
}

// entry is lenient: a wrong status or priority is not worth a failed call.
func (t todo) entry() PlanEntry {
	e := PlanEntry{Content: t.Content, Status: "pending", Priority: "high"}
	switch t.Status {
	case "in_progress", "completed":
		e.Status = t.Status.(string)
	}
	switch t.Priority {
	case "high", "medium", "low":
		e.Priority = t.Priority.(string)
	default:
		if t.Level != nil && t.Level != 0.0 {
			e.Priority = "medium"
		}
	}
	return e
}
