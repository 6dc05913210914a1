package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// LockedError says that another process runs with the data directory.
type LockedError struct {
	// PID is the process that holds the folder, 0 when it is not known.
	PID int
	Dir string
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s already runs klawbot with the data directory %s: stop it first, or choose another data directory", e.Who(), e.Dir)
}

// Who names the process for people.
func (e *LockedError) Who() string {
	if e.PID == 0 {
		return "another process"
	}
	return "process " + strconv.Itoa(e.PID)
}

// FolderLock keeps other processes from a data directory. It goes with the process,
// however it ends.
type FolderLock struct {
	// folder is the lock that counts: a folder is not deleted by accident.
	folder *flock.Flock
	// file has the number of the process, for people. An older klawbot locks
	// only this file, and so does a file system that cannot lock folders.
	file *flock.Flock
}

// Lock keeps other processes from a data directory until Unlock, or returns a *LockedError.
func Lock(dir string) (*FolderLock, error) {
	path := filepath.Join(dir, "klawbot.lock")
	l := &FolderLock{flock.New(dir, flock.SetFlag(os.O_RDONLY)), flock.New(path, flock.SetPermissions(0o600))}
	got, err := l.folder.TryLock()
	if err == nil && !got {
		return nil, &LockedError{PID: lockHolder(path), Dir: dir}
	}
	got, err = l.file.TryLock()
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), l.Unlock())
	case !got:
		return nil, errors.Join(&LockedError{PID: lockHolder(path), Dir: dir}, l.Unlock())
	}
	if err := os.WriteFile(path, fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return l, nil
}

// Unlock lets other processes in.
func (l *FolderLock) Unlock() error { return errors.Join(l.file.Unlock(), l.folder.Unlock()) }

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
