package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
	"klawbot/tools"
	"klawbot/tools/job"
)

const drinkWater = "Remember to drink water"

// TestReminderWithoutProvider: the words of a reminder come within half a minute, also
// when the provider fails or hangs.
func TestReminderWithoutProvider(t *testing.T) {
	slow := func(text string, after time.Duration) modeltest.Reply {
		reply := modeltest.Text(text)
		reply.Delay = after
		return reply
	}
	long := strings.Repeat("A poem about water. ", 20)
	for name, c := range map[string]struct {
		job   job.New
		reply modeltest.Reply // again and again
		first string          // the message after at most half a minute
		last  string          // the last message of the next hour, "" for none but the first
	}{
		"reminder-model-down": {job.New{At: "in 12s"}, modeltest.Error(500, "down"), "⏰ " + drinkWater,
			`⚠️ Schedule "water" failed: `},
		"the provider hangs":      {job.New{At: "in 12s"}, slow("late", time.Hour), "⏰ " + drinkWater + "\n⏳ The model isn't answering.", `⚠️ Schedule "water" failed: The run timed out.`},
		"overloaded":              {job.New{At: "in 12s"}, modeltest.Error(529, "overloaded"), "⏰ " + drinkWater, `⚠️ Schedule "water" failed: `},
		"the key is rejected":     {job.New{At: "in 12s"}, modeltest.Error(401, "no"), "⏰ " + drinkWater + "\n⚠️ I can only remind you: API key rejected.", ""},
		"the request is rejected": {job.New{At: "in 12s"}, modeltest.Error(400, "bad"), "⏰ " + drinkWater + "\n⚠️ The provider rejected the request.", `⚠️ Schedule "water" failed: `},
		"repeated":                {job.New{Cron: "0 12 * * *"}, modeltest.Error(500, "down"), "⏰ " + drinkWater, `⚠️ Schedule "water" failed twice: `},
		"a slow model, no more":   {job.New{At: "in 12s"}, slow("Drink some water!", 40*time.Second), "⏰ " + drinkWater + "\n⏳ The model isn't answering.", ""},
		"a slow model, and more":  {job.New{At: "in 12s"}, slow(long, 40*time.Second), "⏰ " + drinkWater + "\n⏳ The model isn't answering.", long},
		"a good model":            {job.New{At: "in 12s"}, slow("💧 Water!", 2*time.Second), "💧 Water!", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				scheduled(b)
				b.settings.Models.Timeout = time.Hour
				b.model.Respond(func(modeltest.Request) modeltest.Reply { return c.reply })
				b.start()
				c.job.Name, c.job.Message, c.job.InjectInto = "water", drinkWater, "telegram_11"
				due := b.add(c.job).Next[0]
				<-time.After(time.Until(due) + 30*time.Second)
				if all := b.shows(anna); len(all) != 1 || !strings.HasPrefix(all[0], c.first) {
					t.Fatalf("after half a minute the chat shows %q", all)
				}
				<-time.After(time.Hour)
				all := b.shows(anna)
				if c.last == "" && len(all) != 1 {
					t.Errorf("the chat shows %q", all)
				}
				last := all[len(all)-1]
				if c.last != "" && (len(all) != 2 || !strings.HasPrefix(last, strings.TrimSpace(c.last))) {
					t.Errorf("the chat shows %q", all)
				}
				if strings.HasPrefix(last, "⚠️") && (!strings.Contains(last, drinkWater) || strings.Contains(last, "It runs again") != (c.job.At == "")) {
					t.Errorf("the notice is %q", last)
				}
			})
		})
	}
}

// TestReminderBehindHangingRuns: a reminder does not wait for runs whose provider hangs.
func TestReminderBehindHangingRuns(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.model.Respond(func(modeltest.Request) modeltest.Reply {
			reply := modeltest.Text("late")
			reply.Delay = time.Hour
			return reply
		})
		b.start()
		for i := range 20 {
			b.add(job.New{Name: fmt.Sprint("busy", i), At: "in 10s", Message: "look", InjectInto: "telegram_22"})
		}
		b.add(job.New{Name: "water", At: "in 12s", Message: drinkWater, InjectInto: "telegram_11"})
		<-time.After(42 * time.Second)
		if all := b.shows(anna); len(all) != 1 || !strings.HasPrefix(all[0], "⏰ "+drinkWater) {
			t.Errorf("the chat shows %q", all)
		}
	})
}

// TestRepeatingReminder offers what it understood, and begins when the offer is taken.
func TestRepeatingReminder(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.settings.Models.Default = ""
		<-time.After(2*24*time.Hour + 8*time.Hour) // Monday, 3 January, 08:00
		b.start()
		user := b.telegram.User(anna)
		tap := func(label, want string) {
			t.Helper()
			messages := b.telegram.Messages(anna)
			if _, err := user.Press(messages[len(messages)-1].ID, label); err != nil {
				t.Fatal(err)
			}
			b.until(want, func() bool {
				return slices.ContainsFunc(b.shows(anna), func(text string) bool { return strings.HasPrefix(text, want) })
			})
		}
		offered := func(send, want string) {
			t.Helper()
			n := len(b.shows(anna))
			user.Send(send)
			b.until(send, func() bool { return len(b.shows(anna)) == n+1 })
			if got := b.shows(anna)[n]; !strings.HasPrefix(got, want) {
				t.Fatalf("%s: %q", send, got)
			}
		}
		offered("/remind at 9 every weekday standup", "[no model] 🔁 every day from Monday to Friday at 09:00 (UTC): standup?\nNext: Mon 2000-01-03 09:00; Tue 2000-01-04 09:00; Wed 2000-01-05 09:00")
		tap("✖ No", "[no model] No reminder is set.")
		offered("/remind every 2 weeks on Monday at 9 report", "[no model] 🔁 every 2 weeks on Monday at 09:00 (UTC): report?\nNext: Mon 2000-01-03 09:00; Mon 2000-01-17 09:00; Mon 2000-01-31 09:00")
		<-time.After(3 * time.Hour)
		if n := len(b.shows(anna)); n != 2 {
			t.Fatalf("an offer without an answer runs: %q", b.shows(anna))
		}
		// An offer of the same reminder replaces the one that was not answered; another stays.
		offered("/remind every day at 8 pills", "[no model] 🔁 every day at 08:00 (UTC): pills?")
		offered("/remind every 2 weeks on Monday at 9 report", "[no model] 🔁 every 2 weeks on Monday at 09:00 (UTC): report?\nNext: Mon 2000-01-10 09:00; Mon 2000-01-24 09:00;")
		tap("✅ Yes", "[no model] 🔁 every 2 weeks on Monday at 09:00: report\nNext: Mon 2000-01-10 09:00.")
		all, err := b.engine.Schedules().List(t.Context(), tools.Call{})
		if err != nil || len(all) != 2 || all[0].Message != "pills" || all[0].State != "paused" || all[1].State != "on" {
			t.Fatalf("%+v, %v", all, err)
		}
		all = all[1:]
		b.skip(6*24*time.Hour + 21*time.Hour) // 10 January, 08:00
		<-time.After(3 * time.Hour)
		b.skip(16 * 24 * time.Hour) // 26 January: one time was missed
		<-time.After(3 * time.Hour)
		b.skip(11*24*time.Hour + 18*time.Hour) // 7 February, 08:00
		<-time.After(3 * time.Hour)
		var states []string
		for _, r := range b.runs(all[0].Name) {
			states = append(states, r.ScheduledAt.UTC().Format("01-02 15:04 ")+r.State+" "+r.Cause)
		}
		if got := strings.Join(states, ", "); got != "02-07 09:00 done due, 01-24 09:00 done late, 01-10 09:00 done due" {
			t.Errorf("the runs are %s", got)
		}
		if n := strings.Count(strings.Join(b.shows(anna), "|"), "⏰ report"); n != 3 {
			t.Errorf("the chat shows %q", b.shows(anna))
		}
	})
}

// TestRemindAsks answers times that are not clear with one sentence, and sets nothing.
func TestRemindAsks(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.settings.Models.Default = ""
		b.start()
		for send, want := range map[string]string{
			"/remind Monday and Thursday at 9 pills": "[no model] One reminder has one time.",
			"/remind tomorrow call mom at 9":         "[no model] I'm not sure about “at 9”.",
			"/remind 5/12 party":                     "[no model] “5/12” can be two dates.",
			"/remind tomorrow at 9 CST call":         "[no model] I'm not sure about “CST”. For a time zone write",
			"/remind Friday 5 January party":         "[no model] 2000-01-05 is a Wed.",
			"/remind twice a day pills":              "[no model] I don't understand how it repeats.",
			"/remind every 5 seconds pills":          "[no model] I don't understand the time: cron '*/5 * * * * ?' is due every 5s; 10s is the shortest.",
			"/remind":                                "[no model] Usage: /remind TIME TEXT.",
			"/remind call mom":                       "[no model] I don't find a time in “call mom”.",
			"/remind tomorrow at 9":                  "[no model] “tomorrow at 9” is a time. What is the reminder about?",
			"/remind tomorrow at 3 call mom":         "[no model] “tomorrow at 3”: 3:00 or 15:00?",
			"/remind 30 February call mom":           "[no model] There is no day 30 in February.",
		} {
			n := len(b.shows(anna))
			b.telegram.User(anna).Send(send)
			b.until(send, func() bool { return len(b.shows(anna)) == n+1 })
			if got := b.shows(anna)[n]; !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q", send, got)
			}
		}
		if all, err := b.engine.Schedules().List(t.Context(), tools.Call{}); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// TestScheduleAddReadsWords plans what words say, without a model that reads them.
func TestScheduleAddReadsWords(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.start()
		for i, c := range []struct {
			n    job.New
			want string
		}{
			{job.New{Cron: "every 2 weeks on Monday at 9"}, "every 2 weeks on Monday at 09:00 UTC 01-03 01-17 01-31"},
			{job.New{At: "every 2 weeks on Monday at 9"}, "every 2 weeks on Monday at 09:00 UTC 01-03 01-17 01-31"},
			{job.New{Cron: "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9"}, "every 2 weeks on Monday at 09:00 UTC 01-03 01-17 01-31"},
			{job.New{Cron: "every 14 days from 10 January at 9"}, "every 14 days at 09:00 UTC 01-10 01-24 02-07"},
			{job.New{Cron: "every weekday at 9 Tokyo time"}, "every day from Monday to Friday at 09:00 Asia/Tokyo 01-03 01-04 01-05"},
			{job.New{At: "Friday in two weeks"}, "once, Fri 2000-01-14 09:00 UTC 01-14"},
			{job.New{At: "3 days before 24 December"}, "once, Thu 2000-12-21 09:00 UTC 12-21"},
			{job.New{At: "an hour before the party"}, `"before the party" is not clear: write 2026-12-05T09:00, "in 20m" or "tomorrow at 9"`},
			{job.New{At: "Monday and Thursday at 9"}, "more than one time: make one schedule for each time"},
		} {
			c.n.Name, c.n.Message = fmt.Sprint("job", i), "look"
			one, err := b.engine.Schedules().Add(t.Context(), tools.Call{}, c.n)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = one.When + " " + one.TZ
				for _, at := range one.Next {
					zone, err := time.LoadLocation(one.TZ)
					if err != nil {
						t.Fatal(err)
					}
					got += at.In(zone).Format(" 01-02")
				}
			}
			if got != c.want {
				t.Errorf("%+v: %q, want %q", c.n, got, c.want)
			}
		}
	})
}

// TestSameSubagentTwice: a model that asks twice for the same work gets it once.
func TestSameSubagentTwice(t *testing.T) {
	for name, c := range map[string]struct {
		second map[string]any
		runs   int
	}{
		"same-subagent-twice": {research(), 1},
		"blanks":              {research("message", " find it out\n"), 1},
		"another message":     {research("message", "find out more"), 2},
		"another name":        {research("name", "research-2"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				scheduled(b)
				calls := modeltest.CallTool("subagent_spawn", research())
				calls.Calls = append(calls.Calls, modeltest.CallTool("subagent_spawn", c.second).Calls...)
				b.model.Respond(func(r modeltest.Request) modeltest.Reply {
					switch {
					case ofSubagent(r):
						reply := modeltest.Text("It is 42.")
						reply.Delay = 10 * time.Second
						return reply
					case r.Last().Role == "tool":
						return modeltest.Text("started")
					}
					return calls
				})
				b.start()
				b.telegram.User(anna).Send("find out what it is")
				<-time.After(time.Hour)
				n := strings.Count(strings.Join(b.shows(anna), "|"), "It is 42.")
				if all := b.spawned(); n != c.runs || len(all) != c.runs {
					t.Errorf("%d runs, the chat shows %q", len(all), b.shows(anna))
				}
			})
		})
	}
}

// TestHeartbeatWithoutTasks: a file that says nothing makes no model call.
func TestHeartbeatWithoutTasks(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		runs bool
	}{
		"heartbeat-with-bom":   {"\ufeff# Tasks\n<!-- none -->\n", false},
		"heartbeat-empty-list": {"# Tasks\n- [ ]\n- \n---\n", false},
		"a word behind a box":  {"# Tasks\n- [ ] water\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				scheduled(b)
				b.settings.Heartbeat = settings.Heartbeat{Every: time.Minute, InjectInto: "telegram_11"}
				times := b.looks()
				b.heartbeat(c.file)
				b.start()
				<-time.After(10 * time.Minute)
				if (len(*times) > 0) != c.runs {
					t.Errorf("the model was asked %d times", len(*times))
				}
			})
		})
	}
}

// TestReminderThatCameDueWhileItWaited: the message waits behind a slow answer. When its
// turn comes, its time has passed. The user made no mistake, so the reminder comes at once.
func TestReminderThatCameDueWhileItWaited(t *testing.T) {
	for _, grace := range []time.Duration{0, 5 * time.Second} {
		t.Run(grace.String(), func(t *testing.T) {
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				b.settings.Scheduler.MisfireGrace = grace
				b.model.Respond(func(modeltest.Request) modeltest.Reply {
					reply := modeltest.Text("slow answer")
					reply.Delay = 30 * time.Second
					return reply
				})
				b.start()
				b.telegram.User(anna).Send("hello")
				<-time.After(10 * time.Second)
				b.telegram.User(anna).Send("/remind in 2s the tea is ready")
				<-time.After(2 * time.Minute)
				shown := b.shows(anna)
				if last := shown[len(shown)-1]; !strings.HasPrefix(last, "⏰ the tea is ready") {
					t.Errorf("the chat shows %q", shown)
				}
			})
		})
	}
}
