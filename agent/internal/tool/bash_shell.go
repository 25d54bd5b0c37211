package tool

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/acpkit/acpkit/agent/internal/permission"
	"github.com/acpkit/acpkit/agent/internal/sandbox"
	"github.com/acpkit/acpkit/agent/internal/workspace"
)

// ShellConfig says where and how the commands of a session run. Workspace is required.
type ShellConfig struct {
	Workspace *workspace.Workspace
	// Policy says how far a command may reach when it runs. Nil means that nothing holds it back.
	Policy *permission.Policy
	// Sandbox confines. Nil, or one without an engine, confines nothing: then the policy has asked before.
	Sandbox *sandbox.Sandbox
	// Required refuses commands that should be confined and cannot be.
	Required bool
	Write    []string // folders that may be written beside the workspace
	Hide     []string // files and folders that a confined command cannot read
	Network  bool     // confined commands may use the network
	Env      sandbox.Env
	Environ  []string // the environment before Env; nil means our own
}

// Shell runs the commands of one session. Close it.
type Shell struct {
	conf ShellConfig
	Jobs *Jobs

	mu     sync.Mutex
	temp   string // the folder for temporary files, once there is one
	closed bool
}

// NewShell touches nothing: what it needs is made with the first command.
func NewShell(conf ShellConfig) *Shell { return &Shell{conf: conf, Jobs: &Jobs{}} }

// Tools are the tools that use the shell.
func (s *Shell) Tools() []Tool {
	return []Tool{Bash(s), BashOutput(s.Jobs), WaitJob(s.Jobs), KillShell(s.Jobs)}
}

// POSIX reports whether commands go to a plain POSIX shell, for permission.Options.
func POSIX() bool {
	_, posix := shellArgv("")
	return posix
}

// Close ends what runs in the background and removes the temporary files. Nothing can be started afterwards. Nil has nothing to end.
func (s *Shell) Close() {
	if s == nil {
		return
	}
	s.Jobs.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.temp != "" {
		_ = os.RemoveAll(s.temp)
		s.temp = ""
	}
}

// tempDir makes the session's own folder for temporary files.
func (s *Shell) tempDir() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", errClosed
	}
	if s.temp != "" {
		return s.temp, nil
	}
	dir, err := os.MkdirTemp("", "reasonix-")
	if err != nil {
		return "", err
	}
	s.temp, err = filepath.EvalSymlinks(dir)
	return s.temp, err
}

// confinement is how far the command may reach now.
func (s *Shell) confinement(a permission.Access) permission.Confinement {
	if s.conf.Policy == nil {
		return permission.Free
	}
	return s.conf.Policy.Confinement(a)
}

func (s *Shell) engine() sandbox.Engine {
	if s.conf.Sandbox == nil {
		return sandbox.None
	}
	return s.conf.Sandbox.Engine()
}

// limits is what the command may reach; nil when nothing confines it.
func (s *Shell) limits(a permission.Access) (*sandbox.Limits, error) {
	c := s.confinement(a)
	if c == permission.Free {
		return nil, nil
	}
	if s.engine() == sandbox.None {
		if s.conf.Required {
			return nil, errors.New("commands must be confined here, and no sandbox works on this machine")
		}
		return nil, nil
	}
	temp, err := s.tempDir()
	if err != nil {
		return nil, err
	}
	l := &sandbox.Limits{Temp: temp, Hide: s.conf.Hide}
	if c == permission.ConfineRead {
		return l, nil
	}
	l.Network = s.conf.Network
	l.Write = append(s.conf.Workspace.Roots(), s.conf.Write...)
	for _, root := range s.conf.Workspace.Roots() {
		// What stands in these runs later, when the user or the agent comes by, and not in a sandbox.
		for _, name := range []string{".git/hooks", ".git/config", ".reasonix", "reasonix.toml"} {
			l.Protect = append(l.Protect, filepath.Join(root, name))
		}
	}
	return l, nil
}

// supervised reports whether a command has a launcher above it that ends what it leaves behind.
func (s *Shell) supervised() bool { return s.conf.Sandbox != nil && s.conf.Sandbox.Supervised() }

// command builds the process of an access that was allowed.
func (s *Shell) command(a permission.Access) (cmd *exec.Cmd, limits *sandbox.Limits, err error) {
	argv, _ := shellArgv(a.Command)
	if limits, err = s.limits(a); err != nil {
		return nil, nil, err
	}
	if s.conf.Sandbox != nil {
		if argv, err = s.conf.Sandbox.Argv(limits, argv...); err != nil {
			return nil, nil, err
		}
	}
	cmd = exec.Command(argv[0], argv[1:]...)
	cmd.Dir = s.conf.Workspace.Root()
	environ := s.conf.Environ
	if environ == nil {
		environ = os.Environ()
	}
	for _, entry := range s.conf.Env.Filter(environ) {
		if !strings.HasPrefix(entry, "PWD=") && !strings.HasPrefix(entry, "OLDPWD=") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	// Nobody sits at a terminal: no pager, no prompt.
	cmd.Env = append(cmd.Env, "PWD="+cmd.Dir, "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0")
	if limits != nil {
		cmd.Env = append(cmd.Env, "TMPDIR="+s.conf.Sandbox.TempDir(limits))
	}
	return cmd, limits, nil
}
