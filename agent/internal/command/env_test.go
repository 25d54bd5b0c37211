package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// noon is the time of everything in these tests, in a zone that is not UTC.
var noon = time.Date(2026, 3, 4, 13, 0, 0, 0, time.FixedZone("", 3600))

// calls records what the commands change.
type calls []string

func (c *calls) add(format string, args ...any) { *c = append(*c, fmt.Sprintf(format, args...)) }

// full is a session in which everything has something to show.
func full(done *calls) Env {
	return Env{
		Others: func() []Entry { return []Entry{{"ci:build", "Build it", "[target]"}, {"status", "another", ""}} },
		Status: func() Status {
			return Status{
				SessionID: "s1", State: "idle", Phase: "completed", Model: "deepseek/flash", Effort: "high",
				Mode: "plan", Preset: "workspace-write", Sandbox: "bubblewrap", ContextUsed: 1234, ContextSize: 64000,
				Turns: 3, Tokens: Tokens{1200, 800, 340, 100}, Cost: "0.0042 USD",
			}
		},
		Session: func() Session {
			return Session{
				ID: "s1", CWD: "/home/me/my  project", Dirs: []string{"/lib", "/docs"}, Title: "Fix the build", Created: noon,
				Updated: noon.Add(time.Hour), Messages: 8, Events: 21, Bytes: 4096, Folder: "/home/acp/s1",
			}
		},
		Save: func() (Saved, error) { done.add("save"); return Saved{"/home/acp/s1", 21, "sha256:ab12"}, nil },
		Providers: func() ([]Provider, error) {
			return []Provider{
				{"deepseek", "openai", "https://user:SECRET@api.deepseek.com/v1?key=SECRET#SECRET", []string{"chat", "flash"}, "flash", "DEEPSEEK_API_KEY", true},
				{"Local", "openai", "http://localhost:1234", nil, "", "", false},
				{"plain", "openai", "http://[::SECRET", []string{"one"}, "", "PLAIN_KEY", false},
			}, nil
		},
		Models:       func() ([]string, error) { return []string{"deepseek/chat", "deepseek/flash", "plain/one"}, nil },
		CurrentModel: func() string { return "deepseek/flash" },
		SwitchModel: func(_ context.Context, ref string) (string, error) {
			done.add("model %q", ref)
			switch ref {
			case "":
				return "deepseek/chat", nil
			case "nobody":
				return "", errors.New("no model is called nobody")
			}
			return ref, nil
		},
		Experiments:   func() []Experiment { return []Experiment{{"fast_edit", "Edits in one go", true}, {"other", "", false}} },
		SetExperiment: func(name string, on bool) error { done.add("%s %v", name, on); return nil },
		MCP: func() []MCPServer {
			return []MCPServer{
				{"files", "stdio", "ready", []string{"read", "write"}, ""},
				{"web", "http", "failed", nil, "connection\nrefused"},
			}
		},
		Sessions: func() ([]StoredSession, error) {
			return []StoredSession{{"s0", "", noon}, {"s1", "Fix the\nbuild", noon.Add(time.Hour)}}, nil
		},
		History: func(n int) ([]Message, error) {
			done.add("history %d", n)
			return []Message{
				{"user", "Fix\n\nthe build"}, {"assistant", ""}, {"tool read_file", strings.Repeat("line\n", 100)}, {"assistant", "Done."},
			}, nil
		},
		Events: func(n int) ([]Event, error) {
			done.add("events %d", n)
			return []Event{{20, noon, "user_message", 120}, {21, noon, "turn_end", 42}}, nil
		},
		Compactions: func(n int) ([]Compaction, error) {
			done.add("compacts %d", n)
			return []Compaction{{noon, 40, 12, 60000, 9000}}, nil
		},
		Tree: func() ([]Turn, error) {
			return []Turn{
				{"Fix\nthe build", []Step{
					{ToolCall, "Read main.go", "completed"}, {Steer, "use tabs", ""}, {Compacted, "40 -> 12 messages", ""}, {ToolCall, "Run make", "failed"},
				}, "end_turn"},
				{"Go on", []Step{{ToolCall, "Run make", ""}}, ""},
			}, nil
		},
		Team: func() []Member {
			return []Member{{"reviewer", "Reviews changes", ""}, {"tester", "", "runs the tests"}}
		},
		Checkpoint: func() (Checkpoint, error) {
			return Checkpoint{Set: true, Time: noon, Missing: []string{"tests were not run", "README is open"}, LastSeq: 21}, nil
		},
		Processes: func() []Process {
			return []Process{{"1", "running", "make\nserve", noon}, {"2", "exited 1", "false", noon}}
		},
		Process: func(id string) (Process, string, error) {
			if id != "1" {
				return Process{}, "", errors.New("no process has the id " + id)
			}
			return Process{"1", "running", "make serve", noon}, "listening\n  on :80\n", nil
		},
		StopProcess: func(id string) error {
			done.add("stop %s", id)
			if id != "1" {
				return errors.New("no process has the id " + id)
			}
			return nil
		},
	}
}

// empty is a new session in which nothing is configured.
func empty() Env {
	return Env{
		Others:       func() []Entry { return nil },
		Status:       func() Status { return Status{SessionID: "s1"} },
		Session:      func() Session { return Session{ID: "s1", CWD: "/work"} },
		Save:         func() (Saved, error) { return Saved{Folder: "/home/acp/s1"}, nil },
		Providers:    func() ([]Provider, error) { return nil, nil },
		Models:       func() ([]string, error) { return nil, nil },
		CurrentModel: func() string { return "" },
		SwitchModel:  func(context.Context, string) (string, error) { return "", errors.New("no provider is configured") },
		Experiments:  func() []Experiment { return nil },
		MCP:          func() []MCPServer { return nil },
		Sessions:     func() ([]StoredSession, error) { return nil, nil },
		History:      func(int) ([]Message, error) { return nil, nil },
		Events:       func(int) ([]Event, error) { return nil, nil },
		Compactions:  func(int) ([]Compaction, error) { return nil, nil },
		Tree:         func() ([]Turn, error) { return nil, nil },
		Team:         func() []Member { return nil },
		Checkpoint:   func() (Checkpoint, error) { return Checkpoint{}, nil },
		Processes:    func() []Process { return nil },
		Process:      func(string) (Process, string, error) { return Process{"1", "running", "sleep 9", noon}, " \n", nil },
		StopProcess:  func(string) error { return errors.New("it has ended") },
	}
}

// broken is a session whose every look fails.
func broken() Env {
	err := errors.New("the disk is gone")
	return Env{
		Save:          func() (Saved, error) { return Saved{}, err },
		Providers:     func() ([]Provider, error) { return nil, err },
		Models:        func() ([]string, error) { return nil, err },
		SwitchModel:   func(context.Context, string) (string, error) { return "", err },
		Experiments:   func() []Experiment { return []Experiment{{Name: "fast_edit"}} },
		SetExperiment: func(string, bool) error { return err },
		Sessions:      func() ([]StoredSession, error) { return nil, err },
		History:       func(int) ([]Message, error) { return nil, err },
		Events:        func(int) ([]Event, error) { return nil, err },
		Compactions:   func(int) ([]Compaction, error) { return nil, err },
		Tree:          func() ([]Turn, error) { return nil, err },
		Checkpoint:    func() (Checkpoint, error) { return Checkpoint{}, err },
		Process:       func(string) (Process, string, error) { return Process{}, "", err },
		StopProcess:   func(string) error { return err },
	}
}
