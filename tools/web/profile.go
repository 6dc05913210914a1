package web

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// homePrefix begins the names of the folders of browsers; the id of the
// process that they belong to follows.
const homePrefix = "klawbot-browser-"

// makeHome makes the private folder that a browser keeps everything in.
func makeHome() (string, error) {
	return os.MkdirTemp("", fmt.Sprintf("%s%d-", homePrefix, os.Getpid()))
}

// environment is all that a browser gets of it.
func environment(home string) []string {
	return []string{"HOME=" + home, "TMPDIR=" + home, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC"}
}

// wipe removes the folder of a browser. Its last processes may still write
// there for a moment.
func wipe(home string) {
	for range 20 {
		if os.RemoveAll(home) == nil {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
}

// sweep removes the folders of browsers whose bot has died without a chance to
// do it.
func sweep(dir string) {
	found, err := filepath.Glob(filepath.Join(dir, homePrefix+"*"))
	if err != nil { // the pattern is right
		return
	}
	for _, home := range found {
		var pid int
		name := strings.TrimPrefix(filepath.Base(home), homePrefix)
		if _, err := fmt.Sscanf(name, "%d-", &pid); err != nil || pid <= 0 {
			continue
		}
		info, err := os.Lstat(home)
		if err == nil && info.IsDir() && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			wipe(home)
		}
	}
}
