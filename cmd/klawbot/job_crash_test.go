//go:build crash

package main

import (
	"strings"
	"testing"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestRunKilledAtEveryEdge kills the bot at each named moment of a scheduled run,
// starts it again, and wants one report, one effect and one row.
func TestRunKilledAtEveryEdge(t *testing.T) {
	for _, point := range edges([]string{"run.claimed", "answer.journaled", "call.done", "run.committed", "outbox.sending"},
		"run.started", "call.started", "call.finished", "outbox.delivered", "outbox.settled") {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			const chat = 11
			r := newRig(t, "off", chat)
			r.telegram.AddChat(telegramtest.Chat{ID: chat}, telegramtest.Open)
			r.model.Respond(runWorker(0))
			r.schedule("task 0", "--at", "in 1s")
			b := r.start("", "KLAWBOT_CRASH="+point)
			<-b.exited
			if code := b.cmd.ProcessState.ExitCode(); code != -1 {
				t.Fatalf("the bot was not killed at %s, exit code %d\n%s", point, code, tailOf(b.log.String()))
			}
			b = r.again(b)
			r.wait(b, "the report", func(v telegramtest.State) bool { return answered(v, chat, 0) && v.Pending() == 0 })
			r.schedule("task 1", "--at", "in 1s") // beside the running bot
			r.wait(b, "the next report", func(v telegramtest.State) bool { return answered(v, chat, 1) })
			if code := b.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
			}
			result := r.count(chat, 2)
			result.check(t)
			// At run.committed the kill may come while the report is sent.
			if marked := result.MarkedFinals; point != "run.committed" && marked > 0 != (strings.HasPrefix(point, "outbox.sending") || point == "outbox.delivered") {
				t.Errorf("%d reports are marked", marked)
			}
			for _, name := range []string{"task-0", "task-1"} {
				if runs := r.runs(name); len(runs) != 1 || runs[0].State != "done" {
					t.Errorf("%s has the runs %+v", name, runs)
				}
			}
		})
	}
}

// TestReminderKilledAtEveryEdge kills the bot when it has stored the words of a reminder
// whose model fails: they come once.
func TestReminderKilledAtEveryEdge(t *testing.T) {
	for _, point := range []string{"run.reminded", "run.committed"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			const chat = 11
			r := newRig(t, "off", chat)
			r.telegram.AddChat(telegramtest.Chat{ID: chat}, telegramtest.Open)
			r.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Error(401, "no") })
			r.schedule("task 0", "--at", "in 1s")
			b := r.start("", "KLAWBOT_CRASH="+point)
			<-b.exited
			b = r.again(b)
			// The kill may have come while the reminder was sent; then it comes with ↻.
			reminders := func(v telegramtest.State, task string) (plain, marked int) {
				for _, m := range v.Messages(chat) {
					switch {
					case m.Bot && strings.HasPrefix(m.Text, "⏰ "+task):
						plain++
					case m.Bot && strings.Contains(m.Text, "⏰ "+task):
						marked++
					}
				}
				return plain, marked
			}
			came := func(task string) func(telegramtest.State) bool {
				return func(v telegramtest.State) bool {
					plain, marked := reminders(v, task)
					return plain+marked > 0 && v.Pending() == 0
				}
			}
			r.wait(b, "the reminder", came("task 0"))
			r.schedule("task 1", "--at", "in 1s") // beside the running bot
			r.wait(b, "the next reminder", came("task 1"))
			if code := b.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
			}
			r.telegram.View(func(v telegramtest.State) {
				if plain, marked := reminders(v, "task 0"); plain > 1 || marked > 1 {
					t.Errorf("the reminder came %d times, and %d times with ↻", plain, marked)
				}
			})
			if runs := r.runs("task-0"); len(runs) != 1 || runs[0].State != "failed" {
				t.Errorf("the runs are %+v", runs)
			}
		})
	}
}
