//go:build crash && linux

package main

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"klawbot/internal/telegramtest"
)

// TestOutageIsCheap takes Telegram away from a real process that has something
// to say, and measures its processor time: less than 1 % of a core.
func TestOutageIsCheap(t *testing.T) {
	t.Parallel() // it mostly waits
	const chat, watched = 11, 8 * time.Second
	r := newRig(t, "edit", chat)
	line := newRelay(t, r)
	r.model.Respond(worker(0))
	b := r.start("")
	person := r.telegram.User(chat)
	person.Send("task 0")
	r.wait(b, "it answers", func(v telegramtest.State) bool { return answered(v, chat, 0) && v.Polling() })
	person.Send("task 1")
	line.cut(true)
	calmDown(t, b.cmd.Process.Pid) // the turn ends, its answer waits
	before := processorTime(t, b.cmd.Process.Pid)
	<-time.After(watched)
	used := processorTime(t, b.cmd.Process.Pid) - before
	t.Logf("%v of processor time in %v without Telegram: %.2f %%", used, watched, 100*used.Seconds()/watched.Seconds())
	// The kernel counts in steps of 10 ms, and this is a program with the race
	// detector, which takes several times as long, on any machine.
	if used > 3*watched/100+10*time.Millisecond {
		t.Errorf("it computed for %v, at most 3 %% of %v", used, watched)
	}
	line.cut(false)
	r.wait(b, "it answers after the outage", func(v telegramtest.State) bool { return answered(v, chat, 1) })
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	r.count(chat, 2).check(t)
}

// calmDown waits until a process computes next to nothing for two seconds: on a busy
// machine a turn takes its time.
func calmDown(t *testing.T, pid int) {
	t.Helper()
	for range 60 {
		before := processorTime(t, pid)
		<-time.After(2 * time.Second)
		if processorTime(t, pid)-before <= 60*time.Millisecond {
			return
		}
	}
	t.Fatal("it goes on computing")
}

// relay is a line between a bot and its Telegram that can be cut.
type relay struct {
	to     string
	listen net.Listener

	mu   sync.Mutex
	down bool              // guarded by mu
	open map[net.Conn]bool // guarded by mu
}

// newRelay puts a relay between the bot of a rig and its Telegram.
func newRelay(t *testing.T, r *rig) *relay {
	t.Helper()
	api, err := url.Parse(r.telegram.URL())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	line := &relay{to: api.Host, listen: l, open: map[net.Conn]bool{}}
	t.Cleanup(func() {
		_ = l.Close() // no call is left
		line.cut(true)
	})
	r.edit(api.Host, l.Addr().String())
	go line.serve()
	return line
}

func (l *relay) serve() {
	for {
		c, err := l.listen.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.to)
		if err != nil || !l.keep(c, far) {
			_ = c.Close() // which is all that the bot sees of it
			continue
		}
		for _, pair := range [][2]net.Conn{{c, far}, {far, c}} {
			go func() {
				_, _ = io.Copy(pair[0], pair[1]) // it ends when either side does
				_ = pair[0].Close()
			}()
		}
	}
}

// keep notes open connections, unless the line is cut.
func (l *relay) keep(conns ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		if l.down {
			_ = c.Close() // the line is cut
			continue
		}
		l.open[c] = true
	}
	return !l.down
}

// cut cuts the line, open connections too, or restores it.
func (l *relay) cut(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
	for c := range l.open {
		_ = c.Close() // it may be closed already
	}
	clear(l.open)
}
