package tty

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// typedAhead are the lines that a person has typed already. The terminal still ends them
// as lines of a file, which the editor would take for lines of one message.
func typedAhead(in *os.File) (lines []string) {
	ready := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
	line := make([]byte, 4096)
	for {
		if n, err := unix.Poll(ready, 0); err != nil || n != 1 || ready[0].Revents&unix.POLLIN == 0 {
			return lines
		}
		n, err := in.Read(line)
		if err != nil || n == 0 {
			return append(lines, "/quit") // Ctrl-D
		}
		if text := strings.TrimSpace(string(line[:n])); text != "" {
			lines = append(lines, text)
		}
	}
}

// stoppable reports whether a shell waits for this job, which can continue it after
// Ctrl-Z. Without one the kernel does not stop it, and nothing would wake it.
func stoppable() bool {
	session, err := unix.Getsid(0)
	for pid := os.Getppid(); err == nil && pid > 0; pid = parentOf(pid) {
		if theirs, err := unix.Getsid(pid); err != nil || theirs != session {
			return false
		}
		if group, err := unix.Getpgid(pid); err == nil && group != unix.Getpgrp() {
			return true
		}
	}
	return false
}

// parentOf is the parent of a process, 0 where that is not known.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // a name may hold blanks
	if err != nil || len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return 0
	}
	return parent
}
