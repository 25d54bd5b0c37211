package turn

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/acpkit/acpkit/agent/internal/tool"
)

// TestSecretsInResults: what a command or a failure says is redacted, in the event and for the model; of a file only what is
// known to be a secret.
func TestSecretsInResults(t *testing.T) {
	says := func(name string, kind tool.Kind, text string, err error) tool.Tool {
		return tool.Tool{Name: name, Kind: kind, Prepare: func(context.Context, tool.Args) (tool.Invocation, error) {
			return tool.Invocation{Run: func(context.Context) (tool.Output, error) { return tool.Output{Text: text}, err }}, nil
		}}
	}
	s := newSession(t, `{"tools":[{"id":"a","name":"run"},{"id":"b","name":"read"},{"id":"c","name":"fail"}]}`, `{"text":"end"}`)
	s.tools = []tool.Tool{says("run", tool.KindExecute, "key=K like=L", nil), says("read", tool.KindRead, "key=K like=L", nil), says("fail", tool.KindRead, "", errors.New("key=K like=L"))}
	s.redact = strings.NewReplacer("K", "[redacted]", "L", "[redacted]").Replace
	s.hide = strings.NewReplacer("K", "[redacted]").Replace
	expect(t, s, s.prompt(t.Context(), "go"), EndTurn{},
		"call a run", "start a", "done a key=[redacted] like=[redacted]", "call b read", "start b", "done b key=[redacted] like=L",
		"call c fail", "start c", "failed c fail: key=[redacted] like=[redacted]", "text end")
	for _, m := range s.requests[1].Messages {
		if strings.Contains(m.Text, "K ") {
			t.Errorf("the model reads %q", m.Text)
		}
	}
}
