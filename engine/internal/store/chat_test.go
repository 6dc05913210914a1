package store_test

import (
	"slices"
	"testing"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

func TestRowOfAMovedChatIsAnnouncedThere(t *testing.T) {
	c := config(t.TempDir())
	var told []store.Out
	c.Committed = func(changes store.Changes) { told = append(told, changes.Out...) }
	s, err := store.Open(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	from := store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -5}}
	write(t, s, func(tx *store.Tx) error {
		must(t, tx.Chats().MoveChat("telegram", -5, -1005))
		return tx.Outbox().AddOut(store.Out{Key: "a", Address: from, Body: []byte(`{"text":"a"}`)})
	})
	if len(told) != 1 || told[0].Address.Chat.ID != -1005 || told[0].ID == 0 {
		t.Errorf("announced are %+v", told)
	}
}

func TestMovedChat(t *testing.T) {
	s := open(t, t.TempDir())
	from := store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -5}}
	to := store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -1005}}
	out := func(key string, edit int64) store.Out {
		return store.Out{Key: key, Address: from, Body: []byte(`{"text":"a","reply_to":7}`), Edit: edit}
	}
	var session store.Session
	write(t, s, func(tx *store.Tx) (err error) {
		must(t, tx.Chats().SeeChat("telegram", -5, "Family", time.Time{}))
		session, err = tx.Sessions().Session(from)
		must(t, err)
		_, err = tx.Turns().AddTurn(store.Turn{Session: session.ID, Address: from, Placeholder: "shown", PlaceholderID: 9})
		must(t, err)
		u := update(1)
		u.Address = from
		_, _, err = tx.Inbox().AddUpdate(u)
		must(t, err)
		for _, m := range []store.Memory{{Chat: -5, Key: "k"}, {Chat: -1005, Key: "k"}, {Chat: -5, Key: "own"}} {
			m.Channel, m.Content = "telegram", m.Key
			_, err = tx.Memories().AddMemory(m)
			must(t, err)
		}
		_, err = tx.Index().AddChunk(store.Chunk{Kind: store.KindMessage, Channel: "telegram", Chat: -5, Content: "said"})
		must(t, err)
		return tx.Outbox().AddOut(out("before", 9))
	})
	for range 2 { // the second time is a no-op
		write(t, s, func(tx *store.Tx) error { return tx.Chats().MoveChat("telegram", -5, -1005) })
	}
	write(t, s, func(tx *store.Tx) error { return tx.Outbox().AddOut(out("after", 9)) })

	var got []string
	for _, o := range pending(t, s, &to, 10) {
		if o.Edit != 0 || string(o.Body) != `{"text":"a"}` {
			t.Errorf("moved part is %+v %s", o, o.Body)
		}
		got = append(got, o.Key)
	}
	if want := []string{"before", "after"}; !slices.Equal(got, want) {
		t.Errorf("the new chat gets %q, want %q", got, want)
	}
	read(t, s, func(tx *store.Tx) error {
		home, err := tx.Chats().Home(from)
		must(t, err)
		moved, err := tx.Sessions().Session(home)
		must(t, err)
		turns, err := tx.Turns().RunningTurns()
		must(t, err)
		updates, err := tx.Inbox().NewUpdates()
		must(t, err)
		if home != to || moved.ID != session.ID || turns[0].Address != to || turns[0].Placeholder != "forgotten" || updates[0].Address.Chat.ID != -1005 {
			t.Errorf("home %v, session %d, turns %+v, updates %+v", home, moved.ID, turns, updates)
		}
		here := store.Scope{Channel: "telegram", Chat: -1005}
		if ids, err := tx.Index().ChunkIDs(here); err != nil || len(ids) != 1 {
			t.Errorf("the new chat finds %v, %v", ids, err)
		}
		for key, want := range map[string]string{"k": "k", "own": "own"} {
			if m, err := tx.Memories().MemoryByKey("telegram", -1005, key); err != nil || m.Content != want {
				t.Errorf("the memory %s is %+v, %v", key, m, err)
			}
		}
		return nil
	})
}

func TestDeadChatGetsNothing(t *testing.T) {
	s := open(t, t.TempDir())
	add := func(key string) {
		write(t, s, func(tx *store.Tx) error {
			return tx.Outbox().AddOut(store.Out{Key: key, Address: anna, Body: []byte(`{}`)})
		})
	}
	waits := func() int { return len(pending(t, s, nil, 10)) }
	add("before")
	write(t, s, func(tx *store.Tx) error {
		_, err := tx.Chats().KillChat(anna.Chat.Channel, anna.Chat.ID, "blocked")
		return err
	})
	if add("during"); waits() != 0 {
		t.Errorf("%d parts wait for a dead chat", waits())
	}
	// A message from before it died does not revive it.
	write(t, s, func(tx *store.Tx) error {
		return tx.Chats().ReviveChat(anna.Chat.Channel, anna.Chat.ID, time.Now().Add(-time.Hour))
	})
	if add("later"); waits() != 0 {
		t.Errorf("%d parts wait for a dead chat", waits())
	}
	write(t, s, func(tx *store.Tx) error { return tx.Chats().ReviveChat(anna.Chat.Channel, anna.Chat.ID, time.Time{}) })
	if add("after"); waits() != 1 {
		t.Errorf("%d parts wait for a revived chat, want 1", waits())
	}
}

// TestVoiceOfAChat: off at first, and it moves with the chat.
func TestVoiceOfAChat(t *testing.T) {
	s := open(t, t.TempDir())
	speaks := func(chat int64) (on bool) {
		write(t, s, func(tx *store.Tx) (err error) {
			on, err = tx.Chats().SpeaksTo("telegram", chat)
			return err
		})
		return on
	}
	if speaks(-5) {
		t.Error("it is on at first")
	}
	write(t, s, func(tx *store.Tx) error { return tx.Chats().SetVoice("telegram", -5, true) })
	write(t, s, func(tx *store.Tx) error { return tx.Chats().SeeChat("telegram", -1005, "Family", time.Time{}) })
	write(t, s, func(tx *store.Tx) error { return tx.Chats().MoveChat("telegram", -5, -1005) })
	if !speaks(-1005) {
		t.Error("it is off after the move")
	}
	write(t, s, func(tx *store.Tx) error { return tx.Chats().SetVoice("telegram", -1005, false) })
	write(t, s, func(tx *store.Tx) error { return tx.Chats().MoveChat("telegram", -5, -1005) }) // is told again
	if speaks(-1005) {
		t.Error("it stays on")
	}
}
