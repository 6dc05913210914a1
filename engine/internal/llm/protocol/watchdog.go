package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// longest is how long an answer may take in all: heartbeats can keep a
	// dead answer alive for ever.
	longest = 15 * time.Minute
	// localFirstByte is how long a local model may load and read.
	localFirstByte = 10 * time.Minute
)

// afterFinish is how long a finished answer may take to add its usage.
const afterFinish = 5 * time.Second

// untilClose is how long a stream that said that it ended may take to close. A
// connection that closes its answer can be used again.
const untilClose = 20 * time.Millisecond

var errSilent = errors.New("the provider was silent for too long")

// watchdog ends a request that has been silent for too long. Every byte counts
// as a sign of life, comments too.
type watchdog struct {
	timer *time.Timer
	idle  time.Duration
	end   func()
}

// watch starts a watchdog before the request is written: a server that never
// answers is silent as well. The returned context ends with the reason.
func watch(parent context.Context, first, idle time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(parent)
	ctx, release := context.WithTimeoutCause(ctx, longest, fmt.Errorf("the answer took longer than %v", longest))
	d := &watchdog{idle: idle}
	d.timer = time.AfterFunc(first, func() { cancel(errSilent) })
	d.end = func() {
		release()
		cancel(nil)
	}
	return ctx, d
}

func (d *watchdog) alive() { d.timer.Reset(d.idle) }

func (d *watchdog) finished() {
	d.idle = min(d.idle, afterFinish)
	d.alive()
}

func (d *watchdog) drain(r io.Reader) {
	d.idle = untilClose
	d.alive()
	_, _ = io.CopyN(io.Discard, r, 4096) // whatever comes, the answer is whole
}

func (d *watchdog) stop() {
	d.timer.Stop()
	d.end()
}

// watched is a body whose bytes the watchdog hears.
type watched struct {
	io.ReadCloser
	dog *watchdog
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.dog.alive()
	}
	return n, err
}
