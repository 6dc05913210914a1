package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// startTurn stores a turn in the current session of anna.
func startTurn(tx *store.Tx) (store.TurnID, error) {
	s, err := tx.Sessions().Session(anna)
	if err != nil {
		return 0, err
	}
	return tx.Turns().AddTurn(store.Turn{Session: s.ID, Address: anna, Origin: "person", ReplyTo: 5})
}

func TestUpdateIsStoredOnce(t *testing.T) {
	s := open(t, t.TempDir())
	u := store.Update{Update: gateway.Update{
		Channel: "telegram", Bot: 7, ID: 9, Kind: "message",
		Address: store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}, Thread: 3},
		Message: 11, From: 12, Group: true, FromBot: true, Anonymous: true,
		Raw: []byte(`{"a":1}`),
	}, ReceivedAt: time.UnixMilli(1_700_000_000_123).UTC()}
	write(t, s, func(tx *store.Tx) error {
		id, added, err := tx.Inbox().AddUpdate(u)
		if err != nil || !added {
			t.Errorf("first: added %v, %v", added, err)
		}
		again, added, err := tx.Inbox().AddUpdate(u)
		if err != nil || added || again != id {
			t.Errorf("second: id %d, added %v, %v", again, added, err)
		}
		for _, other := range []gateway.Update{{Channel: "telegram", Bot: 8, ID: 9}, {Channel: "console", Bot: 7, ID: 9}} {
			if _, added, err := tx.Inbox().AddUpdate(store.Update{Update: other}); err != nil || !added {
				t.Errorf("another bot or channel: added %v, %v", added, err)
			}
		}
		u.ID, u.State = id, store.InboxNew
		return nil
	})
	read(t, s, func(tx *store.Tx) error {
		all, err := tx.Inbox().NewUpdates()
		if err != nil || len(all) != 3 {
			t.Fatalf("%d updates, %v", len(all), err)
		}
		if diff := cmp.Diff(u, all[0]); diff != "" {
			t.Error(diff)
		}
		return nil
	})
}

func TestUpdateStates(t *testing.T) {
	s := open(t, t.TempDir())
	var ids []store.InboxID
	var turn store.TurnID
	write(t, s, func(tx *store.Tx) (err error) {
		for i := range int64(4) {
			id, _, err := tx.Inbox().AddUpdate(update(i))
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		if turn, err = startTurn(tx); err != nil {
			return err
		}
		return tx.Inbox().StartUpdates(turn, ids[0], ids[2])
	})
	err := s.Write(t.Context(), func(tx *store.Tx) error { return tx.Inbox().StartUpdates(turn, ids[1], ids[2]) })
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("starting an update twice: %v", err)
	}
	write(t, s, func(tx *store.Tx) error {
		if err := tx.Inbox().ReplaceUpdate(ids[0], []byte("late")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("replacing a running update: %v", err)
		}
		return tx.Inbox().ReplaceUpdate(ids[1], []byte("edited"))
	})
	states := func() (waiting, running []store.InboxID, depth store.Depth) {
		read(t, s, func(tx *store.Tx) error {
			all, err := tx.Inbox().NewUpdates()
			for _, u := range all {
				waiting = append(waiting, u.ID)
				if u.ID == ids[1] && string(u.Raw) != "edited" {
					t.Errorf("raw is %q", u.Raw)
				}
			}
			must(t, err)
			all, err = tx.Inbox().TurnUpdates(turn)
			for _, u := range all {
				running = append(running, u.ID)
			}
			must(t, err)
			depth, err = tx.Inbox().InboxDepth()
			return err
		})
		return waiting, running, depth
	}
	waiting, running, depth := states()
	if diff := cmp.Diff([][]store.InboxID{{ids[1], ids[3]}, {ids[0], ids[2]}}, [][]store.InboxID{waiting, running}); diff != "" {
		t.Error(diff)
	}
	if depth.Waiting != 4 || time.Since(depth.Oldest) > time.Minute {
		t.Errorf("depth is %v", depth)
	}
	write(t, s, func(tx *store.Tx) error { return tx.Inbox().EndUpdates(store.InboxDone, "answered", ids...) })
	if waiting, _, depth = states(); len(waiting) != 0 || depth != (store.Depth{}) {
		t.Errorf("%v wait, depth %v", waiting, depth)
	}
}

func TestPruneKeepsWhatWaits(t *testing.T) {
	s := open(t, t.TempDir())
	old, before := time.Now().Add(-50*time.Hour), time.Now().Add(-48*time.Hour)
	write(t, s, func(tx *store.Tx) error {
		for i, state := range []store.InboxState{store.InboxNew, store.InboxRunning, store.InboxDone, store.InboxDead, store.InboxDone} {
			u := update(int64(i))
			u.State, u.ReceivedAt = state, old
			if i == 4 {
				u.ReceivedAt = time.Time{} // now
			}
			if _, _, err := tx.Inbox().AddUpdate(u); err != nil {
				return err
			}
		}
		for i := range 100 {
			u := update(int64(100 + i))
			u.State, u.ReceivedAt = store.InboxDone, old // the last hundred stay
			if _, _, err := tx.Inbox().AddUpdate(u); err != nil {
				return err
			}
		}
		for i, state := range []store.OutboxState{store.OutboxNew, store.OutboxSending, store.OutboxSent, store.OutboxUnknown, store.OutboxDead} {
			if err := tx.Outbox().AddOut(store.Out{Key: string(rune('a' + i)), Address: anna, State: state, CreatedAt: old}); err != nil {
				return err
			}
		}
		return nil
	})
	write(t, s, func(tx *store.Tx) error {
		in, err := tx.Prune(store.AgedInbox, before)
		must(t, err)
		out, err := tx.Prune(store.AgedOutbox, before)
		if in != 2 || out != 3 {
			t.Errorf("pruned %d of the inbox and %d of the outbox", in, out)
		}
		return err
	})
	if in, out := count(t, s, "inbox"), count(t, s, "outbox"); in != 103 || out != 2 {
		t.Errorf("left %d and %d", in, out)
	}
}
