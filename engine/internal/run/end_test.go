package run

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/model"
	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
)

// TestRunEndStoredOnce begins and ends a run on a disk that takes the
// changes only the third time. What is stored must be what one try makes: one
// attempt, its own turn, and what that has taken.
func TestRunEndStoredOnce(t *testing.T) {
	st, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	write := func(fn func(*store.Tx) error) {
		t.Helper()
		if err := st.Write(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	errFull := errors.New("full")
	third := func(fn func(*store.Tx) error) {
		t.Helper()
		for range 2 {
			err := st.Write(t.Context(), func(tx *store.Tx) error { return errors.Join(fn(tx), errFull) })
			if err == nil || err.Error() != errFull.Error() {
				t.Fatal(err)
			}
			// Another turn takes the number of the turn that was not stored.
			write(func(tx *store.Tx) error {
				a := gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 7}}
				s, err := tx.Sessions().Session(a)
				if err == nil {
					_, err = tx.Turns().AddTurn(store.Turn{Session: s.ID, Address: a, Origin: "person"})
				}
				return err
			})
		}
		write(fn)
	}

	j := store.Job{Kind: store.JobSchedule, Name: "report", Origin: "command"}
	r := store.Run{ScheduledAt: time.Now().Add(-time.Minute)}
	write(func(tx *store.Tx) (err error) {
		if j.ID, err = tx.Jobs().AddJob(j); err == nil {
			r.Job, r.State = j.ID, store.RunClaimed
			r.ID, err = tx.Runs().ClaimRun(r)
		}
		return err
	})
	var w Work
	third(func(tx *store.Tx) (err error) {
		w, err = storeBegin(tx, r, store.Turn{Address: Workplace(j), Origin: "scheduled"})
		return err
	})
	rs := &Runs{Config: Config{Settings: func() settings.Settings { return settings.Settings{} }}}
	made := Made{Store: func(tx *store.Tx) error {
		spent := []store.Usage{{Day: "2026-01-31", Turn: w.Turn.ID, Tokens: llm.Usage{Input: 100, Output: 10}, Cost: 5}}
		if err := model.AddUsage(tx, spent); err != nil {
			return err
		}
		return tx.Turns().EndTurn(w.Turn)
	}}
	third(func(tx *store.Tx) error {
		ended := w.Run
		ended.State = store.RunDone
		_, err := rs.storeEnd(tx, j, ended, ending{state: store.RunDone}, store.Turn{}, &made)
		return err
	})

	var got store.Run
	var kept store.Turn
	write(func(tx *store.Tx) (err error) {
		if got, err = tx.Runs().Run(r.ID); err == nil {
			kept, err = tx.Turns().Turn(got.Turn)
		}
		return err
	})
	type record struct {
		attempts, in, out int
		cost              int64
		at                gateway.Address
	}
	want := record{1, 100, 10, 5, Workplace(j)}
	if diff := cmp.Diff(want, record{got.Attempts, got.InputTokens, got.OutputTokens, got.Cost, kept.Address}, cmp.AllowUnexported(record{})); diff != "" {
		t.Error(diff)
	}
}
