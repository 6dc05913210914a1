package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// stopWithin is how long a bot may take to end in good order, three times what it
// promises: the machine may have other work too.
const stopWithin = 30 * time.Second

// atWork starts a bot whose model has been asked and does not answer.
func atWork(t *testing.T) (*rig, *process) {
	t.Helper()
	r := newRig(t, "edit", 11)
	r.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Text: "late", Delay: time.Hour} })
	b := r.start("")
	r.telegram.User(11).Send("hello")
	r.wait(b, "it works", func(v telegramtest.State) bool {
		return strings.Contains(v.Transcript(11), "…")
	})
	return r, b
}

// ended waits for the end of the process and returns how long it took.
func (b *process) ended(t *testing.T, limit time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	select {
	case <-b.exited:
	case <-time.After(limit):
		t.Fatalf("the bot runs on after %s:\n%s", limit, tailOf(b.log.String()))
	}
	return time.Since(began)
}

func TestSignalParksTheTurn(t *testing.T) {
	t.Parallel() // it mostly waits
	r, b := atWork(t)
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	took := b.ended(t, stopWithin)
	if code := b.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	t.Logf("SIGTERM during a model call: ended after %s", took.Round(time.Millisecond))
	r.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Text("here I am") })
	b = r.start("")
	r.wait(b, "the turn is resumed", func(v telegramtest.State) bool { return strings.Contains(v.Transcript(11), "here I am") })
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	_, b := atWork(t)
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// The second one counts from when the first was taken, which has no signal.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	began, late := time.Now(), time.After(stopWithin)
	for {
		select {
		case <-b.exited:
			// In good order it gives the turn 7 s.
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
			if status, ok := b.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
				t.Errorf("it ended with %v, want by the signal", b.cmd.ProcessState)
			}
			return
		case <-tick.C:
			_ = b.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
		case <-late:
			t.Fatal("it runs on")
		}
	}
}
