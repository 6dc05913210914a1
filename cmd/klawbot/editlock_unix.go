//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFolder keeps two commands from editing the files of a folder at once, of
// which the slower would undo what the other has written. The lock is the
// folder's own, so nothing is left behind.
func lockFolder(name string) (unlock func() error, err error) {
	dir, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), dir.Close())
	}
	return dir.Close, nil
}
