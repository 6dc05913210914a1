package main

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestMutatedUpdates gives the bot MUTATIONS updates of every kind that are
// damaged at random, half of them of strangers. Nothing panics, each one is
// answered or ends by a rule, and strangers cause no call and get no reply.
func TestMutatedUpdates(t *testing.T) {
	count := countFrom("MUTATIONS", 800)
	t.Run("strangers", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.chats = []int64{7_000_000_011} // no mutation comes upon it
			b.start()
			b.flood(count/2, 1, 99, -999)
			for _, c := range b.telegram.Calls("") {
				if !slices.Contains([]string{"getMe", "getUpdates", "setMyCommands"}, c.Method) {
					t.Errorf("a stranger caused %s: %v", c.Method, c.Params)
				}
			}
			if n := len(b.model.Completions()); n != 0 {
				t.Errorf("strangers caused %d model calls", n)
			}
		})
	})
	t.Run("people", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Text("answer") })
			b.start()
			b.flood(count/2, 2, anna, family)
			for _, c := range b.telegram.Calls("sendMessage") {
				if !slices.Contains(b.chats, c.Chat) {
					t.Errorf("a message left for chat %d", c.Chat)
				}
			}
			calls := len(b.model.Completions())
			t.Logf("%d updates caused %d model calls", count/2, calls)
			if calls == 0 {
				t.Error("no update got through")
			}
			// All the damage is done; both servers answer again.
			b.model.Respond(func(r modeltest.Request) modeltest.Reply { return modeltest.Text("re: " + saidLast(r)) })
			b.telegram.User(anna).Send("still there?")
			b.until("an answer", b.says(anna, "re: still there?"))
		})
	})
}

// flood pushes damaged updates of a person, in private and in a group, and waits
// until the bot is through with them.
func (b *bubble) flood(count int, seed uint64, user, group int64) {
	b.t.Helper()
	m := mutator{random: rand.New(rand.NewPCG(4, seed))}
	m.other = func() any { return seedUpdate(m.random.IntN(len(seedUpdates)), user, group, "group") }
	for n := range count {
		chat, kind := user, "private"
		if n/len(seedUpdates)%3 == 2 {
			chat, kind = group, "supergroup"
		}
		text, err := json.Marshal(m.mutate(seedUpdate(n, user, chat, kind)))
		if err != nil {
			b.t.Fatal(err)
		}
		if _, err := b.telegram.Push(string(text)); err != nil {
			continue // the root is no object any more, which Telegram cannot send either
		}
	}
	b.until("all are taken", func() bool {
		pending := 0
		b.telegram.View(func(v telegramtest.State) { pending = v.Pending() })
		return pending == 0 && b.idle()
	})
	if log := b.logs.String(); strings.Contains(log, "panic") {
		b.t.Errorf("something panicked:\n%s", log[strings.Index(log, "panic"):][:1000])
	}
}
