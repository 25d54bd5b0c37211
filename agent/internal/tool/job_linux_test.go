package tool

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func background(t *testing.T, s *Shell, command string) string {
	t.Helper()
	text, err := bash(t, s, command, `,"run_in_background":true`)
	id, ok := strings.CutPrefix(text, "Started as ")
	if err != nil || !ok {
		t.Fatalf("%q, %v", text, err)
	}
	id, _, _ = strings.Cut(id, ".")
	return id
}

func TestJobs(t *testing.T) {
	places(t, func(t *testing.T, s *Shell) {
		output := func(tool Tool, args string) string {
			t.Helper()
			out, err := run(t, tool, args)
			if err != nil {
				t.Errorf("%s %s: %v", tool.Name, args, err)
			}
			return out.Text
		}
		word := sleeper()
		id := background(t, s, "echo one; until [ -e go ]; do sleep 0.02; done; printf 'two\\xc3'; until [ -e stop ]; do sleep 0.02; done; printf '\\xa9 end'; exit 3")
		if id != "bash_1" {
			t.Errorf("the first is called %s", id)
		}
		until := func(want string) (text string) {
			t.Helper()
			for range 500 {
				if text += output(BashOutput(s.Jobs), `{"id":"bash_1"}`); strings.Contains(text, want) {
					return text
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Fatalf("%q never came: %q", want, text)
			return ""
		}
		if text := until("one\n"); !strings.Contains(text, "bash_1: running\n") {
			t.Error(text)
		}
		put(t, s.conf.Workspace, "go", "")
		until("two")
		if text := output(WaitJob(s.Jobs), `{"id":"bash_1","timeout_ms":1}`); text != "bash_1: running\n(nothing new)" {
			t.Errorf("waiting too short: %q", text)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		inv, err := prepare(t, WaitJob(s.Jobs), `{"id":"bash_1"}`)
		if _, err2 := inv.Run(ctx); err != nil || !errors.Is(err2, context.Canceled) {
			t.Errorf("waiting cancelled: %v, %v", err, err2)
		}
		put(t, s.conf.Workspace, "stop", "")
		if text := output(WaitJob(s.Jobs), `{"id":"bash_1"}`); text != "bash_1: exit code 3\né end" {
			t.Errorf("the end: %q", text)
		}
		if text := output(BashOutput(s.Jobs), `{"id":"bash_1"}`); text != "bash_1: exit code 3\n(nothing new)" {
			t.Errorf("after the end: %q", text)
		}
		if _, text, err := s.Jobs.Get("bash_1"); err != nil || text != "one\ntwoé end" {
			t.Errorf("all of it: %q, %v", text, err)
		}

		id = background(t, s, "trap 'echo asked; exit' TERM; (sleep "+word+" & sleep "+word+" & wait) & echo ready; sleep "+word)
		for range 500 {
			if _, text, _ := s.Jobs.Get(id); text != "" {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if text := output(KillShell(s.Jobs), `{"id":"`+id+`"}`); !strings.HasPrefix(text, id+": stopped\nready\n") {
			t.Errorf("stopped: %q", text)
		}
		gone(t, word)
		if err := s.Jobs.Stop(id); err != nil {
			t.Errorf("stopped again: %v", err)
		}
		list := s.Jobs.List()
		if len(list) != 2 || list[0].State != "exit code 3" || list[1].State != "stopped" || list[1].ID != "bash_2" || list[0].Since.IsZero() {
			t.Errorf("list: %+v", list)
		}
		for _, tool := range s.Tools()[1:] {
			if _, err := prepare(t, tool, `{"id":"bash_9"}`); err == nil || !strings.Contains(err.Error(), `no "bash_9"`) {
				t.Errorf("%s: %v", tool.Name, err)
			}
			if inv, err := prepare(t, tool, `{"id":"`+id+`"}`); err != nil || inv.Title == "" {
				t.Errorf("%s: %q, %v", tool.Name, inv.Title, err)
			}
		}
		background(t, s, "sleep "+word)
		s.Close()
		gone(t, word)
		if _, err := bash(t, s, "true", `,"run_in_background":true`); !errors.Is(err, errClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// TestStoppedWhileItStarts: the sandbox is a process of its own before it is one
// around the command, and nothing of it may stay, whenever it is ended.
func TestStoppedWhileItStarts(t *testing.T) {
	places(t, func(t *testing.T, s *Shell) {
		word := sleeper()
		for i := range 60 {
			id := background(t, s, "sleep "+word)
			time.Sleep(time.Duration(i) * 300 * time.Microsecond)
			if err := s.Jobs.Stop(id); err != nil {
				t.Error(err)
			}
		}
		gone(t, word)
	})
}

func TestJobLimits(t *testing.T) {
	s := shell(t, ShellConfig{})
	first := background(t, s, "true")
	word := sleeper()
	for range maxJobs - 1 {
		background(t, s, "sleep "+word)
	}
	if _, err := run(t, WaitJob(s.Jobs), `{"id":"`+first+`"}`); err != nil {
		t.Fatal(err)
	}
	background(t, s, "sleep "+word) // in the place of the first
	if _, _, err := s.Jobs.Get(first); err == nil {
		t.Error("the first is still there")
	}
	if _, err := bash(t, s, "sleep "+word, `,"run_in_background":true`); err == nil || !strings.Contains(err.Error(), "16 commands") {
		t.Errorf("one too many: %v", err)
	}
	if err := s.Jobs.Stop("bash_2"); err != nil {
		t.Fatal(err)
	}
	id := background(t, s, "yes | head -c 3000000; echo end")
	if _, err := run(t, WaitJob(s.Jobs), `{"id":"`+id+`"}`); err != nil {
		t.Fatal(err)
	}
	if _, text, err := s.Jobs.Get(id); err != nil || len(text) < keptJob || len(text) > keptJob+100 || !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "y\nend\n") {
		t.Errorf("%d bytes: %.40q, %v", len(text), text, err)
	}
	s.Close()
	gone(t, word)
}
