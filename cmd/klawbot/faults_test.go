package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/gateway/telegram"
	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// countFrom is the number in the environment, or otherwise.
func countFrom(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// trouble decides which calls to Telegram go wrong and how, and remembers what it
// has told the bot to wait for.
type trouble struct {
	mu     sync.Mutex
	random *rand.Rand // guarded by mu
	count  int        // guarded by mu
	waits  []told     // guarded by mu
}

func (x *trouble) faults() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.count
}

// told is an answer of 429: nothing may come for the chat before the time is over.
type told struct {
	method   string
	chat     int64
	at       time.Time
	duration time.Duration
}

// hit lets two calls in five fail. What becomes of a call whose answer gets lost
// is open, except where the bot has repeated a message already: a second doubt
// about it would end as "unknown" by the rules, which is not what is tested here.
func (x *trouble) hit(c telegramtest.Call) *telegramtest.Fault {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.random.IntN(5) > 1 {
		return nil
	}
	x.count++
	f := &telegramtest.Fault{Effect: x.random.IntN(2) == 0}
	kinds := 8
	if strings.HasPrefix(c.Params["text"], "↻") && strings.EqualFold(c.Method, "sendMessage") {
		kinds = 3
	}
	switch x.random.IntN(kinds) {
	case 0, 1:
		f.Kind, f.RetryAfter, f.Effect = telegramtest.FaultError, 1+x.random.IntN(20), false
		if x.random.IntN(50) == 0 {
			f.RetryAfter = 300
		}
		x.waits = append(x.waits, told{strings.ToLower(c.Method), c.Chat, c.Time, time.Duration(f.RetryAfter) * time.Second})
	case 2:
		f.Kind, f.Delay = telegramtest.FaultDelay, time.Duration(x.random.IntN(20_000))*time.Millisecond
	case 3:
		f.Kind, f.Status = telegramtest.FaultError, 500
	case 4:
		f.Kind = telegramtest.FaultHTML
	case 5:
		f.Kind = telegramtest.FaultReset
	case 6:
		f.Kind, f.Effect = telegramtest.FaultMalformed, true
	case 7:
		f.Kind = telegramtest.FaultHang
	}
	return f
}

// TestTelegramFaults lets FAULTS calls to Telegram fail, in all ways and in fake
// time, while people write. No answer is lost, none comes twice without the mark,
// and the bot waits as long as it is told to.
func TestTelegramFaults(t *testing.T) {
	for i, streaming := range []string{settings.StreamEdit, settings.StreamOff, settings.StreamDraft} {
		t.Run(streaming, func(t *testing.T) {
			t.Parallel()
			inBubble(t, telegramtest.Config{Journal: 1_000_000}, func(t *testing.T, b *bubble) {
				telegramFaults(t, b, streaming, countFrom("FAULTS", 300)/3, uint64(i))
			})
		})
	}
}

func telegramFaults(t *testing.T, b *bubble, streaming string, faults int, seed uint64) {
	x := &trouble{random: rand.New(rand.NewPCG(4, seed))}
	b.limits = telegram.Limits{PerChatPerSecond: 1, GroupPerMinute: 20, GlobalPerSecond: 25}
	b.settings.Streaming["telegram"] = streaming
	b.chats = nil
	const people = 12
	for id := int64(1); id <= people; id++ {
		b.chats = append(b.chats, id)
	}
	b.model.Respond(func(r modeltest.Request) modeltest.Reply {
		reply := modeltest.Text("done " + saidLast(r))
		reply.PieceDelay = 2 * time.Second
		return reply
	})
	b.telegram.Inject(x.hit)
	b.start()
	asked := map[int64]int{}
	began := time.Now()
	for x.faults() < faults {
		for _, chat := range b.chats {
			if asked[chat] == 0 || b.answered(chat, asked[chat]-1) {
				b.telegram.User(chat).Send(strconv.Itoa(asked[chat]))
				asked[chat]++
			}
		}
		<-time.After(5 * time.Second)
		if time.Since(began) > 100*24*time.Hour {
			t.Fatalf("only %d faults", x.faults())
		}
	}
	b.telegram.Inject(nil)
	lost, doubles, marked, tasks := 0, 0, 0, 0
	for _, chat := range b.chats {
		b.until(fmt.Sprintf("chat %d is answered", chat), func() bool { return b.answered(chat, asked[chat]-1) })
	}
	<-time.After(10 * time.Minute)
	for _, chat := range b.chats {
		shown := map[string]int{}
		edited := map[string]bool{}
		for _, m := range b.telegram.Messages(chat) {
			if m.Bot && !m.Deleted {
				shown[m.Text]++
				edited[m.Text] = edited[m.Text] || m.Edits > 0
			}
		}
		for n := range asked[chat] {
			text := fmt.Sprintf("done %d", n)
			tasks++
			marked += shown["↻ "+text]
			if shown[text]+shown["↻ "+text] == 0 {
				lost++
				t.Logf("chat %d: %s is lost", chat, text)
			}
			if shown[text] > 1 || edited[text] && shown["↻ "+text] > 0 {
				doubles++
				t.Logf("chat %d: %s is there %d times, %d times marked", chat, text, shown[text], shown["↻ "+text])
			}
		}
	}
	t.Logf("streaming %s: %d faults in %v, %d answers: %d lost, %d double, %d repeats marked ↻, %d waits",
		streaming, x.faults(), time.Since(began).Round(time.Minute), tasks, lost, doubles, marked, len(x.waits))
	if lost+doubles > 0 {
		t.Error("answers are lost or double")
	}
	x.checkWaits(t, b.telegram.Calls(""))
}

// checkWaits fails when a call came before the time that the bot was told to wait.
func (x *trouble) checkWaits(t *testing.T, calls []telegramtest.Call) {
	t.Helper()
	for _, w := range x.waits {
		for _, c := range calls {
			if !c.Time.After(w.at) || !c.Time.Before(w.at.Add(w.duration)) {
				continue
			}
			same := c.Chat == w.chat && w.chat != 0 || w.chat == 0 && strings.ToLower(c.Method) == w.method
			// A typing sign is no message: Telegram counts it apart.
			if same && w.method != "sendchataction" && c.Method != "sendChatAction" {
				t.Errorf("%s for chat %d came %v after it was told to wait %v by %s", c.Method, c.Chat, c.Time.Sub(w.at), w.duration, w.method)
				break
			}
		}
	}
}

// answered reports whether message n of a chat has its answer.
func (b *bubble) answered(chat int64, n int) bool {
	text := fmt.Sprintf("done %d", n)
	for _, m := range b.telegram.Messages(chat) {
		if m.Bot && !m.Deleted && strings.TrimPrefix(m.Text, "↻ ") == text {
			return true
		}
	}
	return false
}
