//go:build crash

package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
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
			b = r.again(b)
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

var numbered = regexp.MustCompile(`question (\d+)`)

// TestKilledWhileWebPageStreams kills the bot again and again in the middle of an answer that an
// open page watches grow. The page comes back by itself, without the part that was
// lost, and shows each answer once, at its end.
func TestKilledWhileWebPageStreams(t *testing.T) {
	t.Parallel()
	rounds := 3
	if long {
		rounds = 50
	}
	r := newRig(t, "edit", 11)
	p := r.withPage()
	r.model.Respond(func(q modeltest.Request) modeltest.Reply {
		number := ""
		for _, m := range q.Messages {
			if found := numbered.FindStringSubmatch(m.Text()); m.Role == "user" && found != nil {
				number = found[1]
			}
		}
		return modeltest.Reply{Text: "Answer " + number + " begins. " + strings.Repeat("More of it. ", 40) + "Answer " + number + " ends.", Pieces: 20, PieceDelay: 100 * time.Millisecond}
	})
	b := r.start("")
	p.signIn()
	events := p.events(t.Context())
	until := func(text string) {
		t.Helper()
		for end := time.After(time.Minute); ; {
			select {
			case line := <-events:
				if strings.Contains(line, text) {
					return
				}
			case <-end:
				t.Fatalf("the page was sent no %q\n%s", text, tailOf(b.log.String()))
			}
		}
	}
	for i := range rounds {
		p.say(fmt.Sprintf("round-%04d", i), fmt.Sprint("question ", i))
		until(fmt.Sprintf("Answer %d begins.", i))
		<-time.After(rand.N(500 * time.Millisecond)) // somewhere in the answer
		b.kill()
		b = r.again(b)
		until(fmt.Sprintf("Answer %d ends.", i))
		page := p.until(fmt.Sprintf("Answer %d ends.", i))
		for text, want := range map[string]int{fmt.Sprintf("Answer %d begins.", i): 1, fmt.Sprintf("Answer %d ends.", i): 1, fmt.Sprintf("question %d<", i): 1, "↻": 0} {
			if n := strings.Count(page, text); n != want {
				t.Fatalf("round %d: the page shows %q %d times, want %d:\n%s", i, text, n, want, page)
			}
		}
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
}
