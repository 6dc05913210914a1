package memory_test

import (
	"strings"
	"testing"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
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
