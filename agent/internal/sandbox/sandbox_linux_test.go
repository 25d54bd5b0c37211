package sandbox

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// place is a workspace beside things that must stay as they are.
type place struct {
	t       *testing.T
	box     *Sandbox
	engine  Engine
	limits  Limits
	work    string // may be written
	outside string // may not
}

// kernelWithoutLandlock is set, by name, on machines whose kernel cannot do Landlock: an exception that somebody has
// looked at, and that the test prints. Without it a missing Landlock is a failure.
const kernelWithoutLandlock = "SANDBOX_TEST_KERNEL_WITHOUT_LANDLOCK"

// engines runs a test in each engine. One that does not work here is a failure, not a skip.
func engines(t *testing.T, test func(t *testing.T, p *place)) {
	for _, e := range []Engine{Bubblewrap, Landlock} {
		t.Run(string(e), func(t *testing.T) {
			box := New(Config{Engine: e, Launcher: launcher()})
			if box.Engine() != e {
				abi, err := ll.LandlockGetABIVersion()
				if e == Landlock && (err != nil || abi < leastLandlock) && os.Getenv(kernelWithoutLandlock) != "" {
					fmt.Printf("EXCEPTION: %s did not run: this kernel's Landlock has version %d (%v)\n", t.Name(), abi, err)
					return
				}
				t.Fatalf("%s does not work on this machine: %v", e, box.Why())
			}
			test(t, newPlace(t, box, e))
		})
	}
}

func newPlace(t *testing.T, box *Sandbox, e Engine) *place {
	// Not below /tmp, which bubblewrap replaces: what is not there cannot be written for another reason.
	base, err := os.MkdirTemp("/var/tmp", "sandbox-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	p := &place{t: t, box: box, engine: e, work: filepath.Join(base, "work"), outside: filepath.Join(base, "outside")}
	p.limits = Limits{Write: []string{p.work}, Temp: filepath.Join(base, "temp"), Hide: []string{filepath.Join(base, "hidden"), filepath.Join(base, "hidden.env"), filepath.Join(base, "missing")}}
	for _, dir := range []string{p.work, p.outside, p.limits.Temp, p.limits.Hide[0]} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{p.outside + "/file", p.work + "/file", p.limits.Hide[0] + "/secret", p.limits.Hide[1]} {
		if err := os.WriteFile(file, []byte("as it was\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) command(script string) *exec.Cmd {
	p.t.Helper()
	argv, err := p.box.Argv(&p.limits, "sh", "-c", script)
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = p.work
	cmd.Env = append(os.Environ(), "OUT="+p.outside, "HIDDEN="+p.limits.Hide[0], "TMPDIR="+p.box.TempDir(&p.limits))
	return cmd
}

func (p *place) run(script string) (string, error) {
	p.t.Helper()
	out, err := p.command(script).CombinedOutput()
	return string(out), err
}

// works and fails also see to it that the shell itself has run.
func (p *place) works(script, want string) {
	p.t.Helper()
	if out, err := p.run("echo begin; " + script); err != nil || !strings.HasPrefix(out, "begin\n") || !strings.Contains(out, want) {
		p.t.Errorf("%s: %v, want %q in\n%s", script, err, want, out)
	}
}

func (p *place) fails(script string) {
	p.t.Helper()
	if out, err := p.run("echo begin; " + script); err == nil || !strings.HasPrefix(out, "begin\n") {
		p.t.Errorf("%s: %v\n%s", script, err, out)
	}
}

// unharmed checks what lies outside.
func (p *place) unharmed() {
	p.t.Helper()
	entries, err := os.ReadDir(p.outside)
	if err != nil || len(entries) != 1 {
		p.t.Errorf("outside there is %v, %v", entries, err)
	}
	for _, f := range []string{p.outside + "/file", p.limits.Hide[0] + "/secret", p.limits.Hide[1]} {
		if data, err := os.ReadFile(f); string(data) != "as it was\n" {
			p.t.Errorf("%s: %q, %v", f, data, err)
		}
	}
}

func TestWriting(t *testing.T) {
	engines(t, func(t *testing.T, p *place) {
		p.works("echo new >> file && mkdir -p a/b && echo x > a/b/c && mv a/b/c d && ln d e && ln -s d f && chmod +x d && rm -r a && cat file", "new")
		p.works(`echo x > "$TMPDIR/t" && cat "$TMPDIR/t" && f=$(mktemp) && echo y > "$f"`, "x")
		p.works(`cat "$OUT/file" && ls "$OUT" && ls / >/dev/null && test -r /etc/passwd && echo x > /dev/null`, "as it was")
		for _, script := range []string{
			`echo x > "$OUT/file"`, `echo x >> "$OUT/file"`, `echo x > "$OUT/new"`, `echo x > ../outside/file`, `: > "$OUT/file"`, `mkdir "$OUT/d"`, `rm "$OUT/file"`, `mv "$OUT/file" .`,
			`mv file "$OUT/new"`, `ln -s "$OUT" way && echo x > way/file`, `ln -s "$OUT/file" way2 && echo x > way2`, `ln "$OUT/file" hard && echo x > hard`,
			`echo x > /proc/self/root"$OUT/file"`, `echo x > /proc/$$/root"$OUT/file"`, `echo x > /proc/self/cwd/../outside/file`, `truncate -s 0 "$OUT/file"`, `dd if=/dev/zero of="$OUT/file" count=1`,
			`echo x > /etc/sandbox-test`, `echo x > /sandbox-test`, `touch /root/sandbox-test`, `echo x > "$HIDDEN/new"`, `mount -o remount,rw /`, `mount -o remount,bind,rw /`, `mount -t tmpfs x /mnt`,
			`mknod disk b 1 1 && head -c1 disk`, `chroot / true`, `cd / && echo x > "$OUT/file"`, `unshare -rm sh -c 'mount -o remount,bind,rw / && echo x > "$OUT/file"'`,
		} {
			p.fails(script)
		}
		p.unharmed()
		for _, f := range []string{"/etc/sandbox-test", "/sandbox-test", "/root/sandbox-test"} {
			if _, err := os.Lstat(f); err == nil {
				t.Errorf("%s was made", f)
				os.Remove(f)
			}
		}
		p.limits.Write = nil
		p.fails("echo x > file")
		p.works("cat file", "as it was")
	})
}

func TestHiding(t *testing.T) {
	engines(t, func(t *testing.T, p *place) {
		for _, script := range []string{`cat "$HIDDEN/secret"`, `grep . "$HIDDEN.env"`, `cat ../hidden/secret`, `cat /proc/self/root"$HIDDEN/secret"`, `ln -s "$HIDDEN/secret" s && cat s`,
			`ln "$HIDDEN/secret" h && cat h`, `mv "$HIDDEN" m && cat m/secret`, `cp -r "$HIDDEN" c && cat c/secret`} {
			p.fails(script)
		}
		p.unharmed()
		p.works("cat ../outside/file", "as it was")
		// In a folder that may be written, too.
		p.limits.Hide = append(p.limits.Hide, p.work+"/.env")
		if err := os.WriteFile(p.work+"/.env", []byte("as it was\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.fails("grep . .env")
		p.fails("echo x > .env && grep x .env")
		p.works("echo more >> file && cat file", "more")
		if data, _ := os.ReadFile(p.work + "/.env"); string(data) != "as it was\n" {
			t.Errorf("the hidden file has %q", data)
		}
	})
}

func TestProtecting(t *testing.T) {
	box := New(Config{Engine: Bubblewrap})
	if box.Engine() != Bubblewrap {
		t.Fatal(box.Why())
	}
	p := newPlace(t, box, Bubblewrap)
	p.limits.Protect = []string{p.work + "/file"}
	for _, script := range []string{"echo x > file", "rm file", "mv file other", "echo x > other && mv other file"} {
		p.fails(script)
	}
	p.works("cat file", "as it was")
}

func TestNetwork(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(c, "reached")
			c.Close()
		}
	}()
	port := listener.Addr().(*net.TCPAddr).Port
	engines(t, func(t *testing.T, p *place) {
		tcp := fmt.Sprintf(`bash -c 'head -1 < /dev/tcp/127.0.0.1/%d'`, port)
		p.fails(tcp)
		p.fails(`bash -c 'echo x > /dev/udp/192.0.2.1/53'`)
		if p.engine == Landlock { // which has no other place for them
			socket := filepath.Join(p.outside, "socket")
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			p.fails(`perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or die "$!"'`)
			l.Close()
		}
		p.works(`perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die "$!"; print "pair\n"'`, "pair")
		p.limits.Network = true
		p.works(tcp, "reached")
	})
}

// alive reports whether a process is there and not just a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := stat[bytes.LastIndexByte(stat, ')')+2]
	return state != 'Z' && state != 'X'
}

// marked finds processes by a word among their arguments, since their ids in a namespace are others.
func marked(word string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		data, err := os.ReadFile(f)
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil && bytes.Contains(data, []byte(word)) && alive(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone waits until nothing marked is left. What is killed takes a moment to go; the end of the test is the limit.
func gone(t *testing.T, word string) {
	t.Helper()
	for range 500 {
		if len(marked(word)) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, pid := range marked(word) {
		t.Errorf("process %d lives on", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// everywhere is the engines and, with the launcher alone, none.
func everywhere(t *testing.T, test func(t *testing.T, p *place)) {
	engines(t, test)
	t.Run(string(None), func(t *testing.T) { test(t, newPlace(t, New(Config{Launcher: launcher()}), None)) })
}

// start runs a script that leaves processes behind, marked with a number of seconds that nobody else sleeps.
func (p *place) start(script string) (*exec.Cmd, string) {
	p.t.Helper()
	word := fmt.Sprintf("9%09d", os.Getpid()*1000+int(time.Now().UnixNano()%1000))
	limits := &p.limits
	if p.engine == None {
		limits = nil
	}
	argv, err := p.box.Argv(limits, "sh", "-c", strings.ReplaceAll(script, "WORD", word))
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = p.work
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, word
}

func TestWhatIsLeftBehind(t *testing.T) {
	everywhere(t, func(t *testing.T, p *place) {
		for _, script := range []string{
			"sleep WORD & echo done",
			"(setsid sleep WORD &) ; echo done",
			"setsid sh -c '(sleep WORD & sleep WORD &) & sleep WORD' & sleep 0.1; echo done",
			"nohup sh -c 'trap \"\" TERM HUP INT; while :; do sleep WORD; done' >/dev/null 2>&1 & sleep 0.1; echo done",
		} {
			cmd, word := p.start(script)
			out, err := cmd.CombinedOutput() // ends only when nobody holds the pipe any more
			if err != nil || string(out) != "done\n" {
				t.Errorf("%s: %v %q", script, err, out)
			}
			gone(t, word)
		}
	})
}

func TestEndingTheLauncher(t *testing.T) {
	everywhere(t, func(t *testing.T, p *place) {
		signals := []syscall.Signal{syscall.SIGTERM}
		if p.engine == Bubblewrap {
			signals = append(signals, syscall.SIGKILL)
		}
		for _, s := range signals {
			cmd, word := p.start("setsid sleep WORD & sleep WORD & echo ready; exec sleep WORD")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Read(make([]byte, 10)); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Process.Signal(s)
			_ = cmd.Wait()
			gone(t, word)
		}
	})
}

// What is confined must not end those who confine it.
func TestSignals(t *testing.T) {
	engines(t, func(t *testing.T, p *place) {
		victim := exec.Command("sleep", "1000")
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
		p.fails(fmt.Sprintf("kill -9 %d", victim.Process.Pid))
		p.fails(fmt.Sprintf("cat /proc/%d/environ", victim.Process.Pid))
		p.fails(fmt.Sprintf(`echo x > /proc/%d/root"$OUT/file"`, victim.Process.Pid))
		if p.engine == Landlock {
			p.fails("kill -9 $PPID")
		}
		if !alive(victim.Process.Pid) {
			t.Error("it was killed")
		}
		p.unharmed()
	})
}

func TestNoNewPrivileges(t *testing.T) {
	engines(t, func(t *testing.T, p *place) {
		p.works("cat /proc/self/status", "NoNewPrivs:\t1")
		p.works("cat /proc/self/status", "CapEff:\t0000000000000000")
		p.works("cat /proc/self/status", "CapBnd:\t0000000000000000")
	})
}

func TestExitCodes(t *testing.T) {
	everywhere(t, func(t *testing.T, p *place) {
		for script, want := range map[string]int{"exit 7": 7, "kill -9 $$": 137, "kill -TERM $$": 143, "true": 0} {
			cmd, _ := p.start(script)
			_ = cmd.Run()
			if got := cmd.ProcessState.ExitCode(); got != want {
				t.Errorf("%s: exit code %d, want %d", script, got, want)
			}
		}
	})
}

func TestNoEngine(t *testing.T) {
	box := New(Config{Engine: None, Launcher: launcher()})
	if box.Engine() != None || box.Why() == nil {
		t.Errorf("%s, %v", box.Engine(), box.Why())
	}
	if argv, err := box.Argv(&Limits{}, "true"); err == nil {
		t.Errorf("not confined, but run: %q", argv)
	}
	if argv, err := New(Config{Engine: Landlock}).Argv(&Limits{}, "true"); err == nil {
		t.Errorf("no launcher, but run: %q", argv)
	}
	if argv, err := New(Config{}).Argv(nil, "true"); err != nil || len(argv) != 1 {
		t.Errorf("%q, %v", argv, err)
	}
}

// A host's terminal has an environment of its own.
func TestTerminal(t *testing.T) {
	everywhere(t, func(t *testing.T, p *place) {
		limits := &p.limits
		if p.engine == None {
			limits = nil
		}
		argv, err := p.box.Terminal(limits, Env{Drop: []string{"MODEL"}, Pass: []string{"MY_TOKEN"}}, "sh", "-c", `env; echo x > ../outside/new; touch "$TMPDIR/x"`)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = p.work
		cmd.Env = append(os.Environ(), "MODEL=m", "MY_TOKEN=t", "OTHER_TOKEN=o", "PLAIN=p", "BASH_ENV=x")
		out, _ := cmd.CombinedOutput()
		for want, there := range map[string]bool{"MODEL=": false, "MY_TOKEN=t": true, "OTHER_TOKEN": false, "PLAIN=p": true, "BASH_ENV": false, "TMPDIR=": limits != nil} {
			if strings.Contains(string(out), want) != there {
				t.Errorf("%s is there: %t\n%s", want, !there, out)
			}
		}
		if limits != nil {
			p.unharmed()
			if _, err := os.Stat(p.limits.Temp + "/x"); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestLaunchRefuses(t *testing.T) {
	for _, args := range []string{"", "x", "--engine", "--engine none", "--engine none --", "--engine odd -- true", "--nope x -- true", "--engine none --env x -- true", "--engine none -- /no/such/program"} {
		cmd := exec.Command(launcher()[0], append(launcher()[1:], strings.Fields(args)...)...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 126 || !strings.HasPrefix(string(out), "sandbox: ") {
			t.Errorf("%q: exit code %d, %s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
}
