// Package sandbox confines commands: what they may write, whether they reach the network, and that nothing they started
// lives on. It builds the command line that does it and is, in another process, the launcher in that command line. It
// knows no tools, no permissions and no sessions, and it runs nothing itself but a probe.
//
// Everything can be read but what is hidden; only the given folders and a private folder for temporary files can be
// written. There are two engines:
//
//   - bubblewrap: namespaces of their own for mounts, processes, IPC and network. Sockets of the system (/run) and the
//     machine's /tmp are out of sight.
//   - landlock, where bubblewrap does not work: rules of the kernel, set by the launcher, and a seccomp filter that
//     refuses sockets. It cannot restrict chmod, chown and times of files that the user owns, the names in hidden folders
//     can be listed, and a writable folder that holds a hidden one gets no new entries at its own top.
//
// Without an engine the launcher still ends what a command leaves behind, and confines nothing.
package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Engine is what confines.
type Engine string

// The engines, in the words of the status object.
const (
	Bubblewrap Engine = "bubblewrap"
	Landlock   Engine = "landlock"
	None       Engine = "none"
)

// Config says how to confine. The zero value takes bubblewrap where it works.
type Config struct {
	// Engine is the only one to try; empty tries them in order.
	Engine Engine
	// Launcher is the beginning of a command line that ends up in Launch: our own program and a word. Landlock needs it;
	// without it, bubblewrap that is killed while it still sets up can leave a confined process behind.
	Launcher []string
}

// Sandbox is made once per process. Its methods may be called at the same time.
type Sandbox struct {
	conf   Config
	probed sync.Once
	engine Engine // as probed
	why    error  // why there is none
	bwrap  string // the program
}

// New makes a sandbox and looks at nothing yet.
func New(conf Config) *Sandbox { return &Sandbox{conf: conf} }

// Limits is what one command may reach.
type Limits struct {
	Write   []string // folders to write in, absolute
	Temp    string   // the folder for temporary files, absolute; empty: there is none
	Hide    []string // files and folders that cannot be read, absolute; missing ones do not matter
	Protect []string // files and folders below Write that stay read-only, where the engine can do that (bubblewrap)
	Network bool
}

// Engine is the engine that works here. The first call tries, which takes some milliseconds.
func (s *Sandbox) Engine() Engine {
	s.probed.Do(s.probe)
	return s.engine
}

// Why says why there is no engine; nil when there is one.
func (s *Sandbox) Why() error {
	s.probed.Do(s.probe)
	return s.why
}

func (s *Sandbox) probe() {
	s.engine = None
	var errs []error
	for _, e := range []Engine{Bubblewrap, Landlock} {
		if s.conf.Engine != "" && s.conf.Engine != e {
			continue
		}
		err := s.try(e)
		if err == nil {
			s.engine = e
			return
		}
		errs = append(errs, fmt.Errorf("%s: %w", e, err))
	}
	if s.why = errors.Join(errs...); s.why == nil {
		s.why = errors.New("no sandbox is wanted")
	}
}

// Argv is the command line that runs a program within limits. Nil limits do not confine. It fails when limits are given
// and no engine works. The command's environment is the caller's business; TempDir says what TMPDIR must be.
func (s *Sandbox) Argv(limits *Limits, program ...string) ([]string, error) {
	if limits == nil {
		if !supervises || s.conf.Launcher == nil {
			return program, nil
		}
		return s.launch(None, &Limits{Network: true}, nil, program), nil
	}
	switch e := s.Engine(); {
	case e == None:
		return nil, fmt.Errorf("the command cannot be confined: %w", s.Why())
	case s.conf.Launcher != nil:
		return s.launch(e, limits, nil, program), nil
	}
	return append(append([]string{s.bwrap}, bubblewrapArgs(limits)...), program...), nil // landlock needs the launcher
}

// Supervised reports whether the process that Argv starts is our launcher, which ends everything below it when it gets
// SIGTERM and can do nothing about SIGKILL.
func (s *Sandbox) Supervised() bool { return supervises && s.conf.Launcher != nil }

// Terminal is Argv for a place with an environment that is not ours, such as a host's terminal: the launcher takes the
// secrets out of it, by the rules of Env, and sets TMPDIR.
func (s *Sandbox) Terminal(limits *Limits, env Env, program ...string) ([]string, error) {
	if s.conf.Launcher == nil {
		return nil, errors.New("there is no launcher")
	}
	if limits == nil {
		return s.launch(None, &Limits{Network: true}, &env, program), nil
	}
	if s.Engine() == None {
		return nil, fmt.Errorf("the command cannot be confined: %w", s.Why())
	}
	return s.launch(s.Engine(), limits, &env, program), nil
}

func (s *Sandbox) launch(e Engine, l *Limits, env *Env, program []string) []string {
	o := launchOptions{Engine: e, Limits: *l, Env: env, Program: program}
	return append(append([]string{}, s.conf.Launcher...), o.args()...)
}

// TempDir is where a confined command finds Limits.Temp, for TMPDIR.
func (s *Sandbox) TempDir(l *Limits) string {
	if l.Temp != "" && s.Engine() == Bubblewrap {
		return "/tmp"
	}
	return l.Temp
}

// existing are the paths that exist, without symlinks and doubles. What a symlink stands for is what must be hidden.
func existing(paths []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range paths {
		real, err := filepath.EvalSymlinks(p)
		if err != nil || seen[real] {
			continue
		}
		seen[real] = true
		out = append(out, real)
	}
	return out
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
