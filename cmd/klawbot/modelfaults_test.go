package main

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// modelTrouble decides which model calls go wrong and how.
type modelTrouble struct {
	mu     sync.Mutex
	random *rand.Rand // guarded by mu
	count  int        // guarded by mu
}

// cutEverywhere is an answer whose stream is recorded once and cut at each byte.
const cutEverywhere = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"half an\"}}]}\n\n" +
	"data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" answer\"},\"finish_reason\":\"stop\"}]}\n\n"

// reply lets half of the calls fail.
func (x *modelTrouble) reply(r modeltest.Request) modeltest.Reply {
	x.mu.Lock()
	defer x.mu.Unlock()
	good := modeltest.Text("done " + saidLast(r))
	if x.random.IntN(2) == 0 {
		return good
	}
	x.count++
	switch x.random.IntN(12) {
	case 0:
		return modeltest.RateLimited(time.Duration(1+x.random.IntN(10)) * time.Second)
	case 1:
		return modeltest.HTML(http.StatusBadGateway)
	case 2:
		return modeltest.Error([]int{400, 401, 403, 404, 408, 413, 422, 500, 503, 529}[x.random.IntN(10)], "no")
	case 3:
		good.Delay = time.Duration(x.random.IntN(15)) * time.Second
	case 4:
		good.PieceDelay = time.Duration(x.random.IntN(15)) * time.Second
	case 5:
		// The stream without its end, cut at every byte in turn.
		return modeltest.Reply{Status: http.StatusOK, ContentType: "text/event-stream", Body: cutEverywhere[:x.count%len(cutEverywhere)]}
	case 6:
		return modeltest.Reply{}
	default:
		faults := []modeltest.Fault{modeltest.ResetBefore, modeltest.ResetAfter, modeltest.StallBefore, modeltest.StallAfter, modeltest.Truncate, modeltest.Malformed}
		good.Fault = faults[x.random.IntN(len(faults))]
	}
	return good
}

func (x *modelTrouble) faults() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.count
}

// turnBound is the longest that a turn may take here: each of four calls may be
// silent for the timeout before and behind its first byte, and is waited for in
// between.
const turnBound = 4*(20+20+60)*time.Second + 5*time.Second

// TestModelFaults lets MODEL_FAULTS model calls fail, in all ways and in fake
// time, a stream cut at every byte among them. Every message gets its one answer,
// or one sentence instead, and in time.
func TestModelFaults(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		x := &modelTrouble{random: rand.New(rand.NewPCG(4, 2))}
		b.model.Respond(x.reply)
		b.chats = nil
		for id := int64(1); id <= 16; id++ {
			b.chats = append(b.chats, id)
		}
		b.start()
		turns, sorry, slowest := 0, 0, time.Duration(0)
		for faults := countFrom("MODEL_FAULTS", 150); x.faults() < faults; {
			began := time.Now()
			before := map[int64]int{}
			for _, chat := range b.chats {
				before[chat] = len(b.shows(chat))
				b.telegram.User(chat).Send(strconv.Itoa(turns))
				turns++
			}
			for _, chat := range b.chats {
				b.until("an answer", func() bool {
					all := b.shows(chat)
					return len(all) > before[chat] && !strings.HasPrefix(all[len(all)-1], "…") && b.idle()
				})
			}
			slowest = max(slowest, time.Since(began))
			for _, chat := range b.chats {
				all := b.shows(chat)[before[chat]:]
				if len(all) != 1 {
					t.Errorf("chat %d got %q for one message", chat, all)
				}
				if !strings.HasPrefix(all[0], "done ") {
					sorry++
				}
			}
		}
		t.Logf("%d faults, %d turns: %d answered, %d with a sentence instead; the slowest took %v", x.faults(), turns, turns-sorry, sorry, slowest)
		if slowest > turnBound {
			t.Errorf("a turn took %v, want at most %v", slowest, turnBound)
		}
	})
}
