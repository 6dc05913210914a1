package gateway

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"klawbot/internal/clip"
)

// strangers counts who was turned away and logs one line a minute for each chat at
// most, so that a flood of strangers, or a large group, cannot fill the log either.
type strangers struct {
	log    *slog.Logger
	counts map[string]*atomic.Int64

	mu   sync.Mutex
	last map[ChatID]time.Time // guarded by mu; the last line about a chat
}

// maxStrangerName is how many characters of a stranger's name are logged.
const maxStrangerName = 64

// strangersKept bounds the memory that strangers can take.
const strangersKept = 1000

func (s *strangers) turnAway(u Update, name func(Update) string, why error) {
	if c := s.counts[u.Channel]; c != nil {
		c.Add(1)
	}
	key, now := u.Address.Chat, time.Now()
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
	s.log.Info("stranger turned away", "chat", u.Address.Chat.String(), "user", u.From, "name", clip.Line(name(u), maxStrangerName), "kind", u.Kind, "reason", why.Error())
}
