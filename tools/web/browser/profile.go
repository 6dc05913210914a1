package browser

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// homePrefix begins the names of the directories of browsers, before the process id.
const homePrefix = "klawbot-browser-"

// home is the private directory of a browser. klawbot holds a lock on it, which the system
// releases with the process: a directory that can be locked was left behind. The process
// id would not tell, because every container starts with the same ones.
type home struct {
	dir  string
	lock *os.File
}

// makeHome makes a directory and locks it.
func makeHome() (home, error) {
	for range 10 {
		dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", homePrefix, os.Getpid()))
		if err != nil {
			return home{}, err
		}
		if h, ok := claim(dir); ok {
			return h, nil
		}
	}
	return home{}, errors.New("another program removes the directory")
}

// claim locks the directory of a browser, unless it is locked or not ours.
func claim(dir string) (home, bool) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return home{}, false
	}
	locked, err := f.Stat()
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err == nil {
		// It may have been swept before it was locked.
		now, err := os.Lstat(dir)
		owner, ok := locked.Sys().(*syscall.Stat_t)
		if err == nil && os.SameFile(locked, now) && ok && int(owner.Uid) == os.Geteuid() {
			return home{dir: dir, lock: f}, true
		}
	}
	f.Close()
	return home{}, false
}

// environment is the whole environment of a browser.
func (h home) environment() []string {
	return []string{"HOME=" + h.dir, "TMPDIR=" + h.dir, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC"}
}

// wipe ends what still runs in the directory and removes it. The last processes may still
// write there for a moment.
func (h home) wipe() {
	defer h.lock.Close()
	for range 100 { // five seconds, on a busy machine
		found := killIn(h.dir)
		if os.RemoveAll(h.dir) == nil && !found {
			return
		}
		<-time.After(50 * time.Millisecond)
	}
}

// sweep wipes directories that a killed klawbot left behind.
func sweep(dir string) {
	found, err := filepath.Glob(filepath.Join(dir, homePrefix+"*"))
	if err != nil { // the pattern is right
		return
	}
	for _, dir := range found {
		if h, ok := claim(dir); ok {
			h.wipe()
		}
	}
}
