package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

func pending(t *testing.T, s *store.Store, a *store.Address, limit int) (all []store.Out) {
	t.Helper()
	read(t, s, func(tx *store.Tx) (err error) {
		all, err = tx.Outbox().PendingOut(a, limit)
		return err
	})
	return all
}

func TestOutbox(t *testing.T) {
	s := open(t, t.TempDir())
	other := store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 123}, Thread: 9}
	write(t, s, func(tx *store.Tx) error {
		turn, err := startTurn(tx)
		if err != nil {
			return err
		}
		for _, o := range []store.Out{
			{Key: "turn/1/0", Turn: turn, Address: anna, Body: []byte(`{"text":"a"}`), Edit: 77},
			{Key: "turn/1/1", Turn: turn, Address: other, Body: []byte(`{}`)},
			{Key: "turn/1/0", Turn: turn, Address: other, Body: []byte(`again`)},
			{Key: "turn/1/2", Turn: turn, Address: anna, Body: []byte(`{}`)},
		} {
			if err := tx.Outbox().AddOut(o); err != nil {
				return err
			}
		}
		return nil
	})
	all := pending(t, s, nil, 10)
	if len(all) != 3 || all[0].Edit != 77 || string(all[0].Body) != `{"text":"a"}` || all[0].State != store.OutboxNew || all[0].CreatedAt.IsZero() {
		t.Fatalf("pending is %+v", all)
	}
	if got := pending(t, s, &anna, 10); len(got) != 2 || got[0].Key != "turn/1/0" || got[1].Key != "turn/1/2" {
		t.Errorf("pending there is %+v", got)
	}
	if got := pending(t, s, nil, 1); len(got) != 1 || got[0].ID != all[0].ID {
		t.Errorf("limited pending is %+v", got)
	}

	want := all[0]
	want.State, want.Attempts, want.Resent, want.Edit = store.OutboxSending, 2, 1, 0
	want.NotBefore, want.Note, want.Address = time.UnixMilli(1_800_000_000_000).UTC(), "moved", other
	write(t, s, func(tx *store.Tx) error { return tx.Outbox().UpdateOut(want) })
	if diff := cmp.Diff(want, pending(t, s, nil, 1)[0]); diff != "" {
		t.Error(diff)
	}
	want.State, want.MessageID, want.SentAt = store.OutboxSent, 88, want.NotBefore
	write(t, s, func(tx *store.Tx) error { return tx.Outbox().UpdateOut(want) })
	if got := pending(t, s, nil, 10); len(got) != 2 {
		t.Errorf("pending after it was sent: %+v", got)
	}
	read(t, s, func(tx *store.Tx) error {
		d, err := tx.Outbox().OutboxDepth()
		if d.Waiting != 2 || d.Oldest.IsZero() {
			t.Errorf("depth is %v", d)
		}
		return err
	})
	err := s.Write(t.Context(), func(tx *store.Tx) error { return tx.Outbox().UpdateOut(store.Out{ID: 999}) })
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("update of a missing row: %v", err)
	}
}

// TestPartsThatLeaveBehindAnother keep their place before what waited already.
func TestPartsThatLeaveBehindAnother(t *testing.T) {
	s := open(t, t.TempDir())
	other := store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 123}, Thread: 9}
	write(t, s, func(tx *store.Tx) error {
		for _, o := range []store.Out{
			{Key: "a", Address: anna}, {Key: "b", Address: anna}, {Key: "x", Address: other}, {Key: "c", Address: anna}, {Key: "d", Address: anna},
		} {
			if err := tx.Outbox().AddOut(o); err != nil {
				return err
			}
		}
		return nil
	})
	for range 2 { // the second time changes nothing
		write(t, s, func(tx *store.Tx) error {
			b, err := tx.Outbox().OutNamed("b")
			if err != nil {
				return err
			}
			return tx.Outbox().AddOutsBehind(b, []store.Out{{Key: "b1", Address: anna}, {Key: "b2", Address: anna}})
		})
	}
	keys := ""
	for _, o := range pending(t, s, &anna, 10) {
		keys += o.Key + " "
	}
	if keys != "a b b1 b2 c d " {
		t.Errorf("they leave in the order %s", keys)
	}
}

// TestMessagesSinceAnother counts what was sent behind it at the same address.
func TestMessagesSinceAnother(t *testing.T) {
	s := open(t, t.TempDir())
	began := time.Now()
	other := store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 123}, Thread: 9}
	for _, tc := range []struct {
		name string
		out  store.Out
		want bool
	}{
		{"before it", store.Out{Address: anna, State: store.OutboxSent, MessageID: 49}, false},
		{"an edit", store.Out{Address: anna, State: store.OutboxSent, MessageID: 51, Edit: 51}, false},
		{"in another topic", store.Out{Address: other, State: store.OutboxSent, MessageID: 51}, false},
		{"long ago", store.Out{Address: anna, State: store.OutboxSent, MessageID: 51, CreatedAt: began.Add(-time.Hour)}, false},
		{"given up", store.Out{Address: anna, State: store.OutboxDead}, false},
		{"behind it", store.Out{Address: anna, State: store.OutboxSent, MessageID: 51}, true},
		{"in doubt", store.Out{Address: anna, State: store.OutboxUnknown}, true},
		{"on its way", store.Out{Address: anna, State: store.OutboxNew}, true},
	} {
		var is bool
		errRollback := errors.New("only a try")
		err := s.Write(t.Context(), func(tx *store.Tx) (err error) {
			tc.out.Key = "one"
			if err := tx.Outbox().AddOut(tc.out); err != nil {
				return err
			}
			if is, err = tx.Outbox().OutsSince(anna, 50, began.Add(-time.Minute)); err != nil {
				return err
			}
			return errRollback
		})
		if !errors.Is(err, errRollback) || is != tc.want {
			t.Errorf("%s: %v (%v)", tc.name, is, err)
		}
	}
}
