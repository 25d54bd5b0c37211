//go:build unix

package bench

import (
	"syscall"
	"testing"
)

// cpu reports the processor time of an operation beside its time: on a busy
// machine it is the steadier of the two. It counts the whole process, so the
// garbage collector too and, behind pipes, the driver. Call what it returns
// when the loop is done.
func cpu(b *testing.B) func() {
	start := cpuTime()
	return func() { b.ReportMetric(float64(cpuTime()-start)/float64(b.N), "cpu-ns") }
}

func cpuTime() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
