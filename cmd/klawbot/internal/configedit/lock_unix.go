//go:build unix

package configedit

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock keeps two commands from editing config.yaml at once, of which the
// slower would undo what the other has written. The lock is the file's own, so
// nothing is left behind. The folder's lock is the one of a running bot.
func lock(name string) (unlock func() error, err error) {
	for {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), f.Close())
		}
		locked, err := f.Stat()
		now, err2 := os.Stat(name)
		if err := errors.Join(err, err2); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if os.SameFile(locked, now) {
			return f.Close, nil
		}
		// While it waited, another command put a new file in this one's place.
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}
