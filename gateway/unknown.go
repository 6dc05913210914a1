package gateway

import (
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"klawbot/internal/clip"
)

// unknownSenders counts the blocked updates and logs at most one line a minute for each
// chat, so that neither a flood nor a large group fills the log.
type unknownSenders struct {
	log    *slog.Logger
	counts map[string]*atomic.Int64

	mu   sync.Mutex
	last map[ChatID]time.Time // guarded by mu; the last line about a chat
}

const (
	// maxLoggedName is how many characters of a sender's name are logged.
	maxLoggedName = 64
	// unknownKept bounds the chats that are remembered.
	unknownKept = 1000
)

// block counts and logs an update that may not come in.
func (s *unknownSenders) block(u Update, name func(Update) string, why error) {
	if c := s.counts[u.Channel]; c != nil {
		c.Add(1)
	}
	key, now := u.Address.Chat, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.last[key]) < time.Minute {
		return
	}
	if len(s.last) >= unknownKept {
		maps.DeleteFunc(s.last, func(_ ChatID, t time.Time) bool { return now.Sub(t) >= time.Minute })
		if len(s.last) >= unknownKept {
			return
		}
	}
	s.last[key] = now
	s.log.Info("unknown sender blocked", "chat", u.Address.Chat.String(), "user", u.From, "name", clip.Line(name(u), maxLoggedName), "kind", u.Kind, "reason", why.Error())
}
