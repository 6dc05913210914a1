package corememory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Another process changes the core memory in a moment; one that is stopped meanwhile
// is not waited for.
const (
	corePatience = 5 * time.Second
	corePoll     = 2 * time.Millisecond
)

// lock keeps others from changing the core memory meanwhile: commands work beside a
// running bot. The lock is that of the folder, which it makes, and ends with the
// process, however it ends. A file system that knows no locks is used without.
func (c *Core) lock() (unlock func(), err error) {
	name := filepath.Dir(c.file)
	if err := os.MkdirAll(name, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	for began := time.Now(); ; time.Sleep(corePoll) {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return func() {
				_ = dir.Close() // it was only read
				c.mu.Unlock()
			}, nil
		}
		if time.Since(began) > corePatience {
			c.mu.Unlock()
			return nil, errors.Join(fmt.Errorf("another program is changing %s: try again when it is done", c.file), dir.Close())
		}
	}
}
