package file_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"klawbot/tools"
)

// memoryLog is a changelog without a disk.
type memoryLog struct {
	mu      sync.Mutex
	next    int64
	changes []tools.Change   // guarded by mu, the newest first
	images  map[int64][]byte // guarded by mu
	// recorded, if set, runs when a change was recorded and is not made yet.
	// Its error is that of Record, which has recorded nothing then.
	recorded func(tools.Change) error
}

var errNoImage = errors.New("no image")

func (l *memoryLog) Record(_ context.Context, c tools.Change, image []byte) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.recorded != nil {
		if err := l.recorded(c); err != nil {
			return 0, err
		}
	}
	l.next++
	c.ID, c.At = l.next, time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	l.changes = slices.Insert(l.changes, 0, c)
	if c.Kept {
		if l.images == nil {
			l.images = map[int64][]byte{}
		}
		l.images[c.ID] = slices.Clone(image)
	}
	return c.ID, nil
}

func (l *memoryLog) Discard(_ context.Context, id int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = slices.DeleteFunc(l.changes, func(c tools.Change) bool { return c.ID == id })
	delete(l.images, id)
	return nil
}

func (l *memoryLog) Changes(context.Context) ([]tools.Change, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.changes), nil
}

func (l *memoryLog) Image(_ context.Context, id int64) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	image, ok := l.images[id]
	if !ok {
		return nil, errNoImage
	}
	return slices.Clone(image), nil
}
