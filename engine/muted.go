package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

const (
	// probeMuted is how often a message of a person may find out whether the bot may
	// write again; sendMuted is the same for what leaves by itself.
	probeMuted = time.Minute
	sendMuted  = 10 * time.Minute
	// allTopics is the thread of a place that is a whole chat.
	allTopics = -1
)

// muted are the places where the bot may not write: chats that have muted it, and closed
// topics. They are not stored: after a restart the next message finds out.
type muted struct {
	mu     sync.Mutex
	places map[gateway.Address]muting // guarded by mu
}

type muting struct {
	why   string
	tried time.Time // the last refusal
}

func placeOf(a gateway.Address, topic bool) gateway.Address {
	if !topic {
		a.Thread = allTopics
	}
	return a
}

// add notes a refusal. fresh says that the place was not muted before.
func (m *muted) add(a gateway.Address, topic bool, why string) (fresh bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	place := placeOf(a, topic)
	_, known := m.places[place]
	if m.places == nil {
		m.places = map[gateway.Address]muting{}
	}
	m.places[place] = muting{why, time.Now()}
	return !known
}

// lift forgets what is known of an address, and with all of its whole chat's topics.
func (m *muted) lift(a gateway.Address, all bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for place := range m.places {
		if place == a || place == placeOf(a, false) || all && place.Chat == a.Chat {
			delete(m.places, place)
		}
	}
}

// at reports whether an address is muted, and whether it was refused within a time.
func (m *muted) at(a gateway.Address, within time.Duration) (is, lately bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, place := range []gateway.Address{a, placeOf(a, false)} {
		if p, ok := m.places[place]; ok {
			is, lately = true, lately || time.Since(p.tried) < within
		}
	}
	return is, lately
}

// list names the places, with the reasons.
func (m *muted) list() (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for a, p := range m.places {
		a.Thread = max(a.Thread, 0)
		all = append(all, a.String()+": "+p.why)
	}
	slices.Sort(all)
	return all
}

// Muted reports whether nothing has to be sent to an address now.
func (c *chats) Muted(a gateway.Address) bool {
	_, lately := c.muted.at(a, sendMuted)
	return lately
}

// Mute ends the turn of a place where the bot may not write, and tells the owners once.
func (c *chats) Mute(ctx context.Context, a gateway.Address, topic bool, why string) {
	if !c.muted.add(a, topic, why) {
		return
	}
	c.queues.Cancel(lifecycle.ErrChatGone, func(at gateway.Address) bool { return at.Chat == a.Chat && (!topic || at == a) })
	var told []gateway.Address
	where := placeOf(a, topic)
	where.Thread = max(where.Thread, 0)
	c.life.Eventually(ctx, gateway.Address{}, func(tx *store.Tx) error {
		name, err := tx.Chats().ChatName(a.Chat.Channel, a.Chat.ID)
		if err != nil {
			return err
		}
		// The key is the same after a restart on the same day, so that owners are told once.
		key := "muted/" + where.String() + "/" + time.Now().UTC().Format(time.DateOnly)
		told, err = c.addForOwners(tx, a.Chat, key, c.say(locale.ChatMuted, where, locale.Ticks(name), why))
		return err
	}, c.life.OrLog("owners not told", where, func() {
		c.log.Warn("may not write", "chat", where.String(), "reason", why, "owners_told", len(told))
	}))
}

// mayWrite reports whether a message of an address can be answered. Where the bot was
// muted, one sentence finds out at most once a minute.
func (c *chats) mayWrite(ctx context.Context, a gateway.Address) bool {
	is, lately := c.muted.at(a, probeMuted)
	if !is || lately {
		return !is
	}
	ctx, cancel := context.WithTimeout(ctx, gateway.SendWithin)
	defer cancel()
	for _, part := range c.gateway.Render(a.Chat.Channel, c.say(locale.MayWriteAgain)) {
		if _, err := c.gateway.Send(ctx, a, part); err != nil {
			if fail, ok := gateway.MutedBy(err); ok {
				c.muted.add(a, fail.Topic, fail.Err.Error())
			}
			return false
		}
	}
	c.muted.lift(a, false)
	return true
}
