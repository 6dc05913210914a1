package sandbox

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// own gives a program a process group of its own and lets it die with the bot.
func own(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setpgid = true
	if c.SysProcAttr.Pdeathsig == 0 {
		c.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}

// The numbers of waitid(2).
const (
	waitPid  = 1          // P_PID
	waitLeft = 0x01000000 // WNOWAIT
)

// awaitExit waits until a program has exited and leaves it unreaped: its
// process id, and its group's, are nobody else's until Wait.
func awaitExit(c *exec.Cmd) {
	var info [128]byte // siginfo_t
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, waitPid, uintptr(c.Process.Pid),
			uintptr(unsafe.Pointer(&info)), syscall.WEXITED|waitLeft, 0, 0)
		if err != syscall.EINTR {
			return
		}
	}
}

// boundMemory bounds how much memory a program may take from now on. It may have
// ended already.
func boundMemory(pid int, bytes uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes}, nil)
}

// killGroup kills a process group.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) } // it may be gone

// maxRounds bounds how often a tree of processes that goes on forking is
// killed.
const maxRounds = 100

// killMarked kills every process that bears a mark of the run, wherever it went,
// until there is none.
func killMarked(run string) {
	number := newMark(run)
	for range maxRounds {
		found := false
		for _, folder := range procFolders() {
			pid, err := strconv.Atoi(filepath.Base(folder))
			if err != nil || pid == os.Getpid() || !belongs(pid, run, number) {
				continue
			}
			if !errors.Is(syscall.Kill(pid, syscall.SIGKILL), syscall.ESRCH) {
				found = true
			}
		}
		if !found {
			return
		}
	}
}

// belongs reports whether a process is of a run: its environment has the name, or
// has none and the process bears the mark. A process that has exited is of no run.
func belongs(pid int, run string, number mark) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err == nil && bytes.Contains(env, []byte(runVariable+"=")) {
		return bytes.Contains(env, []byte(runVariable+"="+run))
	}
	return markOf(pid) == number && lives(pid)
}
