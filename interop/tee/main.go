// Command tee stands between a host and an agent, as the agent's command:
//
//	tee DIR AGENT [ARG…]
//
// It passes bytes on unchanged in both directions, and signals, the agent's stderr and its exit code too. Every line is
// written to a new file in DIR before it is passed on, so what stands earlier in the file cannot have been a reaction to what
// stands later. Package interop/internal/wire reads the file. The program does not look into the lines.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"
)

// failure is the exit code when tee itself cannot do its work.
const failure = 125

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: tee DIR AGENT [ARG…]")
		os.Exit(2)
	}
	code, err := run(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "tee:", err)
		code = failure
	}
	os.Exit(code)
}

func run(dir string, command []string) (int, error) {
	name := fmt.Sprintf("%020d-%d.ndjson", time.Now().UnixNano(), os.Getpid()) // sorted by start
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	rec := &recorder{w: f}

	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // it may have ended already
		}
	}()
	go func() { // not waited for: a host may keep the pipe open after the agent's end
		_ = rec.pass(stdin, os.Stdin, "client")
		_ = stdin.Close()
	}()
	passed := rec.pass(os.Stdout, stdout, "agent")
	_ = os.Stdout.Close() // the host sees the end when the agent has closed its output
	code, err := exitCode(cmd.Wait())
	return code, errors.Join(passed, err, rec.write(fmt.Appendf(nil, `{"exit":%d}`, code)))
}

// exitCode is what a shell would report.
func exitCode(err error) (int, error) {
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return 0, err
	}
	if s, ok := ended.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return ended.ExitCode(), nil
}

type recorder struct {
	mu sync.Mutex // makes the file one sequence of lines
	w  io.Writer
}

// pass copies from r to w until either ends. A line is recorded when its newline arrives.
func (rec *recorder) pass(w io.Writer, r io.Reader, from string) error {
	buf := make([]byte, 64<<10)
	var line []byte
	for {
		n, err := r.Read(buf)
		rest := buf[:n]
		for {
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				break
			}
			if err := rec.line(from, append(line, rest[:end]...), false); err != nil {
				return err
			}
			line, rest = line[:0], rest[end+1:]
		}
		line = append(line, rest...)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return fmt.Errorf("passing on what the %s wrote: %w", from, err)
			}
		}
		if err != nil {
			if len(line) > 0 {
				return rec.line(from, line, true)
			}
			return nil
		}
	}
}

// line records one line: JSON as it stands, anything else in base64. cut says that it had no newline.
func (rec *recorder) line(from string, line []byte, cut bool) error {
	b := fmt.Appendf(nil, `{"from":%q`, from)
	if cut {
		b = append(b, `,"cut":true`...)
	}
	if utf8.Valid(line) && json.Valid(line) {
		b = append(append(b, `,"msg":`...), line...)
	} else {
		raw, err := json.Marshal(line) // a []byte, so base64
		if err != nil {
			return err
		}
		b = append(append(b, `,"raw":`...), raw...)
	}
	return rec.write(append(b, '}'))
}

func (rec *recorder) write(line []byte) error {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	_, err := rec.w.Write(append(line, '\n'))
	return err
}
