//go:build soak

package main

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"klawbot/internal/telegramtest"
)

// TestSoakOfRuns kills a bot whose work is scheduled with SIGKILL at random
// moments, KILLS times. In the end every time must have one run, one effect and
// one report, or a second one that is marked.
func TestSoakOfRuns(t *testing.T) {
	kills := envNumber("KILLS", 200)
	const chat = 11
	r := newRig(t, "off", chat)
	r.telegram.AddChat(telegramtest.Chat{ID: chat}, telegramtest.Open)
	r.model.Respond(runWorker(20 * time.Millisecond))
	tasks := 0
	for done := range kills {
		if tasks == 0 || r.isAnswered(chat, tasks-1) {
			r.schedule(fmt.Sprint("task ", tasks), "--at", "in 1s")
			tasks++
		}
		before := r.telegram.Count("getUpdates")
		b := r.start("")
		if done%4 > 0 {
			r.wait(b, "the bot polls", func(v telegramtest.State) bool { return v.Count("getUpdates") > before })
		}
		<-time.After(rand.N(900 * time.Millisecond))
		b.kill()
	}
	before := r.telegram.Count("getUpdates")
	b := r.start("")
	r.wait(b, "the last report", func(v telegramtest.State) bool {
		return v.Count("getUpdates") > before && answered(v, chat, tasks-1)
	})
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	result := r.count(chat, tasks)
	t.Logf("%d kills: %s", kills, result)
	result.check(t)
	for n := range tasks {
		if runs := r.runs(fmt.Sprint("task-", n)); len(runs) != 1 || runs[0].State != "done" {
			t.Errorf("task %d has the runs %+v", n, runs)
		}
	}
	if tasks < kills/20 {
		t.Errorf("only %d tasks in %d kills: the kills fell beside the work", tasks, kills)
	}
}
