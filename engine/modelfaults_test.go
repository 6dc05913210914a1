package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"klawbot/internal/modeltest"
)

// TestEveryBrokenAnswerIsAskedForAgain breaks the first answer to each of many
// people at another byte, in every protocol, by a clean end or a broken
// connection. Everybody gets the whole answer, once.
func TestEveryBrokenAnswerIsAskedForAgain(t *testing.T) {
	t.Parallel() // it mostly waits
	const people, first = 60, int64(1000)
	for _, name := range []string{"main", "claude", "local"} {
		t.Run(name, func(t *testing.T) {
			h := chain(t)
			h.settings.Models.Default, h.settings.Models.Fallback = name, nil
			h.settings.Models.Retries, h.settings.MaxConcurrentModelCalls = 2, people
			var chats []int64
			for i := range people {
				chats = append(chats, first+int64(i))
			}
			h.list.Store(&chats)
			var mu sync.Mutex
			asked := map[string]int{}
			h.model.Respond(func(r modeltest.Request) modeltest.Reply {
				mu.Lock()
				defer mu.Unlock()
				reply := modeltest.Reply{Text: "re: " + said(r), Thinking: "hm"}
				asked[said(r)]++
				if asked[said(r)] > 1 {
					return reply
				}
				var i int
				if _, err := fmt.Sscanf(said(r), "number %d", &i); err != nil {
					t.Error(err)
				}
				reply.Cut = 1 + 11*i
				if i%2 == 1 {
					reply.Fault = modeltest.ResetAfter
				}
				return reply
			})
			h.start()
			for i := range people {
				h.says(first+int64(i), fmt.Sprintf("number %d", i))
			}
			answered := func() bool {
				for i := range people {
					texts := h.messenger.texts(first + int64(i))
					if len(texts) != 1 || texts[0] != fmt.Sprintf("re: number %d", i) {
						return false
					}
				}
				return true
			}
			if !h.messenger.wait(20*time.Second, answered) {
				for i := range people {
					t.Logf("%d: %q", i, h.messenger.texts(first+int64(i)))
				}
				t.Fatal("not everybody has the one answer")
			}
			mu.Lock() // an answer broken behind its text is still being asked for again
			defer mu.Unlock()
			again := 0
			for _, n := range asked {
				again += n - 1
			}
			if again < people/2 {
				t.Errorf("only %d answers were broken", again)
			}
		})
	}
}
