package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMain makes the test binary the command too.
func TestMain(m *testing.M) {
	if os.Getenv("ACPCONFORM_TEST") == "" {
		os.Exit(m.Run())
	}
	main()
}

// TestExitCodes: 2 is a bad flag, 1 a fault; neither says anything on stdout.
func TestExitCodes(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, []byte("{\"text\":\"a\"}\n{\"texts\":\"a\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		text string
	}{
		{nil, 2, "expected one of"},
		{[]string{"run"}, 2, "run"},
		{[]string{"provider", "--script", bad + "x"}, 2, "bad.jsonlx"},
		{[]string{"provider", "--script", bad}, 1, `script: line 2: unknown member "texts"`},
		{[]string{"provider", "--addr", "0.0.0.0:0"}, 1, "not a loopback address"},
		{[]string{"--help"}, 0, "provider"},
		{[]string{"version"}, 0, "acpconform " + version + "\n"},
	} {
		var stdout, stderr bytes.Buffer
		code := run(c.args, stdio{strings.NewReader(""), &stdout, &stderr})
		text, silent := stderr.String(), stdout.String()
		if c.code == 0 {
			text, silent = silent, text
		}
		if code != c.code || !strings.Contains(text, c.text) || silent != "" {
			t.Errorf("%q: exit code %d, %q, %q", c.args, code, stdout.String(), stderr.String())
		}
	}
}

// TestProvider: the process says where it listens, plays the script, and ends when it is told to.
func TestProvider(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(script, []byte(`{"text":"from the file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func(p *os.Process, stdin io.Closer) error{
		"SIGTERM": func(p *os.Process, _ io.Closer) error { return p.Signal(syscall.SIGTERM) },
		"EOF":     func(_ *os.Process, stdin io.Closer) error { return stdin.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(exe, "provider", "--script", script, "--until-eof", "--model", "m1")
			cmd.Env = append(os.Environ(), "ACPCONFORM_TEST=1", "GORACE=atexit_sleep_ms=0")
			cmd.Stderr = os.Stderr
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			out := bufio.NewReader(stdout)
			line, err := out.ReadString('\n')
			url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
			if err != nil || !ok || !strings.HasPrefix(url, "http://127.0.0.1:") {
				t.Fatalf("%q, %v", line, err)
			}
			for _, c := range []struct{ path, body, want string }{
				{"/v1/models", "", `"id":"m1"`},
				{"/v1/chat/completions", `{"stream":true,"messages":[]}`, `"content":"from the file"`},
				{"/v1/chat/completions", `{"messages":[]}`, "none left"},
				{"/_requests", "", `"number":3,`},
			} {
				if got := answer(t, url+c.path, c.body); !strings.Contains(got, c.want) {
					t.Errorf("%s: %s", c.path, got)
				}
			}
			if err := end(cmd.Process, stdin); err != nil {
				t.Fatal(err)
			}
			if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
				t.Errorf("also on stdout: %q, %v", rest, err)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// answer is the body of a GET, or of a POST if there is something to post.
func answer(t *testing.T, url, body string) string {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
