package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// The promises about an hour without Telegram.
const (
	longestBackoff = 60 * time.Second
	outageLines    = 100
)

// TestOutage cuts the line to Telegram for an hour of fake time while people
// write: half of the time the port is closed, half of the time connections are
// reset. The bot asks patiently, says little, and then answers everything.
func TestOutage(t *testing.T) {
	for _, streaming := range []string{settings.StreamEdit, settings.StreamOff} {
		t.Run(streaming, func(t *testing.T) {
			t.Parallel()
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				b.settings.Streaming["telegram"] = streaming
				outage(t, b)
			})
		})
	}
}

func outage(t *testing.T, b *bubble) {
	line := &cutLine{dial: b.pipe.Dial}
	b.wire = line.transport
	b.model.Respond(func(r modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: saidNow(r), Delay: 3 * time.Second}
	})
	b.start()
	b.telegram.User(anna).Send("before.")
	b.until("the answer before", b.says(anna, "before."))
	b.telegram.User(bruno).Send("on the way.") // its answer meets the cut
	<-time.After(time.Second)
	quiet := b.logged()
	line.cut(true)
	const messages = 120
	for n := range messages {
		line.refuse.Store(n%20 < 10)
		b.telegram.User(anna).Send(fmt.Sprintf("message %d.", n))
		<-time.After(time.Hour / messages)
	}
	lines := b.logged() - quiet
	line.cut(false)
	began := time.Now()
	b.until("everything is answered", func() bool {
		shown := strings.Join(b.shows(anna), "\n")
		for n := range messages {
			if !strings.Contains(shown, fmt.Sprintf("message %d.", n)) {
				return false
			}
		}
		return b.idle() && strings.Contains(strings.Join(b.shows(bruno), "\n"), "on the way.")
	})
	tries, longest := line.result()
	t.Logf("an hour without Telegram: %d tries, at most %v apart, %d lines in the log; all %d messages were answered %v after it",
		tries, longest.Round(time.Second), lines, messages, time.Since(began))
	if longest > longestBackoff+5*time.Second {
		t.Errorf("the bot waited %v, at most %v", longest, longestBackoff)
	}
	if lines > outageLines {
		t.Errorf("%d lines in the log, at most %d", lines, outageLines)
	}
	if took := time.Since(began); took > 3*time.Minute {
		t.Errorf("the answers came %v after the outage", took)
	}
}

// logged counts the lines of the log at the usual level.
func (b *bubble) logged() int {
	log := b.logs.String()
	return strings.Count(log, "\n") - strings.Count(log, "level=DEBUG")
}

// saidNow is everything that the person has said since the last answer.
func saidNow(r modeltest.Request) string {
	first := len(r.Messages)
	for first > 0 && r.Messages[first-1].Role == "user" {
		first--
	}
	var all []string
	for _, m := range r.Messages[first:] {
		text, _, _ := strings.Cut(m.Text(), "(now:")
		text, _, _ = strings.Cut(text, "(sent:")
		all = append(all, strings.TrimSpace(text))
	}
	return strings.Join(all, " ")
}

// cutLine is a line to Telegram that can be cut.
type cutLine struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	refuse atomic.Bool // refuse connections, or reset them

	mu    sync.Mutex
	down  bool              // guarded by mu
	open  map[net.Conn]bool // guarded by mu
	tries []time.Time       // guarded by mu; while it is down
}

func (l *cutLine) transport() http.RoundTripper {
	return &http.Transport{DialContext: l.connect, MaxIdleConnsPerHost: 100}
}

func (l *cutLine) connect(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	down := l.down
	if down {
		l.tries = append(l.tries, time.Now())
	}
	l.mu.Unlock()
	if down && l.refuse.Load() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	if down {
		return resetConn{}, nil
	}
	c, err := l.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[net.Conn]bool{}
	}
	l.open[c] = true
	return c, nil
}

// cut cuts the line, open connections too, or restores it.
func (l *cutLine) cut(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
	for c := range l.open {
		_ = c.Close() // it may be closed already
	}
	l.open = nil
	if down {
		l.tries = append(l.tries, time.Now())
	}
}

// result is how often somebody dialled in the outage, and the longest wait.
func (l *cutLine) result() (tries int, longest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := 1; i < len(l.tries); i++ {
		longest = max(longest, l.tries[i].Sub(l.tries[i-1]))
	}
	return len(l.tries) - 1, longest
}

// resetConn is a connection whose other end is gone.
type resetConn struct{ net.Conn }

func (resetConn) Read([]byte) (int, error)         { return 0, syscall.ECONNRESET }
func (resetConn) Write([]byte) (int, error)        { return 0, syscall.ECONNRESET }
func (resetConn) Close() error                     { return nil }
func (resetConn) SetDeadline(time.Time) error      { return nil }
func (resetConn) SetReadDeadline(time.Time) error  { return nil }
func (resetConn) SetWriteDeadline(time.Time) error { return nil }
