package browser

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// killIn kills the processes that were started with a browser's folder. Those that do not
// show it are children of others, and end with them.
func killIn(dir string) (found bool) {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil { // the pattern is right
		return false
	}
	env, flag := []byte("HOME="+dir+"\x00"), []byte("--user-data-dir="+dir+"/")
	for _, name := range all {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if startedWith(name+"/environ", env) || startedWith(name+"/cmdline", flag) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
			found = true
		}
	}
	return found
}

// startedWith reports whether one of the strings of a process begins so. What
// cannot be read belongs to others or is gone.
func startedWith(file string, start []byte) bool {
	text, err := os.ReadFile(file)
	return err == nil && (bytes.HasPrefix(text, start) || bytes.Contains(text, append([]byte{0}, start...)))
}
