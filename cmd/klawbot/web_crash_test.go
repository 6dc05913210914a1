//go:build crash

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"klawbot/internal/modeltest"
)

// TestKilledWhileWebPageShowsAnswer kills the bot at each moment of an answer on the web page
// and starts it again. The page shows what was said once and one final answer, without a
// mark for repeats: a row with a key is shown once. The browser stays signed in.
func TestKilledWhileWebPageShowsAnswer(t *testing.T) {
	slow := 1500 * time.Millisecond // in which the placeholder comes; the answer is an edit of it
	for _, at := range []struct {
		point string
		delay time.Duration
	}{{"placeholder.sent", slow}, {"turn.committed", slow}, {"outbox.delivered", slow}, {"outbox.sending", 0}, {"outbox.delivered", 0}} {
		t.Run(fmt.Sprint(at.point, "/", at.delay), func(t *testing.T) {
			point := at.point
			t.Parallel()
			r := newRig(t, "edit", 11)
			p := r.withPage()
			r.model.Respond(func(modeltest.Request) modeltest.Reply {
				return modeltest.Reply{Text: "The folder is empty.", Delay: at.delay}
			})
			b := r.start("", "KLAWBOT_CRASH="+point)
			p.signIn()
			p.say("the-one-message", "how big is the log?") // it may be killed before it answers
			<-b.exited
			if code := b.cmd.ProcessState.ExitCode(); code != -1 {
				t.Fatalf("the bot was not killed at %s, exit code %d\n%s", point, code, tailOf(b.log.String()))
			}
			b = r.start("")
			page := p.until("The folder is empty.")
			if code := b.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
			}
			for text, want := range map[string]int{"The folder is empty.": 1, "how big is the log?": 1, "↻": 0, `class="message bot`: 1} {
				if n := strings.Count(page, text); n != want {
					t.Errorf("the page shows %q %d times, want %d:\n%s", text, n, want, page)
				}
			}
		})
	}
}
