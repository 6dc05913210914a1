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

	mu     sync.Mutex
	last   map[ChatID]time.Time // guarded by mu; the last line about a chat
	knocks map[ChatID]*knocking // guarded by mu
}

// knocking is a chat that wrote: when that was told last, and how often it wrote since.
type knocking struct {
	told  time.Time
	since int
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

// knock adds to knocks that a chat wrote, at most once a minute. Only what a person
// writes counts, and that a group took the bot in.
func (s *unknownSenders) knock(knocks []Knock, u Update, decode func(Update) (Message, error)) []Knock {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.knocks[u.Address.Chat]
	if k != nil && now.Sub(k.told) < time.Minute {
		k.since++
		return knocks
	}
	private := !u.Group && u.From == u.Address.Chat.ID && !u.FromBot
	m, err := decode(u)
	if err != nil || !private && !u.Group || m.Kind != KindText && m.Member != MemberJoined {
		return knocks
	}
	if k == nil {
		if len(s.knocks) >= unknownKept {
			maps.DeleteFunc(s.knocks, func(_ ChatID, k *knocking) bool { return now.Sub(k.told) >= time.Minute })
		}
		if len(s.knocks) >= unknownKept {
			return knocks
		}
		k = &knocking{}
		s.knocks[u.Address.Chat] = k
	}
	knocks = append(knocks, Knock{Chat: u.Address.Chat, Name: m.ChatName(), Times: k.since + 1})
	*k = knocking{told: now}
	return knocks
}
