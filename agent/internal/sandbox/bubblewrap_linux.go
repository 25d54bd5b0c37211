package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// probeTime bounds the try of an engine: one that hangs counts as one that does not work.
const probeTime = 10 * time.Second

// try runs nothing in an engine, with all that it has to do for a real command.
func (s *Sandbox) try(e Engine) error {
	program, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	var argv []string
	switch e {
	case Bubblewrap:
		if s.bwrap, err = exec.LookPath("bwrap"); err != nil {
			return errors.New("bwrap is not installed")
		}
		if s.bwrap, err = filepath.Abs(s.bwrap); err != nil {
			return err
		}
		argv = append(append([]string{s.bwrap}, bubblewrapArgs(&Limits{})...), program, "-c", ":")
	case Landlock:
		if s.conf.Launcher == nil {
			return errors.New("there is no launcher")
		}
		argv = s.launch(Landlock, &Limits{}, nil, []string{program, "-c", ":"})
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(out.String()))
	}
	return nil
}

// inRun are parts of /run that programs read and that no socket to a service hides in.
func inRun() []string {
	return []string{"/run/systemd/resolve", "/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers", "/run/resolvconf", "/run/NetworkManager/resolv.conf"}
}

// bubblewrapArgs are the arguments before the program. Later mounts lie over earlier ones.
func bubblewrapArgs(l *Limits) []string {
	args := []string{
		// A user namespace even for root, and no capability in it: whoever may mount could lift the mounts below.
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL",
		"--die-with-parent", "--new-session",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
	}
	if !l.Network {
		args = append(args, "--unshare-net")
	}
	// Sockets in these folders lead to services that are not confined.
	if isDir("/run") {
		args = append(args, "--tmpfs", "/run")
		for _, p := range inRun() {
			args = append(args, "--ro-bind-try", p, p)
		}
	}
	if real, err := filepath.EvalSymlinks("/tmp"); err == nil {
		if l.Temp != "" {
			args = append(args, "--bind", l.Temp, real)
		} else {
			args = append(args, "--tmpfs", real, "--remount-ro", real)
		}
	}
	for _, dir := range existing(l.Write) {
		args = append(args, "--bind", dir, dir)
	}
	for _, p := range existing(l.Protect) {
		args = append(args, "--ro-bind", p, p)
	}
	for _, p := range existing(l.Hide) {
		if isDir(p) {
			args = append(args, "--tmpfs", p, "--remount-ro", p)
		} else {
			args = append(args, "--ro-bind", "/dev/null", p)
		}
	}
	return append(args, "--")
}
