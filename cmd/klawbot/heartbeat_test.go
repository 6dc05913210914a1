package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
	"klawbot/tools"
)

// heartbeat writes HEARTBEAT.md.
func (b *bubble) heartbeat(text string) {
	b.t.Helper()
	dir := filepath.Join(b.dir, "workspace")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	// A file system that keeps whole seconds, and a clock that does not move
	// while a test writes, must not hide a change: the lengths differ.
	if err := os.WriteFile(filepath.Join(dir, "HEARTBEAT.md"), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

const look = "## Look\n- Cron: 0 9 * * *\n- Message: look around\n- InjectInto: telegram_11\n"

// looks is a model that notes when it was asked, and reports each time.
func (b *bubble) looks() *[]string {
	var times []string
	b.model.Respond(func(r modeltest.Request) modeltest.Reply {
		times = append(times, time.Now().UTC().Format("02 15:04"))
		return modeltest.Text("did " + due(r))
	})
	return &times
}

func TestHeartbeat(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		times := b.looks()
		<-time.After(24*time.Hour + 7*time.Hour)
		b.start()
		<-time.After(time.Hour)
		if len(*times) != 0 {
			t.Errorf("without a file it ran at %q", *times)
		}
		b.heartbeat(look)
		<-time.After(b.look + time.Second)
		b.telegram.User(bruno).Send("/heartbeat")
		b.until("what is planned", func() bool {
			all := b.shows(bruno)
			return len(all) == 1 && strings.Contains(all[0], "1. Look — every day at 09:00; next Sun 2000-01-02 09:00 → telegram_11")
		})
		<-time.After(2 * time.Hour)
		if got := fmt.Sprint(*times, b.shows(anna)); got != "[02 09:00] [did look around]" {
			t.Errorf("it ran at %s", got)
		}
		b.heartbeat(strings.Replace(look, "0 9 *", "30 10 *", 1))
		<-time.After(2 * time.Hour)
		b.heartbeat("# nothing\n\n")
		<-time.After(24 * time.Hour)
		if got := fmt.Sprint(*times); got != "[02 09:00 02 10:30]" {
			t.Errorf("it ran at %s", got)
		}
		b.telegram.User(bruno).Send("/heartbeat")
		b.until("it is off", b.says(bruno, "Heartbeat is off. Add tasks to HEARTBEAT.md."))
		b.telegram.User(anna).Send("/heartbeat")
		b.until("it is the owner's", func() bool { all := b.shows(anna); return strings.Contains(all[len(all)-1], "heartbeat") })
	})
}

func TestHeartbeatNoticesAChange(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.look = 0
		b.start()
		<-time.After(time.Minute)
		b.heartbeat(look)
		<-time.After(1500 * time.Millisecond)
		all, err := b.engine.Schedules().List(t.Context(), tools.Call{})
		if err != nil || len(all) != 1 || all[0].Name != "Look" || all[0].Kind != "heartbeat" {
			t.Fatalf("%+v, %v", all, err)
		}
		// It is changed in the file, not beside it.
		for _, err := range []error{
			b.engine.Schedules().Remove(t.Context(), tools.Call{}, "Look"),
		} {
			if err == nil || err.Error() != "'Look' is a task of the heartbeat; change it in HEARTBEAT.md" {
				t.Error(err)
			}
		}
		b.heartbeat("")
		<-time.After(1500 * time.Millisecond)
		if all, err := b.engine.Schedules().List(t.Context(), tools.Call{}); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// TestHeartbeatOfText runs a file without tasks: a fixed time after the last run,
// and once after the bot was off or the machine slept.
func TestHeartbeatOfText(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.settings.Heartbeat = settings.Heartbeat{Every: time.Hour, InjectInto: "telegram_11"}
		var times []string
		b.model.Respond(func(r modeltest.Request) modeltest.Reply {
			times = append(times, time.Now().UTC().Format("15:04"))
			reply := modeltest.Text("did " + due(r))
			reply.Delay = 2 * time.Minute
			return reply
		})
		b.settings.Models.Timeout = time.Hour
		b.heartbeat("# Heartbeat\nLook around.\n")
		b.start()
		<-time.After(3*time.Hour + 30*time.Minute)
		b.stop()
		<-time.After(6 * time.Hour)
		b.start()
		<-time.After(time.Hour)
		if got := strings.Join(times, " "); got != "01:00 02:02 03:04 09:30" {
			t.Errorf("it ran at %s", got)
		}
		b.change(func(s *settings.Settings) { s.Heartbeat.Every = 0 })
		<-time.After(5 * time.Hour)
		if len(times) != 4 {
			t.Errorf("after it was turned off it ran at %q", times)
		}
	})
}

func TestHeartbeatRests(t *testing.T) {
	t.Run("in quiet hours", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			scheduled(b)
			b.settings.Heartbeat = settings.Heartbeat{Quiet: settings.QuietHours{From: 9 * time.Hour, To: 7 * time.Hour}}
			times := b.looks()
			b.heartbeat(strings.Replace(look, "0 9 *", "0 6,7,8,9 *", 1))
			<-time.After(5 * time.Hour)
			b.start()
			<-time.After(5 * time.Hour)
			if got := fmt.Sprint(*times); got != "[01 07:00 01 08:00]" {
				t.Errorf("it ran at %s", got)
			}
			runs := b.runs("Look")
			if len(runs) != 4 || runs[0].State != "skipped" || runs[0].Note != "quiet hours" {
				t.Errorf("the runs are %+v", runs)
			}
			if err := b.engine.Schedules().Run(t.Context(), tools.Call{}, "Look"); err != nil {
				t.Fatal(err)
			}
			b.until("by hand it runs", func() bool { return len(*times) == 3 })
		})
	})
	t.Run("when its tokens are used up", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			scheduled(b)
			b.settings.Heartbeat = settings.Heartbeat{PerDayTokens: 1}
			times := b.looks()
			b.heartbeat(strings.Replace(look, "0 9 *", "0 22,23,0,1 *", 1))
			<-time.After(21 * time.Hour)
			b.start()
			<-time.After(4*time.Hour + 30*time.Minute) // when nothing is due
			if got := fmt.Sprint(*times); got != "[01 22:00 02 00:00]" {
				t.Errorf("it ran at %s", got)
			}
			if run := b.runs("Look")[0]; run.State != "skipped" || !strings.HasPrefix(run.Note, "the heartbeat's tokens of today are used up (") {
				t.Errorf("the last run is %+v", run)
			}
		})
	})
}

// TestHeartbeatFaults: what cannot be planned is told to the owners, once, and the
// other tasks run.
func TestHeartbeatFaults(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.start()
		<-time.After(time.Minute)
		b.heartbeat(look + "## Bad\n- Cron: 61 * * * *\n- Message: m\n## Far\n- Cron: @daily\n- Message: m\n- InjectInto: telegram_5\n" +
			"## Never\n- Cron: 0 0 30 2 *\n- Message: m\n## Often\n- Cron: * * * * * ?\n- Message: m\n## Model\n- Cron: @daily\n- Message: m\n- Model: x\n")
		<-time.After(3 * time.Hour)
		all := b.shows(bruno)
		if len(all) != 1 {
			t.Fatalf("the owner was told %q", all)
		}
		for _, want := range []string{
			"⚠️ HEARTBEAT.md:", `task "Bad": minute "61"`, `task "Far": chatId telegram_5 not in allowedChatIds`, `task "Never": cron '0 0 30 2 *' is never due`,
			`task "Often": cron '* * * * * ?' is due every 1s; 10s is the shortest`, `task "Model": Unknown model 'x'`,
		} {
			if !strings.Contains(all[0], want) {
				t.Errorf("%q is not in %q", want, all[0])
			}
		}
		if planned, err := b.engine.Schedules().List(t.Context(), tools.Call{}); err != nil || len(planned) != 1 || planned[0].Name != "Look" {
			t.Errorf("%+v, %v", planned, err)
		}
	})
}

// TestHeartbeatHasNoRights: the file may be written by others than the owner, and a run
// cannot plan by way of it.
func TestHeartbeatHasNoRights(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.model.Respond(func(r modeltest.Request) modeltest.Reply { return modeltest.Text("asked: " + due(r)) })
		b.heartbeat(strings.Replace(look, "look around", "/tool current_time {}", 1))
		b.start()
		b.until("the model is asked", b.says(anna, "asked: /tool current_time {}"))
	})
}
