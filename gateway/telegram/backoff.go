package telegram

import (
	"time"

	"klawbot/internal/wait"
)

// backoff gives growing waits between 1 s and 60 s. The zero value is ready.
type backoff struct{ tries int }

func (b *backoff) next() time.Duration {
	b.tries++
	return wait.Backoff(b.tries-1, 2*time.Second, time.Minute)
}

func (b *backoff) reset() { b.tries = 0 }
