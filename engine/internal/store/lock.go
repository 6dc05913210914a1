package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// LockedError says that another process runs with the data folder.
type LockedError struct {
	// PID is the process that holds the folder, 0 when it is not known.
	PID int
	Dir string
}

func (e *LockedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = "process " + strconv.Itoa(e.PID)
	}
	return fmt.Sprintf("%s already runs klawbot with the data folder %s: stop it first, or choose another data folder", who, e.Dir)
}

// takeLock keeps a second bot from the folder. The lock goes with the process,
// however it ends; the number in the file is for people only.
func takeLock(dir string) (*flock.Flock, error) {
	path := filepath.Join(dir, "klawbot.lock")
	lock := flock.New(path, flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !got {
		return nil, &LockedError{PID: lockHolder(path), Dir: dir}
	}
	if err := os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		_ = lock.Unlock() // the first error tells more
		return nil, err
	}
	return lock, nil
}

func lockHolder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0 // the holder is just writing it
	}
	return pid
}
