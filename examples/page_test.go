package examples

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/acpkit/acpkit/generated/acp"
	"github.com/acpkit/acpkit/host"
	"github.com/acpkit/acpkit/rpc"
)

// The pieces of docs/go-sdk.md that stand in neither program.

func launch(ctx context.Context) error {
	p, err := host.Launch(ctx, host.Command{Args: []string{"reasonix", "acp", "--model", "offline/demo"}, Stderr: os.Stderr}, host.Config{})
	if err != nil {
		return err
	}
	defer p.Close()
	if _, err := p.Initialize(ctx); err != nil {
		return err
	}
	s, err := p.NewSession(ctx, "/absolute/path")
	if err != nil {
		return err
	}
	turn, err := s.Prompt(ctx, "Introduce yourself")
	if err != nil {
		return err
	}
	fmt.Println(turn.Text(), turn.StopReason)
	return nil
}

func load(ctx context.Context, p *host.Process, id acp.SessionID) error {
	s, replay, err := p.LoadSession(ctx, id, "/absolute/path")
	if err != nil {
		return err
	}
	fmt.Println(len(replay), "updates of earlier turns, and", len(s.Unprompted()), "since")
	return nil
}

func code(err error) {
	var e *acp.Error
	switch {
	case errors.As(err, &e) && e.Code == acp.ErrorCodeAuthenticationRequired:
		fmt.Println("sign in first:", e.Message)
	case errors.Is(err, rpc.ErrClosed):
		fmt.Println("the agent has gone:", err)
	}
}

func title(u *acp.SessionInfoUpdate) {
	switch {
	case !u.Title.Set: // absent: keep the old one
	case u.Title.Value == nil: // null: take it away
	default:
		fmt.Println("now called", *u.Title.Value)
	}
}

func options(ctx context.Context, a acp.Agent, id acp.SessionID) error {
	_, err := a.SessionSetConfigOption(ctx, &acp.SetSessionConfigOptionRequest{SessionID: id, ConfigID: "model",
		Value: &acp.SetSessionConfigOptionRequestValueID{Value: "provider/model"}})
	return err
}

// TestPieces runs what the page shows of the host.
func TestPieces(t *testing.T) {
	bin := t.TempDir()
	build(t, bin)
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("REASONIX_HOME", t.TempDir())
	if err := launch(t.Context()); err == nil { // there is no /absolute/path
		t.Error("a session in a folder that is not there")
	} else {
		code(err)
	}
	p, err := host.Launch(t.Context(), host.Command{Args: []string{"reasonix", "acp", "--model", "offline/demo"}}, host.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var e *acp.Error
	if err := load(t.Context(), p, "nobody"); !errors.As(err, &e) {
		t.Errorf("load: %v", err)
	}
	if err := options(t.Context(), p.Agent, "nobody"); !errors.As(err, &e) {
		t.Errorf("set_config_option: %v", err)
	}
	title(&acp.SessionInfoUpdate{Title: acp.Value("T")})
}
