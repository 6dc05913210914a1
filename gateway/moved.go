package gateway

import "sync"

// Migrate notes that a chat has a new id, which stands for the old one from now
// on: in the allow list, and in what Config.Migrated keeps. A chat that is not
// listed stays unknown under its new id. Doing it again changes nothing.
func (g *Gateway) Migrate(chat ChatID, to int64) {
	g.moves.note(chat, to)
	if g.migrated != nil {
		g.migrated(chat, to)
	}
}

// moves are the chats that have a new id, as far as they moved since the start.
type moves struct {
	mu sync.Mutex
	by map[ChatID]int64 // guarded by mu; old id → new one
}

// note remembers a move; to 0 is none.
func (m *moves) note(chat ChatID, to int64) {
	if to == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by = map[ChatID]int64{}
	}
	m.by[chat] = to
}

func (m *moves) to(chat ChatID) (int64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id, ok := m.by[chat]
	return id, ok
}

// from finds the old id of a chat that moved here.
func (m *moves) from(chat ChatID) (int64, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for old, to := range m.by {
		if to == chat.ID && old.Channel == chat.Channel {
			return old.ID, true
		}
	}
	return 0, false
}
