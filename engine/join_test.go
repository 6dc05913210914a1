package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
)

// joining is a house with the usual wait whose model waits for release before it
// answers "re: " and all messages of the turn.
func joining(t *testing.T) (h *house, asked chan struct{}, release chan struct{}) {
	h = build(t)
	h.settings.Debounce = 300 * time.Millisecond
	h.settings.Streaming = map[string]string{"telegram": settings.StreamOff}
	asked, release = make(chan struct{}, 20), make(chan struct{}, 20)
	h.model.Respond(func(r modeltest.Request) modeltest.Reply {
		asked <- struct{}{}
		<-release
		return modeltest.Text("re: " + strings.Join(wanted(r), " + "))
	})
	t.Cleanup(func() { close(release) })
	return h, asked, release
}

// wanted are the messages of people behind the last answer.
func wanted(r modeltest.Request) (all []string) {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != "user" {
			break
		}
		text, _, _ := strings.Cut(m.Text(), "\n\n(sent:")
		all = append([]string{text}, all...)
	}
	return all
}

func TestLoneMessageStartsAtOnce(t *testing.T) {
	h := build(t)
	h.settings.Debounce = time.Minute
	h.echo()
	h.start().says(alice, "hi")
	h.shows(alice, "re: hi")
	h.says(alice, "and more")
	h.shows(alice, "re: hi", "re: and more")
}

func TestMessageJoinsSilentTurn(t *testing.T) {
	h, asked, release := joining(t)
	h.start().says(alice, "hi")
	<-asked
	h.says(alice, "can you help me")
	h.says(alice, "with my taxes?")
	<-asked
	release <- struct{}{}
	release <- struct{}{}
	h.shows(alice, "re: hi + can you help me + with my taxes?")
	h.restart()
	h.says(alice, "thanks")
	release <- struct{}{}
	h.shows(alice, "re: hi + can you help me + with my taxes?", "re: thanks")
}

// TestMessageJoinsTwiceAtMost: then it waits for its own turn.
func TestMessageJoinsTwiceAtMost(t *testing.T) {
	h, asked, release := joining(t)
	h.settings.Debounce = 20 * time.Millisecond
	h.start().says(alice, "one")
	for _, text := range []string{"two", "three", "four"} {
		<-asked
		h.says(alice, text)
	}
	for range 4 {
		release <- struct{}{}
	}
	h.shows(alice, "re: one + two + three", "re: four")
}

func TestMessageDoesNotJoinWhatSpoke(t *testing.T) {
	t.Parallel() // it mostly waits
	for name, reply := range map[string]modeltest.Reply{
		"text":     {Text: "a long answer", Pieces: 10, PieceDelay: time.Second},
		"thinking": {Thinking: "hm, let me see how that was", Text: "a long answer", Pieces: 10, PieceDelay: 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t)
			h.settings.Debounce = 10 * time.Millisecond
			first := true
			h.model.Respond(func(r modeltest.Request) modeltest.Reply {
				if first {
					first = false
					return reply
				}
				return modeltest.Text("re: " + strings.Join(wanted(r), " + "))
			})
			h.start().says(alice, "one")
			h.until("the request", func() bool { return len(h.model.Completions()) > 0 })
			<-time.After(400 * time.Millisecond)
			h.says(alice, "two")
			h.sees(alice, "re: two")
			if n := len(h.model.Completions()); n != 2 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestStopEndsJoinedTurn(t *testing.T) {
	h, asked, release := joining(t)
	h.settings.Debounce = time.Hour
	h.start().says(alice, "hi")
	<-asked
	h.says(alice, "and this")
	h.says(alice, "/stop")
	release <- struct{}{}
	h.see(alice, "Stopped.")
	h.says(alice, "next")
	release <- struct{}{}
	h.sees(alice, "re: next")
	for _, text := range h.messenger.texts(alice) {
		if strings.Contains(text, "and this") {
			t.Errorf("what was stopped is answered: %q", text)
		}
	}
}

// TestMessageBehindStopIsAnswered: it comes before the stopped turn has ended, and does not
// join it.
func TestMessageBehindStopIsAnswered(t *testing.T) {
	for _, before := range [][]string{nil, {"and this"}} {
		h, asked, release := joining(t)
		h.settings.Debounce = time.Hour
		h.start().says(alice, "hi")
		<-asked
		for _, text := range append(before, "/stop", "next") {
			h.says(alice, text)
		}
		for range 3 {
			release <- struct{}{}
		}
		h.sees(alice, "re: next")
	}
}

// TestJoinedTurnOutlastsTheProcess: a message that joined belongs to the turn, and is
// answered once.
func TestJoinedTurnOutlastsTheProcess(t *testing.T) {
	h, asked, release := joining(t)
	h.settings.Debounce = time.Hour
	h.start().says(alice, "hi")
	<-asked
	h.says(alice, "and this")
	release <- struct{}{}
	h.restart()
	release <- struct{}{}
	h.shows(alice, "re: hi + and this")
}

// TestBurstIsOneTurn: messages that come at once are answered at once, whichever of
// them comes while the turn is being stored.
func TestBurstIsOneTurn(t *testing.T) {
	for range 3 {
		h := build(t)
		h.settings.Debounce = 500 * time.Millisecond
		h.model.Respond(func(r modeltest.Request) modeltest.Reply {
			return modeltest.Reply{Text: "re: " + strings.Join(wanted(r), " + "), Delay: 100 * time.Millisecond}
		})
		h.start()
		for _, text := range []string{"one", "two", "three", "four", "five"} {
			h.says(alice, text)
		}
		h.shows(alice, "re: one + two + three + four + five")
		h.end()
	}
}

// TestMessagesJoinWithoutAWait: with a debounce of 0 nothing waits, also not for what may
// follow a forward or a long text, and a message still joins a turn that is silent.
func TestMessagesJoinWithoutAWait(t *testing.T) {
	h, asked, release := joining(t)
	h.settings.Debounce = 0
	h.start().says(alice, "hi")
	<-asked
	h.says(alice, "and this")
	select {
	case <-asked:
	case <-time.After(20 * time.Second):
		t.Fatal("the message does not join")
	}
	release <- struct{}{}
	release <- struct{}{}
	h.shows(alice, "re: hi + and this")
	long := strings.Repeat("x", 4000)
	began := time.Now()
	h.says(alice, long)
	<-asked
	if took := time.Since(began); took > time.Second {
		t.Errorf("a long text waited for %s", took)
	}
	release <- struct{}{}
	h.sees(alice, "re: "+long)
}

// TestAnswerStandsBelowJoinedMessage: a placeholder above the message that joined is taken
// away, and the answer replies to that message, also after a restart.
func TestAnswerStandsBelowJoinedMessage(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, restart := range []bool{false, true} {
		h, asked, release := joining(t)
		h.settings.Streaming = map[string]string{"telegram": settings.StreamEdit}
		h.settings.Debounce = 0
		h.start().says(alice, "hi")
		<-asked
		h.shows(alice, "…")
		h.says(alice, "and this")
		<-asked
		release <- struct{}{}
		if restart {
			h.restart()
			<-asked
		}
		h.until("the first placeholder is taken away", func() bool { return slices.Contains(h.messenger.log(), "delete telegram_11 1") })
		release <- struct{}{}
		release <- struct{}{}
		h.shows(alice, "re: hi + and this")
		h.messenger.mu.Lock()
		last := h.messenger.shown[len(h.messenger.shown)-1]
		h.messenger.mu.Unlock()
		if last.id == 1 || last.part.Answers != 2 {
			t.Errorf("the answer is message %d and answers message %d", last.id, last.part.Answers)
		}
		h.end()
	}
}
