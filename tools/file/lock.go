package file

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"klawbot/internal/wait"
)

// lockPoll is the time between two attempts to lock.
const lockPoll = 2 * time.Millisecond

// lockRoot locks the workspace against other klawbot processes: klawbot undo works while
// the bot runs. The lock ends with the process. Not every file system has locks.
func lockRoot(ctx context.Context, root *os.Root) (unlock func() error, err error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return dir.Close, nil
		}
		if !wait.For(ctx, lockPoll) {
			return nil, errors.Join(ctx.Err(), dir.Close())
		}
	}
}
