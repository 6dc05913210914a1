package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestOrderInAStorm: short and long answers, quick and slow, while people write, use
// commands and are told things by other chats, and Telegram refuses, delays and loses
// calls. In no chat does anything of a later answer stand before an earlier one, and
// nothing is lost.
func TestOrderInAStorm(t *testing.T) {
	seeds := uint64(1)
	if long {
		seeds = 6
	}
	for seed := range seeds {
		for _, streaming := range []string{settings.StreamEdit, settings.StreamDraft, settings.StreamOff} {
			t.Run(fmt.Sprint(streaming, " ", seed), func(t *testing.T) {
				inBubble(t, telegramtest.Config{Network: telegramtest.UsualNetwork}, func(t *testing.T, b *bubble) {
					b.settings.Streaming["telegram"] = streaming
					b.settings.ContextWindow = 2
					storm(t, b, rand.New(rand.NewPCG(seed, 8)))
				})
			})
		}
	}
}

func storm(t *testing.T, b *bubble, random *rand.Rand) {
	const messages = 30
	sizes := map[string]int{"short": 1, "long": 3}
	want := map[string]int{} // the answers that the model gave, and in how many parts
	var mu sync.Mutex        // guards want, which the model writes
	b.model.Respond(func(r modeltest.Request) modeltest.Reply {
		said := saidLast(r)
		_, said, _ = strings.Cut(said, "done ")
		words := strings.Fields(said)
		if len(words) < 5 {
			return modeltest.Text("what?")
		}
		if words[4] != "no" && r.Last().Role != "tool" {
			return modeltest.CallTool("send_message", map[string]any{"channel": "telegram", "chatId": words[4], "text": "a note"})
		}
		n := sizes[words[2]]
		name := "done " + words[0]
		mu.Lock()
		want[words[1]+" "+name] = n
		mu.Unlock()
		delay, _ := time.ParseDuration(words[3])
		text := inParts(name, n)
		if n == 1 {
			text = name + " **well**"
		}
		return modeltest.Reply{Text: text, Pieces: 5, Delay: delay, PieceDelay: delay / 3}
	})
	hurt := map[string]bool{}
	fate := rand.New(rand.NewPCG(random.Uint64(), 9)) // the server's alone
	b.telegram.Inject(func(c telegramtest.Call) *telegramtest.Fault {
		if c.Method == "getUpdates" || c.Method == "getMe" || fate.IntN(100) >= 15 {
			return nil
		}
		switch fate.IntN(7) {
		case 0:
			return &telegramtest.Fault{Kind: telegramtest.FaultError, RetryAfter: 1 + fate.IntN(60)}
		case 1:
			return &telegramtest.Fault{Kind: telegramtest.FaultDelay, Delay: time.Duration(fate.IntN(4000)) * time.Millisecond, Effect: fate.IntN(2) == 0}
		case 2:
			if name := partName.FindString(strings.TrimPrefix(c.Params["text"], "↻ ")); !hurt[name] {
				hurt[name] = true
				return &telegramtest.Fault{Kind: telegramtest.FaultReset, Effect: fate.IntN(2) == 0}
			}
		case 3:
			if c.Method == "editMessageText" {
				return &telegramtest.Fault{Kind: telegramtest.FaultError, Status: 400, Description: "Bad Request: MESSAGE_TOO_LONG"}
			}
		case 4:
			if c.Params["entities"] != "" { // without them it is taken
				return &telegramtest.Fault{Kind: telegramtest.FaultError, Status: 400, Description: "Bad Request: can't parse entities: unexpected end"}
			}
		}
		return nil
	})
	b.start()
	at := map[string]int{} // the answer that a message wants
	for n := range messages {
		chat, who := anna, anna
		if random.IntN(2) == 0 {
			chat, who = family, []int64{anna, bruno}[random.IntN(2)]
		}
		other := "no"
		if random.IntN(4) == 0 {
			other = fmt.Sprint([]int64{anna, family, bruno}[random.IntN(3)])
		}
		size := []string{"short", "long"}[random.IntN(2)]
		delay := time.Duration(random.IntN(3)*random.IntN(1500)) * time.Millisecond
		text := fmt.Sprintf("done %d %d %s %v %s", n, chat, size, delay, other)
		if chat == family {
			text = "@klaw_test_bot " + text
		}
		if random.IntN(5) == 0 {
			b.telegram.User(who).In(chat).Send("/status@klaw_test_bot")
		}
		id := b.telegram.User(who).In(chat).Send(text)
		at[fmt.Sprint(chat, " ", id)] = n
		<-time.After(time.Duration(random.IntN(3000)) * time.Millisecond)
	}
	b.until("everything is answered", b.idle)
	<-time.After(5 * time.Minute)
	b.until("everything is answered", b.idle)
	mu.Lock()
	defer mu.Unlock()
	for _, chat := range []int64{anna, family} {
		all := b.telegram.Messages(chat)
		if late := disorder(all); len(late) > 0 {
			t.Errorf("chat %d is out of order: %q", chat, late)
		}
		last := -1
		for _, m := range all {
			if !m.Bot {
				continue
			}
			if found := partName.FindStringSubmatch(m.Text); found != nil && !m.Deleted {
				fmt.Sscan(found[1], &last)
			} else if n, ok := at[fmt.Sprint(chat, " ", m.ReplyTo)]; ok && strings.HasPrefix(m.Text, "…") && n < last {
				t.Errorf("chat %d: the placeholder of %d stands behind %d", chat, n, last)
			} else if ok && strings.HasPrefix(m.Text, "…") {
				last = max(last, n)
			}
		}
		shown := b.shows(chat)
		if n := len(slices.DeleteFunc(slices.Clone(shown), func(s string) bool { return s != "…" })); n > strings.Count(b.logs.String(), "placeholder not sent") {
			t.Errorf("chat %d shows %d lone placeholders", chat, n) // others may have arrived all the same
		}
		for name, parts := range want {
			if !strings.HasPrefix(name, fmt.Sprint(chat, " ")) {
				continue
			}
			name = strings.TrimPrefix(name, fmt.Sprint(chat, " "))
			count := 0
			for _, s := range shown {
				s = strings.TrimPrefix(s, "↻ ")
				if s == name+" well" || strings.HasPrefix(s, name+" part ") {
					count++
				}
			}
			if count < parts {
				t.Errorf("chat %d shows %d parts of %q, want %d", chat, count, name, parts)
			}
		}
	}
}
