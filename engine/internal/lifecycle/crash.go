//go:build crash

package lifecycle

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

var crashPassed atomic.Int64

// CrashPoint kills the process, as a power cut would, when the environment
// names this moment: KLAWBOT_CRASH=turn.committed or turn.committed:3 for the
// third time.
func CrashPoint(name string) {
	point, count, _ := strings.Cut(os.Getenv("KLAWBOT_CRASH"), ":")
	if point != name {
		return
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		n = 1
	}
	if crashPassed.Add(1) == n {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // nothing can be done about a failure here
		select {}
	}
}
