package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// supervises: the launcher ends what a command leaves behind.
const supervises = true

// Launch is the launcher: the main function of a process that was started with Config.Launcher and what Argv or Terminal
// added. self is that launcher again, for the process that confines itself. It returns the exit code of the command, 128
// and the number for a signal; with an error the command was not run, and the code is 126.
//
// It stays as the parent of the command and as the one whom orphans fall to, and at the end, or at SIGTERM, SIGINT or
// SIGHUP, it kills whatever is left. So nothing else may happen in the process.
func Launch(self, args []string) (int, error) {
	o, err := parseLaunch(args)
	if err != nil {
		return 126, err
	}
	environ := os.Environ()
	if o.Env != nil {
		environ = o.Env.Filter(environ)
		if o.Limits.Temp != "" {
			temp := o.Limits.Temp
			if o.Engine == Bubblewrap {
				temp = "/tmp"
			}
			environ = append(environ, "TMPDIR="+temp)
		}
	}
	runtime.LockOSThread() // the death signals below are those of threads
	if o.inner {
		return 126, become(o, environ)
	}
	switch o.Engine {
	case Bubblewrap:
		bwrap, err := exec.LookPath("bwrap")
		if err != nil {
			return 126, err
		}
		// Not in its place: its child outlives it for a moment while it sets up, and must fall to somebody.
		return supervise(append(append([]string{bwrap}, bubblewrapArgs(&o.Limits)...), o.Program...), environ)
	case Landlock:
		o.inner, o.Env = true, nil
		return supervise(append(append([]string{}, self...), o.args()...), environ)
	case None:
		return supervise(o.Program, environ)
	}
	return 126, fmt.Errorf("unknown engine %q", o.Engine)
}

// become confines this process and turns it into the program. It returns only with an error.
func become(o *launchOptions, environ []string) error {
	program, err := exec.LookPath(o.Program[0])
	if err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := confine(&o.Limits); err != nil {
		return err
	}
	// Here, since it is kept by the thread that becomes the program.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if os.Getppid() == 1 {
		return errors.New("the launcher has died")
	}
	return syscall.Exec(program, o.Program, environ)
}

// dropCapabilities takes from root what the program would get back when it starts: with them it could read the memory
// of every process, make devices and leave its root. It is for this thread, which becomes the program.
func dropCapabilities() error {
	if os.Geteuid() != 0 {
		return nil // there are none to get
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && err != unix.EINVAL {
		return err
	}
	for c := uintptr(0); ; c++ {
		held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0)
		if err != nil {
			break // past the last one
		}
		if held == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return fmt.Errorf("capability %d cannot be dropped: %w", c, err)
		}
	}
	none := [2]unix.CapUserData{} // inheritable ones would outlive the bounding set
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	return unix.Capset(&header, &none[0])
}

// supervise runs a program and ends all that it has left behind.
func supervise(argv, environ []string) (int, error) {
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return 126, err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 126, err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	process, err := os.StartProcess(program, argv, &os.ProcAttr{
		Env: environ, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return 126, err
	}
	ended := make(chan int)
	go func() {
		for {
			var status syscall.WaitStatus
			pid, err := syscall.Wait4(-1, &status, 0, nil)
			if err == syscall.EINTR {
				continue
			}
			if err != nil {
				return
			}
			if pid == process.Pid {
				ended <- exitCode(status)
				return
			}
		}
	}()
	code := 0
	select {
	case code = <-ended:
	case s := <-stop:
		code = 128 + int(s.(syscall.Signal))
		_ = syscall.Kill(process.Pid, syscall.SIGKILL)
		<-ended
	}
	endChildren()
	return code, nil
}

func exitCode(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// endChildren kills children until there are none: as the reaper of orphans we get each generation after the one above
// has died.
func endChildren() {
	for {
		for _, pid := range children() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(-1, &status, 0, nil); err != nil && err != syscall.EINTR {
			return // ECHILD: none is left
		}
	}
}

// children are the processes whose parent this is.
func children() (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')'):]), " ") // the name may hold anything
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}
