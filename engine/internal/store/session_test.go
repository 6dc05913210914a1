package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
)

func TestSessionIsMadeByWritesOnly(t *testing.T) {
	s := open(t, t.TempDir())
	find := func(tx *store.Tx) error { _, err := tx.Sessions().Session(anna); return err }
	if err := s.Read(t.Context(), find); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("read: %v", err)
	}
	write(t, s, find)
	write(t, s, find)
	read(t, s, find)
	if n := count(t, s, "sessions"); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestStartSession(t *testing.T) {
	s := open(t, t.TempDir())
	topic := anna
	topic.Thread = 5
	write(t, s, storetest.Say(anna, "before"))
	write(t, s, storetest.Say(topic, "elsewhere"))
	write(t, s, func(tx *store.Tx) error {
		old, err := tx.Sessions().Session(anna)
		must(t, err)
		must(t, tx.Sessions().SetModel(old.ID, "small"))
		next, err := tx.Sessions().StartSession(anna)
		must(t, err)
		now, err := tx.Sessions().Session(anna)
		must(t, err)
		if next.ID == old.ID || next.Model != "small" {
			t.Errorf("next session is %+v", next)
		}
		if diff := cmp.Diff(next, now); diff != "" {
			t.Error(diff)
		}
		return err
	})
	if got := history(t, s, anna); len(got) != 0 {
		t.Errorf("history after the break is %q", got)
	}
	write(t, s, storetest.Say(anna, "after"))
	if diff := cmp.Diff([]string{"after"}, history(t, s, anna)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"elsewhere"}, history(t, s, topic)); diff != "" {
		t.Error(diff)
	}
	if n := count(t, s, "messages WHERE type = 'session_break'"); n != 1 {
		t.Errorf("%d breaks are stored", n)
	}
	read(t, s, func(tx *store.Tx) error {
		all, err := tx.Sessions().Sessions()
		if len(all) != 2 || all[0].Address != anna || all[0].Messages != 1 || all[0].Model != "small" || all[1].Address != topic {
			t.Errorf("sessions are %+v", all)
		}
		return err
	})
}

func TestStartSessionWhenTheClockWentBack(t *testing.T) {
	s := open(t, t.TempDir())
	write(t, s, storetest.Say(anna, "before"))
	write(t, s, func(tx *store.Tx) error {
		return tx.Exec("UPDATE sessions SET started_at = started_at + 3600000")
	})
	write(t, s, func(tx *store.Tx) error { _, err := tx.Sessions().StartSession(anna); return err })
	if got := history(t, s, anna); len(got) != 0 {
		t.Errorf("the old session is current: %q", got)
	}
}

func TestHistory(t *testing.T) {
	s := open(t, t.TempDir())
	var session store.SessionID
	write(t, s, func(tx *store.Tx) error {
		current, err := tx.Sessions().Session(anna)
		session = current.ID
		for i := range 10 {
			m := store.Message{Session: session, Body: llm.Text(llm.RoleUser, fmt.Sprint(i))}
			if i%3 == 2 {
				m.Type = "error"
			}
			if _, err := tx.Sessions().AddMessage(m); err != nil {
				return err
			}
		}
		return err
	})
	read(t, s, func(tx *store.Tx) error {
		var texts []string
		all, err := tx.Sessions().History(session, 4)
		for _, m := range all {
			texts = append(texts, m.Body.PlainText())
			if m.UID == "" || m.At.IsZero() || m.At.Location() != time.UTC {
				t.Errorf("message is %+v", m)
			}
		}
		if diff := cmp.Diff([]string{"4", "6", "7", "9"}, texts); diff != "" {
			t.Error(diff)
		}
		return err
	})
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		for range 2 {
			if _, err := tx.Sessions().AddMessage(store.Message{UID: "same", Session: session}); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		t.Error("a uid was stored twice")
	}
}

func TestChats(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(t.Context(), config(dir))
		must(t, err)
		defer s.Close()
		step := func(fn func(*store.Tx) error) {
			t.Helper()
			time.Sleep(time.Second)
			must(t, s.Write(t.Context(), fn))
		}
		start := time.Now().UTC()
		step(func(tx *store.Tx) error { return tx.Chats().SeeChat("telegram", 1, "One", time.Time{}) })
		step(func(tx *store.Tx) error { return tx.Chats().SeeChat("telegram", 2, "Two", time.Time{}) })
		step(func(tx *store.Tx) error {
			was, err := tx.Chats().KillChat("telegram", 1, "blocked")
			if !was {
				t.Error("chat 1 was not alive")
			}
			return err
		})
		step(func(tx *store.Tx) error {
			was, err := tx.Chats().KillChat("telegram", 1, "again")
			if was {
				t.Error("chat 1 died twice")
			}
			must(t, err)
			was, err = tx.Chats().KillChat("telegram", 3, "never wrote")
			if !was {
				t.Error("chat 3 was not alive")
			}
			return err
		})
		check := func(want ...store.Chat) {
			t.Helper()
			must(t, s.Read(t.Context(), func(tx *store.Tx) error {
				got, err := tx.Chats().Chats()
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				return err
			}))
		}
		at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
		two := store.Chat{Channel: "telegram", ID: 2, Name: "Two", SeenAt: at(2)}
		three := store.Chat{Channel: "telegram", ID: 3, DeadSince: at(4), Note: "never wrote"}
		check(two, store.Chat{Channel: "telegram", ID: 1, Name: "One", SeenAt: at(1), DeadSince: at(3), Note: "blocked"}, three)
		step(func(tx *store.Tx) error { return tx.Chats().SeeChat("telegram", 1, "", time.Time{}) })
		check(store.Chat{Channel: "telegram", ID: 1, Name: "One", SeenAt: at(5)}, two, three)
	})
}

// TestPastGoesOnFromWhatIsKnown: what a session held before is as good as reading all of
// it again, whatever came since.
func TestPastGoesOnFromWhatIsKnown(t *testing.T) {
	s := open(t, t.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	var id, other store.SessionID
	write(t, s, func(tx *store.Tx) error {
		session, err := tx.Sessions().Session(anna)
		must(t, err)
		id = session.ID
		next, err := tx.Sessions().StartSession(anna)
		other = next.ID
		return err
	})
	known := map[store.SessionID]*store.Past{}
	for round := range 200 {
		of, limit := []store.SessionID{id, other}[random.IntN(2)], 4+random.IntN(3)
		write(t, s, func(tx *store.Tx) error {
			var last store.MessageID
			for range random.IntN(9) {
				m, err := tx.Sessions().AddMessage(store.Message{Session: of, Body: llm.Text(llm.RoleUser, fmt.Sprint(round))})
				must(t, err)
				last = m
			}
			if last > 0 && random.IntN(5) == 0 {
				return tx.Sessions().AddSummary(store.Summary{Session: of, Through: last - 1, Text: "before"})
			}
			return nil
		})
		read(t, s, func(tx *store.Tx) error {
			want, err := tx.Sessions().Past(of, limit, nil)
			must(t, err)
			got, err := tx.Sessions().Past(of, limit, known[[]store.SessionID{id, other}[random.IntN(2)]])
			must(t, err)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("round %d: %s", round, diff)
			}
			known[of] = &got
			return nil
		})
	}
}
