package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The test binary is also the tee and the agent behind it, by TEE_TEST.
func TestMain(m *testing.M) {
	switch os.Getenv("TEE_TEST") {
	case "tee":
		os.Setenv("TEE_TEST", "agent")
		main()
	case "agent":
		agent()
	}
	os.Exit(m.Run())
}

// agent answers what it reads with the same, in upper case, and ends with code 3.
func agent() {
	os.Stderr.WriteString("a word on stderr\n")
	buf := make([]byte, 100)
	for {
		n, err := os.Stdin.Read(buf)
		os.Stdout.Write(upper(buf[:n]))
		if err != nil {
			os.Exit(3)
		}
	}
}

// upper leaves alone what is not ASCII, so that bytes which are no UTF-8 pass.
func upper(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if 'a' <= c && c <= 'z' {
			out[i] = c - 'a' + 'A'
		}
	}
	return out
}

func TestTee(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(self, dir, self)
	cmd.Env = append(os.Environ(), "TEE_TEST=tee")
	var stderr strings.Builder
	cmd.Stderr = &stderr
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
	// One at a time, each awaited: so the order of the two directions is known. The first line comes in two writes.
	for _, s := range []string{`{"a": "b`, "\" }\n", "\n", "no json\r\n", "\xff\n", "\"cut\""} {
		if _, err := io.WriteString(stdin, s); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(s))
		if _, err := io.ReadFull(stdout, got); err != nil {
			t.Fatal(err)
		}
		if want := upper([]byte(s)); !bytes.Equal(got, want) {
			t.Errorf("passed on %q, want %q", got, want)
		}
	}
	stdin.Close()
	if rest, err := io.ReadAll(stdout); err != nil || len(rest) > 0 {
		t.Errorf("at the end: %q, %v", rest, err)
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 3 {
		t.Errorf("ended with %v, want exit code 3", err)
	}
	if stderr.String() != "a word on stderr\n" {
		t.Errorf("stderr is %q", stderr.String())
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	got, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"from":"client","msg":{"a": "b" }}
{"from":"agent","msg":{"A": "B" }}
{"from":"client","raw":""}
{"from":"agent","raw":""}
{"from":"client","raw":"bm8ganNvbg0="}
{"from":"agent","raw":"Tk8gSlNPTg0="}
{"from":"client","raw":"/w=="}
{"from":"agent","raw":"/w=="}
{"from":"client","cut":true,"msg":"cut"}
{"from":"agent","cut":true,"msg":"CUT"}
{"exit":3}
`
	if string(got) != want {
		t.Errorf("recorded\n%s\nwant\n%s", got, want)
	}
}

func TestUsage(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{nil, 2},
		{[]string{t.TempDir()}, 2},
		{[]string{t.TempDir(), "no-such-program"}, failure},
		{[]string{filepath.Join(t.TempDir(), "missing"), self}, failure},
	} {
		cmd := exec.Command(self, c.args...)
		cmd.Env = append(os.Environ(), "TEE_TEST=tee")
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.code || len(out) == 0 {
			t.Errorf("%q: exit %d, want %d and a word why\n%s", c.args, cmd.ProcessState.ExitCode(), c.code, out)
		}
	}
}
