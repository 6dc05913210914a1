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

// TestNothingIsLostInAMove: a group becomes a supergroup, and gets another id, while
// answers are made, wait or are on their way. Each comes once and in order.
func TestNothingIsLostInAMove(t *testing.T) {
	const moved = int64(-1000000000100)
	for name, c := range map[string]struct {
		fault *telegramtest.Fault // of the first message that is sent
		reply modeltest.Reply
		after time.Duration // of the move
		texts []string
		old   []string // the messages that the old group keeps
		want  []string // the beginnings of the others
	}{
		"a turn calls tools": {
			reply: modeltest.Reply{Calls: modeltest.CallTool("slow", map[string]any{}).Calls}, after: time.Second,
			texts: []string{"one"}, old: []string{"…"}, want: []string{"re: [User 22] one"},
		},
		"messages wait": {
			reply: modeltest.Reply{Text: "re: first", Delay: 10 * time.Second}, after: 2 * time.Second,
			texts: []string{"first", "second", "third"}, old: []string{"…"}, want: []string{"re: first", "re: [User 22] third"},
		},
		"parts wait": {
			fault: &telegramtest.Fault{Kind: telegramtest.FaultError, RetryAfter: 60},
			reply: modeltest.Text(inParts("done 1", 3)), after: 5 * time.Second,
			texts: []string{"one"}, want: []string{"done 1 part 1", "done 1 part 2", "done 1 part 3"},
		},
		"a part is on its way": {
			fault: &telegramtest.Fault{Kind: telegramtest.FaultDelay, Delay: 5 * time.Second},
			reply: modeltest.Text(inParts("done 1", 3)), after: time.Second,
			texts: []string{"one"}, want: []string{"done 1 part 1", "done 1 part 2", "done 1 part 3"},
		},
		"a part has arrived": {
			fault: &telegramtest.Fault{Kind: telegramtest.FaultDelay, Delay: 5 * time.Second, Effect: true},
			reply: modeltest.Text(inParts("done 1", 3)), after: time.Second,
			texts: []string{"one"}, old: []string{"done 1 part 1"}, want: []string{"done 1 part 2", "done 1 part 3"},
		},
		"a part is refused for now": {
			fault: &telegramtest.Fault{Kind: telegramtest.FaultReset},
			reply: modeltest.Text(inParts("done 1", 2)), after: 200 * time.Millisecond,
			texts: []string{"one"}, want: []string{"↻ done 1 part 1", "done 1 part 2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Config{Network: telegramtest.UsualNetwork}, func(t *testing.T, b *bubble) {
				b.tools = append(b.tools, slowTool(5*time.Second))
				b.model.Push(c.reply)
				b.telegram.Inject(func(call telegramtest.Call) (f *telegramtest.Fault) {
					if call.Method == "sendMessage" && call.Chat == family {
						f, c.fault = c.fault, nil
					}
					return f
				})
				b.start()
				for _, text := range c.texts {
					b.telegram.User(bruno).In(family).Send("@klaw_test_bot " + text)
					<-time.After(500 * time.Millisecond)
				}
				<-time.After(c.after - 500*time.Millisecond)
				b.telegram.Migrate(family, moved)
				b.until("everything is answered", b.idle)
				<-time.After(5 * time.Minute)
				b.until("everything is answered", b.idle)
				if got := b.shows(family); !slices.EqualFunc(got, c.old, strings.HasPrefix) {
					t.Errorf("the group shows %.60q, want %q", got, c.old)
				}
				if got := b.shows(moved); !slices.EqualFunc(got, c.want, strings.HasPrefix) {
					t.Errorf("the supergroup shows %s, want %q", brief(got), c.want)
				}
			})
		})
	}
}

func brief(texts []string) string {
	var all []string
	for _, text := range texts {
		all = append(all, fmt.Sprintf("%.30q", text))
	}
	return strings.Join(all, " ")
}

// TestTurnResumesAfterGroupMoved: what a turn plans, keeps and asks after its group has
// become a supergroup belongs there.
func TestTurnResumesAfterGroupMoved(t *testing.T) {
	const moved = int64(-1000000000100)
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		scheduled(b)
		b.settings.ApprovalTimeout = time.Hour
		b.obedient()
		b.tools = append(b.tools, slowTool(5*time.Second))
		b.start()
		b.tells(anna, family, "hi")
		b.model.Push(
			modeltest.CallTool("slow", map[string]any{}),
			modeltest.CallTool("schedule_add", map[string]any{"name": "look", "at": "in 2h", "message": "look", "injectInto": "telegram_-1000000000100"}),
			modeltest.CallTool("memory_save", map[string]any{"content": "boats are red"}),
			modeltest.CallTool("memory_core_update", map[string]any{"section": "user", "key": "topic", "value": "ships"}),
			modeltest.CallTool("file_write", map[string]any{"path": "SOUL.md", "content": "wild"}),
			modeltest.Text("ready"),
		)
		b.telegram.User(bruno).In(family).Send("@klaw_test_bot go")
		<-time.After(2 * time.Second)
		b.telegram.Migrate(family, moved)
		b.until("the owner is asked", func() bool { return strings.Contains(strings.Join(b.shows(moved), ""), "SOUL.md") })
		if _, err := b.telegram.User(bruno).In(moved).Press(0, "Allow once"); err != nil {
			t.Fatal(err)
		}
		b.until("an answer", b.says(moved, "ready"))
		if got := b.workspaceFile("SOUL.md"); got != "wild" {
			t.Errorf("the file is %q", got)
		}
		b.telegram.User(anna).In(moved).Send(`@klaw_test_bot call memory_search {"query": "boats"}`)
		b.until("an answer", b.says(moved, "done"))
		last := b.model.Completions()[len(b.model.Completions())-1]
		if got := last.Last().Text(); !strings.Contains(got, "boats are red") || !strings.Contains(last.System(), "ships") {
			t.Errorf("the supergroup finds %q and knows %s", got, last.System())
		}
		<-time.After(3 * time.Hour)
		if got := strings.Join(b.shows(moved), "|"); !strings.Contains(got, "re: look") {
			t.Errorf("the supergroup shows %q", got)
		}
	})
}

// TestApprovalsMoveAlong: a group becomes a supergroup during an approval. The
// answer counts, what came of it comes to the supergroup, and no message of it is
// taken for one of the group.
func TestApprovalsMoveAlong(t *testing.T) {
	const moved = int64(-1000000000100)
	const order = `@klaw_test_bot call file_write {"path": "SOUL.md", "content": "wild"}`
	for name, c := range map[string]struct {
		who, asked int64
		end        string // a button, or a command
		written    bool
	}{
		"an owner is asked in private": {anna, bruno, "Allow once", true},
		"an owner is asked again":      {bruno, moved, "Allow once", true},
		"an owner denies that":         {bruno, moved, "Deny", false},
		"an owner is asked there":      {bruno, family, "Allow once", true},
		"an owner denies there":        {bruno, family, "Deny", false},
		"it is stopped":                {bruno, family, "/stop", false},
		"it is stopped by a member":    {anna, bruno, "/stop", false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				b.settings.ApprovalTimeout = time.Hour
				b.obedient()
				b.start()
				b.tells(anna, family, "hi")
				b.telegram.User(c.who).In(family).Send(order)
				b.until("somebody is asked", func() bool {
					return strings.Contains(strings.Join(slices.Concat(b.shows(c.asked), b.shows(family)), "\n"), "SOUL.md")
				})
				b.telegram.Migrate(family, moved)
				<-time.After(10 * time.Second)
				for i := range 7 { // one of the answers gets the id that the question has in the group
					b.telegram.User(anna).In(moved).Send("/status@klaw_test_bot")
					<-time.After(10 * time.Second)
					if i == 2 {
						b.telegram.User(anna).In(moved).Send("well")
					}
				}
				if strings.HasPrefix(c.end, "/") {
					b.telegram.User(c.who).In(moved).Send(c.end + "@klaw_test_bot")
				} else if _, err := b.telegram.User(bruno).In(c.asked).Press(0, c.end); err != nil {
					t.Fatal(err)
				}
				b.until("it ends", b.idle)
				if got := b.workspaceFile("SOUL.md"); (got == "wild") != c.written {
					t.Errorf("the file is %q", got)
				}
				all := b.shows(moved)
				states := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, "Chat: ") })
				there := strings.Count(strings.Join(all, "\n"), "SOUL.md")
				if c.end != "/stop" && !slices.Contains(all, "done") || len(states) != 7 || c.who == bruno && there != 1 || strings.Contains(strings.Join(all, "\n"), "Expires in") {
					t.Errorf("the supergroup shows %s", brief(all))
				}
			})
		})
	}
}
