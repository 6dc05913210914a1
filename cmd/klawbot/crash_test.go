//go:build crash

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestKilledAtEveryEdge kills the bot at each named moment of a turn, starts it
// again, and wants one answer, one effect and one message. A turn that is quick has
// no placeholder, and its answer is a send.
func TestKilledAtEveryEdge(t *testing.T) {
	for _, streaming := range []string{"edit", "off", quick} {
		all := []string{
			"inbox.committed", "turn.started",
			"placeholder.sending", "placeholder.sent", "placeholder.shown",
			"answer.journaled", "answer.journaled:2",
			"call.started", "call.done", "call.done:2", "call.finished", "call.finished:2",
			"turn.committed",
			"outbox.sending", "outbox.delivered", "outbox.delivered:2", "outbox.settled", "outbox.settled:2",
		}
		if !long && streaming != "edit" { // what comes before is the same
			all = all[slices.Index(all, "turn.committed"):]
		}
		for _, point := range all {
			if streaming == quick && strings.HasPrefix(point, "placeholder.") {
				continue
			}
			t.Run(streaming+"/"+point, func(t *testing.T) {
				t.Parallel()
				killAt(t, streaming, point)
			})
		}
	}
}

// quick is streaming with edits of turns that answer at once.
const quick = "quick"

func killAt(t *testing.T, streaming, point string) {
	const chat = 11
	r := newRig(t, strings.Replace(streaming, quick, "edit", 1), chat)
	work := worker(0)
	r.model.Respond(func(q modeltest.Request) modeltest.Reply {
		reply := work(q)
		if streaming != quick && callsBehind(q) == 0 {
			reply.Delay = time.Second // in which the placeholder comes
		}
		return reply
	})
	b := r.start("", "KLAWBOT_CRASH="+point)
	r.telegram.User(chat).Send("task 0")
	<-b.exited
	if code := b.cmd.ProcessState.ExitCode(); code != -1 {
		t.Fatalf("the bot was not killed at %s, exit code %d\n%s", point, code, tailOf(b.log.String()))
	}
	b = r.again(b)
	began := time.Now()
	r.wait(b, "the task is answered", func(v telegramtest.State) bool { return answered(v, chat, 0) && v.Pending() == 0 })
	if took := time.Since(began); took > 9*time.Second {
		t.Errorf("the answer came %v after the start: a repeat after a crash need not wait as in an outage", took)
	}
	r.telegram.User(chat).Send("task 1")
	r.wait(b, "the next task is answered", func(v telegramtest.State) bool { return answered(v, chat, 1) })
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	result := r.count(chat, 2)
	result.check(t)
	if want := orphans(streaming, point); result.Placeholders > want {
		t.Errorf("%d placeholders are left, want at most %d (%s)", result.Placeholders, want, fmt.Sprint(r.telegram.Transcript(chat)))
	}
}

// orphans is how many placeholders may be left by a kill: one, where it may fall
// between the request and the stored answer, so that its id is unknown. The
// placeholder is sent beside the model call, or beside the first tool, which is so
// quick that the second answer may be stored by then.
func orphans(streaming, point string) int {
	if streaming == quick {
		return 0
	}
	beside := strings.HasPrefix(point, "call.") || strings.HasPrefix(point, "answer.journaled:") || point == "answer.journaled" && streaming == "edit"
	if point == "placeholder.sent" || beside {
		return 1
	}
	return 0
}

// TestKilledWhileMessageJoins: a message that has joined a turn is stored with it, so
// that the next start answers both together, once.
func TestKilledWhileMessageJoins(t *testing.T) {
	const chat = 11
	r := newRig(t, "off", chat)
	r.edit("debounceMs: 0", "debounceMs: 300")
	r.model.Respond(func(q modeltest.Request) modeltest.Reply {
		both := len(q.Messages) > 2 && strings.HasPrefix(q.Messages[1].Text(), "one") && strings.HasPrefix(q.Messages[2].Text(), "two")
		return modeltest.Reply{Text: fmt.Sprint("both: ", both), Delay: time.Second}
	})
	b := r.start("", "KLAWBOT_CRASH=turn.joined")
	r.telegram.User(chat).Send("one")
	for len(r.model.Completions()) == 0 {
		<-time.After(10 * time.Millisecond)
	}
	r.telegram.User(chat).Send("two")
	<-b.exited
	b = r.again(b)
	r.wait(b, "the answer", func(v telegramtest.State) bool { return v.Count("sendMessage") > 0 && v.Pending() == 0 })
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	if got := fmt.Sprint(r.telegram.Transcript(chat)); strings.Count(got, "both: true") != 1 || strings.Contains(got, "both: false") {
		t.Errorf("the chat shows %s", got)
	}
}
