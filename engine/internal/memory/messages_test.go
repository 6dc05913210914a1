package memory_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

func TestOnlyTheBeginningOfAHugeMessageIsFound(t *testing.T) {
	s := openStore(t)
	write(t, s, func(tx *store.Tx) error {
		said := store.Said{Message: store.Message{ID: 1, Session: 1, SenderName: "Anna",
			Body: llm.Text(llm.RoleUser, "aardvark "+strings.Repeat("a", 10<<20)+" zebra")}}
		return memory.AddMessages(tx, []store.Said{said}, memory.ChunkSize{Size: 400, Overlap: 80})
	})
	m := newMemory(s, nil)
	if got := contents(t, m, memory.Query{Text: "aardvark"}); len(got) == 0 {
		t.Error("its beginning is not found")
	}
	if got := contents(t, m, memory.Query{Text: "zebra"}); len(got) != 0 {
		t.Errorf("its end finds %d pieces", len(got))
	}
}

// TestSearchesAreNotFound: who asks the memory says nothing that is worth finding, in
// the very words of the next question. A note is.
func TestSearchesAreNotFound(t *testing.T) {
	s := openStore(t)
	write(t, s, func(tx *store.Tx) error {
		var all []store.Said
		for i, text := range []string{"/memory search boiler", `/tool history_search {"query": "boiler"}`, "/note the boiler is old", "the /memory of a boiler"} {
			all = append(all, store.Said{Message: store.Message{ID: store.MessageID(i + 1), Session: 1, SenderName: "Anna", Body: llm.Text(llm.RoleUser, text)}})
		}
		return memory.AddMessages(tx, all, memory.ChunkSize{Size: 400, Overlap: 80})
	})
	got := contents(t, newMemory(s, nil), memory.Query{Text: "boiler"})
	slices.Sort(got)
	if want := []string{"Anna: /note the boiler is old", "Anna: the /memory of a boiler"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestCatchUpGoesOnWhereTheProcessEnded(t *testing.T) {
	const said = 45 // more than two batches
	config := store.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	open := func() *store.Store {
		s, err := store.Open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	size := memory.ChunkSize{Size: 400, Overlap: 80}
	s := open()
	write(t, s, func(tx *store.Tx) error {
		session, err := tx.Sessions().Session(store.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 1}})
		for i := 0; i < said && err == nil; i++ {
			_, err = tx.Sessions().AddMessage(store.Message{Session: session.ID, Body: llm.Text(llm.RoleUser, fmt.Sprintf("word%d", i)), At: time.Now()})
		}
		return err
	})
	ctx, stop := context.WithCancel(t.Context())
	ends := func(store.Address) bool { stop(); return true } // in the middle of the first batch
	if err := newMemory(s, nil).CatchUp(ctx, ends, size); err == nil {
		t.Error("the end of the process ends nothing")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open()
	defer s.Close()
	m := newMemory(s, nil)
	if err := m.CatchUp(t.Context(), func(store.Address) bool { return true }, size); err != nil {
		t.Fatal(err)
	}
	for i := range said {
		word := fmt.Sprintf("word%d", i)
		own := 0
		for _, c := range contents(t, m, memory.Query{Text: word, TopK: 2 * said}) {
			if strings.HasSuffix(c, word) {
				own++
			}
		}
		if own != 1 {
			t.Errorf("%s is found %d times", word, own)
		}
	}
}
