package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/acpkit/acpkit/agent"
	"github.com/acpkit/acpkit/cmd/reasonix/internal/terminal"
)

type sessionsCmd struct {
	List   sessionsList   `cmd:"" help:"List the sessions, the latest first."`
	Show   sessionsShow   `cmd:"" help:"Show a session as Markdown, also while a process has it open."`
	Export sessionsExport `cmd:"" help:"Write a session as JSON lines or Markdown."`
	Rm     sessionsRm     `cmd:"" help:"Remove sessions for good."`
}

func store(sio stdio) *agent.Agent { return options{LogLevel: "warn"}.agent(sio.err) }

type sessionsList struct {
	CWD  string `name:"cwd" placeholder:"DIR" help:"Only those of this directory."`
	JSON bool   `help:"One JSON object a line: sessionId, cwd, title, updatedAt."`
}

func (c *sessionsList) Run(sio stdio) error {
	dir := c.CWD
	if dir != "" {
		var err error
		if dir, err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	list, err := store(sio).Stored(dir)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(sio.out)
	for _, s := range list {
		if c.JSON {
			line, err := json.Marshal(s)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\n", agent.Printable(line))
			continue
		}
		fmt.Fprintf(out, "%s  %s  %s  %s\n", s.ID, s.Updated.Local().Format("2006-01-02 15:04"), terminal.CleanLine(s.CWD), terminal.CleanLine(s.Title))
	}
	if len(list) == 0 && !c.JSON {
		fmt.Fprintln(sio.err, "no session is stored")
	}
	return out.Flush()
}

type sessionsShow struct {
	ID string `arg:"" help:"Id of the session, or the beginning of it."`
}

func (c *sessionsShow) Run(sio stdio) error {
	a := store(sio)
	id, err := a.FindStored(c.ID)
	if err != nil {
		return err
	}
	return buffered(sio.out, id, a.ShowStored)
}

type sessionsExport struct {
	ID     string `arg:"" help:"Id of the session, or the beginning of it."`
	Format string `default:"jsonl" enum:"jsonl,markdown" help:"jsonl: the records as they are stored; markdown: as show does."`
	Output string `short:"o" placeholder:"FILE" help:"Write this file instead of stdout; it is replaced when everything is written."`
}

func (c *sessionsExport) Run(sio stdio) error {
	a := store(sio)
	id, err := a.FindStored(c.ID)
	if err != nil {
		return err
	}
	write := a.ExportStored
	if c.Format == "markdown" {
		write = a.ShowStored
	}
	if c.Output == "" {
		return buffered(sio.out, id, write)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = replace(c.Output, func(f io.Writer) error { return buffered(breakable{ctx, f}, id, write) })
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(sio.err, "reasonix: interrupted; nothing was written")
		return exitCode(130)
	}
	return err
}

// breakable fails when ctx has ended, so that what was begun is cleaned up.
type breakable struct {
	ctx context.Context
	w   io.Writer
}

func (b breakable) Write(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.w.Write(p)
}

// replace writes a file that only takes its place when all of it is on the disk.
// A new file is for its owner alone, because sessions hold what the model has read;
// one that is there keeps its mode, and a symbolic link to it stays one.
func replace(name string, write func(io.Writer) error) error {
	mode := fs.FileMode(0o600)
	if _, err := os.Lstat(name); err == nil {
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file, so it cannot be replaced; leave -o out and redirect standard output", name)
		}
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".reasonix-*")
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

func buffered(w io.Writer, id string, write func(io.Writer, string) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	err := write(b, id)
	if flush := b.Flush(); err == nil { // else it fails as the write did, or saves what was good
		err = flush
	}
	return err
}

type sessionsRm struct {
	ID    []string `arg:"" help:"Ids of sessions, or their beginnings."`
	Force bool     `short:"f" help:"Do not ask."`
}

func (c *sessionsRm) Run(sio stdio) error {
	a := store(sio)
	in := bufio.NewReader(sio.in)
	var failed error
	for _, prefix := range c.ID {
		id, err := a.FindStored(prefix)
		if err == nil {
			err = c.remove(sio, in, a, id)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

func (c *sessionsRm) remove(sio stdio, in *bufio.Reader, a *agent.Agent, id string) error {
	if !c.Force {
		if !term.IsTerminal(int(sio.in.Fd())) {
			return fmt.Errorf("%s is not removed: there is nobody to ask; use --force", id)
		}
		fmt.Fprintf(sio.err, "Remove session %s for good? [y/N] ", id)
		answer, _ := in.ReadString('\n')
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return fmt.Errorf("%s is not removed", id)
		}
	}
	if err := a.DeleteStored(id); err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	fmt.Fprintln(sio.out, "removed", id)
	return nil
}
