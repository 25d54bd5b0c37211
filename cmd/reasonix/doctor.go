package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/acpkit/agent"
	"github.com/acpkit/acpkit/cmd/reasonix/internal/terminal"
	"github.com/acpkit/acpkit/generated/acp"
)

type doctorCmd struct {
	CWD     string `name:"cwd" default:"." placeholder:"DIR" help:"Project whose reasonix.toml is looked at too."`
	Model   string `placeholder:"REF" help:"Check for this model instead of the configured default."`
	Offline bool   `help:"Do not ask providers over the network."`
	JSON    bool   `name:"json" help:"Print one JSON object: version, protocolVersion, ok, checks (check, status, text, fix), editor."`
}

// report is a diagnosis as --json prints it.
type report struct {
	Version  string          `json:"version"`
	Protocol int             `json:"protocolVersion"`
	OK       bool            `json:"ok"`
	Checks   []agent.Finding `json:"checks"`
	Editor   json.RawMessage `json:"editor"` // for agent_servers in Zed's settings
}

// Run prints what was found; something that fails makes the exit code 1.
func (c *doctorCmd) Run(sio stdio) error {
	project, err := filepath.Abs(c.CWD)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// Its warnings are findings; they need not be told twice.
	a := options{Model: c.Model, LogLevel: "error"}.agent(sio.err)
	r := report{Version: version, Protocol: acp.Version, Checks: a.Diagnose(ctx, project, !c.Offline)}
	if ctx.Err() != nil {
		return exitCode(130)
	}
	r.OK = !slices.ContainsFunc(r.Checks, func(f agent.Finding) bool { return f.Status == agent.Failed })
	if r.Editor, err = editorEntry(); err != nil {
		return err
	}
	if c.JSON {
		err = r.json(sio)
	} else {
		err = r.print(sio)
	}
	if err == nil && !r.OK {
		err = exitCode(1)
	}
	return err
}

// editorEntry is what an editor that takes a command needs, in Zed's form.
func editorEntry() (json.RawMessage, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	type entry struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	return json.Marshal(map[string]entry{"Reasonix": {"custom", self, []string{"acp"}}})
}

func (r report) json(sio stdio) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(sio.out, "%s\n", agent.Printable(data))
	return err
}

func (r report) print(sio stdio) error {
	s := newScreen(sio, "")
	marks := map[agent.FindingStatus]string{
		agent.OK: s.style(green, "✓"), agent.Warning: s.style(bold, "!"), agent.Failed: s.style(red, "✗"), agent.NotChecked: "·",
	}
	out := bufio.NewWriter(sio.out)
	fmt.Fprintf(out, "reasonix %s, ACP version %d\n", r.Version, r.Protocol)
	for _, f := range r.Checks {
		fmt.Fprintf(out, "%s %s: %s\n", marks[f.Status], terminal.CleanLine(f.Check), terminal.CleanLine(f.Text))
		if f.Fix != "" && f.Status != agent.OK {
			fmt.Fprintf(out, "    → %s\n", terminal.CleanLine(f.Fix))
		}
	}
	entry := strings.TrimSuffix(strings.TrimPrefix(string(r.Editor), "{"), "}")
	fmt.Fprintf(out, "· editor: in Zed's settings.json, below \"agent_servers\": %s\n", terminal.CleanLine(entry))
	return out.Flush()
}
