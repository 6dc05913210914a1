package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/store"
)

func TestTurn(t *testing.T) {
	s := open(t, t.TempDir())
	var first, second store.TurnID
	write(t, s, func(tx *store.Tx) (err error) {
		if first, err = startTurn(tx); err != nil {
			return err
		}
		if second, err = startTurn(tx); err != nil {
			return err
		}
		return tx.Turns().SetPlaceholder(first, "shown", 42)
	})
	var got store.Turn
	read(t, s, func(tx *store.Tx) (err error) {
		running, err := tx.Turns().RunningTurns()
		must(t, err)
		if len(running) != 2 || running[0].ID != first || running[1].ID != second {
			t.Errorf("running are %+v", running)
		}
		got, err = tx.Turns().Turn(first)
		return err
	})
	want := store.Turn{
		ID: first, Session: got.Session, Address: anna, Origin: "person", State: store.TurnRunning,
		Placeholder: "shown", PlaceholderID: 42, ReplyTo: 5, StartedAt: got.StartedAt,
	}
	if diff := cmp.Diff(want, got); diff != "" || time.Since(got.StartedAt) > time.Minute {
		t.Error(diff, got.StartedAt)
	}
	want.State, want.Placeholder, want.Model, want.Note = store.TurnFailed, "final", "small", "why"
	want.InputTokens, want.OutputTokens, want.EndedAt = 10, 20, got.StartedAt.Add(time.Second)
	write(t, s, func(tx *store.Tx) error { return tx.Turns().EndTurn(want) })
	read(t, s, func(tx *store.Tx) error {
		got, err := tx.Turns().Turn(first)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		running, err := tx.Turns().RunningTurns()
		if len(running) != 1 || running[0].ID != second {
			t.Errorf("running are %+v", running)
		}
		return err
	})
	err := s.Write(t.Context(), func(tx *store.Tx) error { _, err := tx.Turns().Turn(99); return err })
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("missing turn: %v", err)
	}
}

func TestJournal(t *testing.T) {
	s := open(t, t.TempDir())
	answer := llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{
		{Thinking: &llm.Thinking{Text: "hm", Signature: "sig", Provider: "p", Model: "m"}},
		{Text: "a < b & \"c\" 😀"},
		{Call: &llm.ToolCall{ID: "c1", WireID: "w", Name: "file_write", Arguments: `{"path":"x"}`, Extra: []byte(`{"k":[1]}`)}},
	}}
	var turn store.TurnID
	write(t, s, func(tx *store.Tx) (err error) {
		if turn, err = startTurn(tx); err != nil {
			return err
		}
		must(t, tx.Turns().AddAnswer(turn, 1, llm.Text(llm.RoleAssistant, "second"), llm.Usage{Input: -1, Output: -1, Cached: -1}))
		must(t, tx.Turns().AddAnswer(turn, 0, answer, llm.Usage{Input: 1, Output: 2, Cached: 3}))
		must(t, tx.Turns().StartCall(store.Call{ID: "c1", Turn: turn, Name: "file_write"}))
		must(t, tx.Turns().StartCall(store.Call{ID: "c2", Turn: turn, Name: "file_read"}))
		must(t, tx.Turns().StartCall(store.Call{ID: "c3", Turn: turn, Name: "file_read"}))
		must(t, tx.Turns().FinishCall("c1", []byte(`{"text":"ok"}`)))
		must(t, tx.Turns().FinishCall("c3", nil))
		return tx.Turns().StartCall(store.Call{ID: "c1", Turn: turn, Name: "file_write"})
	})
	read(t, s, func(tx *store.Tx) error {
		answers, err := tx.Turns().Answers(turn)
		must(t, err)
		if diff := cmp.Diff([]llm.Message{answer, llm.Text(llm.RoleAssistant, "second")}, answers); diff != "" {
			t.Error(diff)
		}
		calls, err := tx.Turns().Calls(turn)
		want := map[string]store.Call{
			"c1": {ID: "c1", Turn: turn, Name: "file_write", Result: []byte(`{"text":"ok"}`)},
			"c2": {ID: "c2", Turn: turn, Name: "file_read"},
			"c3": {ID: "c3", Turn: turn, Name: "file_read", Result: []byte{}},
		}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Error(diff)
		}
		return err
	})
	if err := s.Write(t.Context(), func(tx *store.Tx) error { return tx.Turns().AddAnswer(turn, 1, answer, llm.Usage{}) }); err == nil {
		t.Error("a round was journaled twice")
	}
	err := s.Write(t.Context(), func(tx *store.Tx) error { return tx.Turns().FinishCall("none", nil) })
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("finish of a call that was not started: %v", err)
	}
	write(t, s, func(tx *store.Tx) error { return tx.Turns().EndTurn(store.Turn{ID: turn, State: store.TurnDone}) })
	if a, c := count(t, s, "answers"), count(t, s, "calls"); a != 0 || c != 0 {
		t.Errorf("the journal of an ended turn has %d answers and %d calls", a, c)
	}
}
