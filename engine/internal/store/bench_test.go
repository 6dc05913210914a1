package store_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/storetest"
	"klawbot/gateway"
)

// BenchmarkWrite measures single writes; the goroutines of one group share
// commits.
func BenchmarkWrite(b *testing.B) {
	for _, goroutines := range []int{1, 100} {
		b.Run(fmt.Sprint(goroutines), func(b *testing.B) {
			s := open(b, b.TempDir())
			var id atomic.Int64
			b.SetParallelism(goroutines)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := s.Write(b.Context(), addUpdate(id.Add(1))); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
		})
	}
}

// BenchmarkTurn measures the six writes and two reads of a plain turn, as the
// engine makes them, in 100 chats at a time.
func BenchmarkTurn(b *testing.B) {
	s := open(b, b.TempDir())
	var next atomic.Int64
	b.SetParallelism(100)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := turn(b, s, next.Add(1)); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

func turn(b *testing.B, s *store.Store, n int64) error {
	at := store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 1 + n%100}}
	u := update(n)
	u.Address = at
	var in store.InboxID
	var t store.Turn
	steps := []func(tx *store.Tx) error{
		func(tx *store.Tx) (err error) { in, _, err = tx.Inbox().AddUpdate(u); return err },
		func(tx *store.Tx) error {
			session, err := tx.Sessions().Session(at)
			if err != nil {
				return err
			}
			t = store.Turn{Session: session.ID, Address: at, Origin: "person"}
			if t.ID, err = tx.Turns().AddTurn(t); err != nil {
				return err
			}
			return tx.Inbox().StartUpdates(t.ID, in)
		},
		func(tx *store.Tx) error { return tx.Turns().SetPlaceholder(t.ID, "shown", n) },
		func(tx *store.Tx) error {
			if err := storetest.Say(at, "a question")(tx); err != nil {
				return err
			}
			if err := storetest.Say(at, "an answer")(tx); err != nil {
				return err
			}
			if err := tx.Outbox().AddOut(store.Out{Key: fmt.Sprintf("turn/%d/0", t.ID), Turn: t.ID, Address: at, Body: u.Raw}); err != nil {
				return err
			}
			if err := tx.Inbox().EndUpdates(store.InboxDone, "", in); err != nil {
				return err
			}
			t.State = store.TurnDone
			return tx.Turns().EndTurn(t)
		},
	}
	for _, step := range steps {
		if err := s.Write(b.Context(), step); err != nil {
			return err
		}
	}
	return deliver(b, s, &at)
}

func deliver(b *testing.B, s *store.Store, at *store.Address) error {
	var waiting []store.Out
	err := s.Read(b.Context(), func(tx *store.Tx) (err error) { waiting, err = tx.Outbox().PendingOut(at, 1); return err })
	for _, o := range waiting {
		for _, o.State = range []store.OutboxState{store.OutboxSending, store.OutboxSent} {
			if err := s.Write(b.Context(), func(tx *store.Tx) error { return tx.Outbox().UpdateOut(o) }); err != nil {
				return err
			}
		}
	}
	return err
}
