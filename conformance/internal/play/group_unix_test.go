//go:build unix

package play

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gone fails the test unless the process ends soon. A zombie has ended; who adopts orphans may be slow to bury them.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 100 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// A process that has left the group cannot be ended; the play must end all the same, and say what is wrong.
func TestEscaped(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil || testing.Short() {
		t.Skip("needs setsid and five seconds")
	}
	cfg := config(t, "await notification up\n")
	cfg.Command = []string{"sh", "-c", `setsid sh -c 'echo "{\"jsonrpc\":\"2.0\",\"method\":\"up\"}"; exec sleep 10' & cat >/dev/null`}
	_, err := Run(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "outside its process group holds its output") {
		t.Errorf("error %v", err)
	}
}
