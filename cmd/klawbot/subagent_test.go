package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
	"klawbot/tools"
	"klawbot/tools/job"
)

// spawns is a model that starts a subagent for people, once, and answers for
// subagents.
func (b *bubble) spawns(args map[string]any, answer func(r modeltest.Request) modeltest.Reply) {
	b.model.Respond(func(r modeltest.Request) modeltest.Reply {
		switch {
		case ofSubagent(r):
			return answer(r)
		case r.Last().Role == "tool":
			return modeltest.Text("done: " + r.Last().Text())
		}
		return modeltest.CallTool("subagent_spawn", args)
	})
}

// ofSubagent reports whether a subagent asks.
func ofSubagent(r modeltest.Request) bool {
	return strings.Contains(r.LastUser(), "(This is a run of the subagent")
}

func research(more ...any) map[string]any {
	args := map[string]any{"name": "research", "message": "find it out", "injectInto": "telegram_11"}
	for i := 0; i < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return args
}

// spawned are the subagents as the command line sees them, the latest first.
func (b *bubble) spawned() []job.Subagent {
	b.t.Helper()
	all, err := b.engine.Subagents().Spawned(b.t.Context(), tools.Call{})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

// spawn starts a subagent for anna.
func (b *bubble) spawn(t job.Task) job.Subagent {
	b.t.Helper()
	one, err := b.engine.Subagents().Spawn(b.t.Context(), ofAnna, t)
	if err != nil {
		b.t.Fatal(err)
	}
	return one
}

var ofAnna = tools.Call{Chat: "telegram_11", User: anna, Origin: tools.OriginPerson}

func TestSubagent(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.spawns(research(), func(modeltest.Request) modeltest.Reply {
			reply := modeltest.Text("It is 42.")
			reply.Delay = 10 * time.Second
			return reply
		})
		b.start()
		began := time.Now()
		b.telegram.User(anna).Send("find out what it is")
		b.until("the turn ends", b.says(anna, "done: OK: subagent 'research' started (run 1)\nResult: goes to telegram_11 by itself; do not wait for it"))
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("the turn waited %v", took)
		}
		b.until("it shows that it works", b.says(anna, "⏳ research…"))
		messages := b.telegram.Messages(anna)
		if last := messages[len(messages)-1]; !last.Silent {
			t.Error("the sign of work rings")
		}
		b.until("the result", b.says(anna, "It is 42."))
		<-time.After(time.Hour)
		if all := b.shows(anna); len(all) != 2 {
			t.Errorf("the chat shows %q", all)
		}
		messages = b.telegram.Messages(anna)
		if last := messages[len(messages)-1]; last.Silent {
			t.Error("the result does not ring")
		}
		one := b.spawned()[0]
		if one.State != "done" || one.Delivered != "telegram_11" || one.Delivery != "sent" || one.InputTokens == 0 || one.Result != "It is 42." {
			t.Errorf("the runs are %+v", one)
		}
		// It saw nothing of the chat, and the chat knows what it was told.
		for _, r := range b.model.Completions() {
			if text := conversation(r); ofSubagent(r) && (strings.Contains(text, "what it is") || !strings.Contains(text, "find it out")) {
				t.Errorf("the subagent was asked %s", text)
			}
		}
		b.model.Respond(func(r modeltest.Request) modeltest.Reply { return modeltest.Text("re: " + saidLast(r)) })
		b.telegram.User(anna).Send("why?")
		b.until("an answer", b.says(anna, "re: why?"))
		asked := b.model.Completions()
		if text := conversation(asked[len(asked)-1]); !strings.Contains(text, `[note, not written by anybody: the subagent "research" delivered this here]`+"\nIt is 42.") {
			t.Errorf("the chat does not know what it was told: %s", text)
		}
	})
}

func TestSubagentReports(t *testing.T) {
	for name, c := range map[string]struct {
		into  string
		reply modeltest.Reply
		shows string // in anna's chat; "" for nothing
		state string
		note  string
	}{
		"silent":          {"telegram_11", modeltest.Text(`{"silent": true, "reason": "nothing new"}`), "", "silent", "nothing new"},
		"not silent":      {"telegram_11", modeltest.Text(`{"silent": false}`), `{"silent": false}`, "done", ""},
		"absent":          {"telegram_11", modeltest.Text(`{"reason": "x"}`), `{"reason": "x"}`, "done", ""},
		"garbage":         {"telegram_11", modeltest.Text(`{"silent": true`), `{"silent": true`, "done", ""},
		"nobody is named": {"", modeltest.Text("It is 42."), "", "done", ""},
		"said by a tool":  {"telegram_11", modeltest.CallTool("schedule_deliver", map[string]any{"message": "It is 43."}), "It is 43.", "done", ""},
		"it fails":        {"telegram_11", modeltest.Error(400, "bad"), `⚠️ The subagent "research" failed: The provider rejected the request.`, "failed", "The provider rejected the request."},
		"it fails alone":  {"", modeltest.Error(401, "bad"), `⚠️ The subagent "research" failed: API key rejected.`, "failed", "API key rejected."},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				scheduled(b)
				b.model.Respond(func(r modeltest.Request) modeltest.Reply {
					if r.Last().Role == "tool" {
						return modeltest.Text("I have said it.")
					}
					return c.reply
				})
				b.start()
				b.spawn(job.Task{Name: "research", Message: "find it out", InjectInto: c.into})
				<-time.After(time.Hour)
				all := b.shows(anna)
				if want := min(len(c.shows), 1); len(all) != want || want == 1 && !strings.HasPrefix(all[0], c.shows) {
					t.Errorf("the chat shows %q", all)
				}
				if one := b.spawned()[0]; one.State != c.state || !strings.HasPrefix(one.Note, c.note) {
					t.Errorf("the subagent is %+v", one)
				}
				if !strings.Contains(b.logs.String(), c.note) {
					t.Error("the reason is not in the log")
				}
			})
		})
	}
}

// TestSubagentsMayNotDoMore: a subagent tries to start another one, to plan, to
// write to others, and to do what its parent may not. It is refused and told.
func TestSubagentsMayNotDoMore(t *testing.T) {
	all := []string{"subagent_spawn", "subagent_manage", "schedule_add", "schedule_remove", "schedule_manage", "send_message"}
	for name, c := range map[string]struct {
		call   modeltest.Reply
		policy tools.Policy
		want   string
	}{
		"spawn":       {modeltest.CallTool("subagent_spawn", research()), tools.Policy{}, "Error: a subagent cannot start another one; do the work here"},
		"by an alias": {modeltest.CallTool("delegate_task", research()), tools.Policy{}, "Error: a subagent cannot start another one; do the work here"},
		"spawn, allowed": {modeltest.CallTool("subagent_spawn", research()), tools.Policy{Scheduled: tools.Limits{Allow: []string{"subagent_spawn"}}},
			"Error: a subagent cannot start another one; do the work here"},
		"plan":       {modeltest.CallTool("schedule_add", map[string]any{"name": "more", "cron": "@daily", "message": "m"}), tools.Policy{}, `Tool "schedule_add" blocked by policy`},
		"write":      {modeltest.CallTool("send_message", map[string]any{"channel": "telegram", "chatId": "telegram_22", "text": "psst"}), tools.Policy{}, `Tool "send_message" blocked by policy`},
		"the parent": {modeltest.CallTool("current_time", map[string]any{}), tools.Policy{Chats: map[string]tools.Limits{"telegram_11": {Deny: []string{"current_time"}}}}, `Tool "current_time" blocked by policy`},
		"the owner":  {modeltest.CallTool("current_time", map[string]any{}), tools.Policy{Scheduled: tools.Limits{Deny: []string{"current_time"}}}, `Tool "current_time" blocked by policy`},
		"write, allowed": {modeltest.CallTool("send_message", map[string]any{"channel": "telegram", "chatId": "telegram_22", "text": "hi"}),
			tools.Policy{Scheduled: tools.Limits{Allow: []string{"send_message"}}}, "OK: message sent to telegram/telegram_22"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				scheduled(b)
				b.settings.Policy = c.policy
				told := ""
				b.model.Respond(func(r modeltest.Request) modeltest.Reply {
					for _, o := range r.Tools {
						if slices.Contains(all, o.Function.Name) && !slices.Contains(c.policy.Scheduled.Allow, o.Function.Name) {
							t.Errorf("the model is shown %s", o.Function.Name)
						}
					}
					if r.Last().Role == "tool" {
						told = r.Last().Text()
						return modeltest.Text("so be it")
					}
					return c.call
				})
				b.start()
				// The result goes to another chat, which lends no rights.
				b.spawn(job.Task{Name: "try", Message: "try it", InjectInto: "telegram_22"})
				b.until("the result", b.says(bruno, "so be it"))
				if !strings.Contains(told, c.want) {
					t.Errorf("it was told %q", told)
				}
				if n := len(b.spawned()); n != 1 {
					t.Errorf("there are %d subagents", n)
				}
			})
		})
	}
}

// TestSubagentTokens: one that does not stop ends when it has taken what a run
// may take, and says so.
func TestSubagentTokens(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.settings.MaxToolCallRounds, b.settings.Scheduler.RunTokens = 100, 3000
		calls := 0
		b.model.Respond(func(modeltest.Request) modeltest.Reply {
			calls++
			return modeltest.CallTool("file_list", map[string]any{"path": fmt.Sprint(calls)})
		})
		b.start()
		b.spawn(job.Task{Name: "research", Message: "find it out", InjectInto: "telegram_11"})
		b.until("it says why it ends", func() bool {
			all := b.shows(anna)
			return len(all) > 0 && strings.Contains(all[len(all)-1], "the limit is 3000 (scheduler.runTokens)")
		})
		if one := b.spawned()[0]; one.State != "failed" || calls < 2 || one.InputTokens+one.OutputTokens < 3000 {
			t.Errorf("after %d calls it is %+v", calls, one)
		}
	})
}

func TestSpawnRefused(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.model.Respond(func(r modeltest.Request) modeltest.Reply {
			reply := modeltest.Text("ready")
			reply.Delay = time.Minute
			return reply
		})
		b.settings.Models.Timeout = time.Hour
		b.start()
		for want, task := range map[string]job.Task{
			"chatId telegram_5 not in allowedChatIds": {Name: "a", Message: "m", InjectInto: "telegram_5"},
			"injectInto: ":                   {Name: "a", Message: "m", InjectInto: "11"},
			"the name is empty":              {Message: "m"},
			"the message is empty":           {Name: "a", Message: " "},
			"Unknown model 'x'":              {Name: "a", Message: "m", Model: "x"},
			"the message has more than 8000": {Name: "a", Message: strings.Repeat("m", 8001)},
		} {
			if _, err := b.engine.Subagents().Spawn(t.Context(), ofAnna, task); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		}
		for i := range 5 {
			b.spawn(job.Task{Name: fmt.Sprint("a", i), Message: "m", InjectInto: "telegram_11"})
		}
		_, err := b.engine.Subagents().Spawn(t.Context(), ofAnna, job.Task{Name: "b", Message: "m"})
		if err == nil || !strings.HasPrefix(err.Error(), "5 subagents are working") {
			t.Errorf("a sixth one: %v", err)
		}
		b.until("all are ready", func() bool { return len(b.shows(anna)) == 5 && b.spawned()[0].State == "done" })
		b.spawn(job.Task{Name: "b", Message: "m", InjectInto: "telegram_11"})
		b.until("one more", func() bool { return b.spawned()[0].Name == "b" && b.spawned()[0].State == "done" })
	})
}

// TestSubagentHistory: a subagent knows the last completed runs of its name in its
// chat, each with the task that it had.
func TestSubagentHistory(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.settings.Scheduler.History = 3
		b.model.Respond(func(r modeltest.Request) modeltest.Reply {
			if task := due(r); strings.Contains(task, "fail") {
				return modeltest.Error(400, "bad")
			} else if strings.Contains(task, "quiet") {
				return modeltest.Text(`{"silent": true}`)
			} else {
				return modeltest.Text("did " + task)
			}
		})
		b.start()
		history := func(c tools.Call, task string) string {
			t.Helper()
			before := len(b.model.Completions())
			if _, err := b.engine.Subagents().Spawn(t.Context(), c, job.Task{Name: "watch", Message: task}); err != nil {
				t.Fatal(err)
			}
			b.until(task, func() bool {
				return len(b.model.Completions()) > before && b.idle() && !b.spawned()[0].EndedAt.IsZero()
			})
			var lines []string
			for _, m := range b.model.Completions()[before].Messages {
				if _, old, ok := strings.Cut(m.Text(), "(the run of "); ok {
					lines = append(lines, old)
				}
			}
			return strings.Join(lines, "; ")
		}
		for _, c := range []struct{ task, want string }{
			{"one", ""},
			{"fail", "2000-01-01 00:00)\none"},
			{"two", "2000-01-01 00:00)\none"},
			{"quiet", "2000-01-01 00:00)\none; 2000-01-02 00:00)\ntwo"},
			{"three", "2000-01-01 00:00)\none; 2000-01-02 00:00)\ntwo; 2000-01-03 00:00)\nquiet"},
			{"four", "2000-01-02 00:00)\ntwo; 2000-01-03 00:00)\nquiet; 2000-01-04 00:00)\nthree"},
		} {
			if got := history(ofAnna, c.task); got != c.want {
				t.Errorf("%s knows %q, want %q", c.task, got, c.want)
			}
			if c.task != "one" {
				now := time.Now()
				<-time.After(now.Truncate(24 * time.Hour).Add(24*time.Hour + time.Second).Sub(now))
			}
		}
		// Another chat has a history of its own, whatever the name.
		if got := history(tools.Call{Chat: "telegram_22", User: bruno}, "five"); got != "" {
			t.Errorf("another chat knows %q", got)
		}
	})
}

func TestStopEndsSubagents(t *testing.T) {
	for name, into := range map[string]string{"shown": "telegram_11", "only logged": ""} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				scheduled(b)
				b.settings.MaxConcurrentModelCalls = 1 // so that two work and two wait
				b.settings.Models.Timeout = time.Hour
				b.model.Respond(func(r modeltest.Request) modeltest.Reply {
					reply := modeltest.Text("ready")
					reply.Delay = 3 * time.Minute
					return reply
				})
				b.start()
				for i := range 4 {
					b.spawn(job.Task{Name: fmt.Sprint("a", i), Message: "m", InjectInto: into})
				}
				other, err := b.engine.Subagents().Spawn(t.Context(), tools.Call{Chat: "telegram_22", User: bruno}, job.Task{Name: "b", Message: "m", InjectInto: "telegram_22"})
				if err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute)
				b.telegram.User(anna).Send("/stop")
				b.until("the answer", func() bool { return slices.Contains(b.shows(anna), "Stopped. Subagents stopped: 4.") })
				b.until("the other one", b.says(bruno, "ready"))
				<-time.After(time.Hour)
				if all := b.shows(anna); len(all) != 1 {
					t.Errorf("the chat shows %q", all)
				}
				for _, one := range b.spawned() {
					if one.ID != other.ID && (one.State != "stopped" || one.Note != "cancelled") {
						t.Errorf("%+v", one)
					}
				}
			})
		})
	}
}

func TestSubagentManage(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.settings.Models.Timeout = time.Hour
		b.model.Respond(func(r modeltest.Request) modeltest.Reply {
			reply := modeltest.Text("ready")
			reply.Delay = 4 * time.Minute
			return reply
		})
		b.start()
		one := b.spawn(job.Task{Name: "a", Message: "m", InjectInto: "telegram_11"})
		<-time.After(time.Minute)
		ofBruno := tools.Call{Chat: "telegram_-100", User: 33}
		subagents := b.engine.Subagents()
		if all, err := subagents.Spawned(t.Context(), ofBruno); err != nil || len(all) != 0 {
			t.Errorf("a stranger to the chat sees %v, %v", all, err)
		}
		for _, do := range []func() error{
			func() error { _, err := subagents.Subagent(t.Context(), ofBruno, one.ID); return err },
			func() error { _, err := subagents.Cancel(t.Context(), ofBruno, one.ID); return err },
			func() error { _, err := subagents.Cancel(t.Context(), ofAnna, 99); return err },
		} {
			if err := do(); err == nil || !strings.Contains(err.Error(), "not found") {
				t.Error(err)
			}
		}
		if now, err := subagents.Subagent(t.Context(), ofAnna, one.ID); err != nil || now.State != "running" || now.InjectInto != "telegram_11" {
			t.Errorf("%+v, %v", now, err)
		}
		if _, err := subagents.Cancel(t.Context(), ofAnna, one.ID); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		b.until("it has ended", func() bool { return b.spawned()[0].State == "stopped" })
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it ended after %v", took)
		}
		if _, err := subagents.Cancel(t.Context(), ofAnna, one.ID); err == nil || err.Error() != fmt.Sprintf("subagent %d has ended already (stopped)", one.ID) {
			t.Error(err)
		}
		<-time.After(time.Hour)
		if all := b.shows(anna); len(all) != 0 {
			t.Errorf("the chat shows %q", all)
		}
	})
}

// TestSubagentAfterARestart: a running one resumes and reports once; what is
// too old is told as lost.
func TestSubagentAfterARestart(t *testing.T) {
	for name, c := range map[string]struct {
		off  time.Duration
		want string
	}{
		"soon":           {time.Minute, "ready: waited"},
		"two days later": {48 * time.Hour, `⚠️ The subagent "slow" was interrupted: this was more than a day ago.`},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				scheduled(b)
				b.tools = []tools.Tool{slowTool(time.Minute)}
				b.model.Respond(func(r modeltest.Request) modeltest.Reply {
					if r.Last().Role == "tool" {
						return modeltest.Text("ready: " + r.Last().Text())
					}
					return modeltest.CallTool("slow", map[string]any{})
				})
				b.start()
				b.spawn(job.Task{Name: "slow", Message: "go", InjectInto: "telegram_11"})
				<-time.After(18 * time.Second) // it says so every ten seconds
				if !b.says(anna, "⏳ slow… (slow, 10 s)")() {
					t.Errorf("the chat shows %q", b.shows(anna))
				}
				b.stop()
				<-time.After(c.off)
				b.start()
				b.until("the report", func() bool { all := b.shows(anna); return len(all) > 0 && strings.HasPrefix(all[len(all)-1], c.want) })
				<-time.After(time.Hour)
				b.stop()
				b.start()
				<-time.After(time.Hour)
				all := b.shows(anna)
				if len(all) == 2 && all[0] == "✖ slow" && c.off > time.Hour { // too old to be deleted
					all = all[1:]
				}
				if len(all) != 1 {
					t.Errorf("the chat shows %q", all)
				}
				if s, err := b.engine.Status(t.Context()); err != nil || s.Running != 0 {
					t.Errorf("%d turns run, %v", s.Running, err)
				}
			})
		})
	}
}

// TestSubagentAsks asks in the chat that gets the result.
func TestSubagentAsks(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.settings.ApprovalTimeout = 10 * time.Minute
		b.settings.Policy.Everyone.Ask = []string{"current_time"}
		b.model.Respond(func(r modeltest.Request) modeltest.Reply {
			if r.Last().Role == "tool" {
				return modeltest.Text("it is " + r.Last().Text())
			}
			return modeltest.CallTool("current_time", map[string]any{})
		})
		b.start()
		b.spawn(job.Task{Name: "clock", Message: "go", InjectInto: "telegram_-100"})
		asks := func() int64 {
			for _, m := range b.telegram.Messages(family) {
				if m.Bot && strings.Contains(m.Text, "Run current_time?") {
					return m.ID
				}
			}
			return 0
		}
		b.until("the question", func() bool { return asks() != 0 })
		<-time.After(8 * time.Minute)
		if _, err := b.telegram.User(33).In(family).Press(asks(), "Allow once"); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second)
		if one := b.spawned()[0]; one.State != "running" {
			t.Errorf("somebody else decided: %+v", one)
		}
		if _, err := b.telegram.User(anna).In(family).Press(asks(), "Allow once"); err != nil {
			t.Fatal(err)
		}
		b.until("the report", func() bool {
			return strings.HasPrefix(b.shows(family)[len(b.shows(family))-1], "it is 2000-01-01 00:08")
		})
	})
}
