package gateway

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// strangers counts who was turned away and logs each of them at most once a
// minute, so that a flood of strangers cannot fill the log either.
type strangers struct {
	log    *slog.Logger
	counts map[string]*atomic.Int64

	mu   sync.Mutex
	last map[string]time.Time // guarded by mu; the last line about a sender
}

// strangersKept bounds the memory that strangers can take.
const strangersKept = 1000

func (s *strangers) turnAway(u Update, why error) {
	if c := s.counts[u.Channel]; c != nil {
		c.Add(1)
	}
	key := fmt.Sprintf("%s/%d", u.Address.Chat, u.From)
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.last[key]) < time.Minute {
		return
	}
	if len(s.last) >= strangersKept {
		for k, t := range s.last {
			if now.Sub(t) >= time.Minute {
				delete(s.last, k)
			}
		}
		if len(s.last) >= strangersKept {
			return
		}
	}
	s.last[key] = now
	s.log.Info("stranger turned away", "chat", u.Address.Chat.String(), "user", u.From, "kind", u.Kind, "reason", why.Error())
}
