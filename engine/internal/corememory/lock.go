package corememory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Another process needs the lock for a moment only, unless it is stopped.
const (
	corePatience = 5 * time.Second
	corePoll     = 2 * time.Millisecond
)

// lock locks the directory of the core memory, which it creates, against other klawbot
// processes: commands work while the bot runs. The lock ends with the process. Not every
// file system has locks.
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
