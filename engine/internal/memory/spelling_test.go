package memory_test

import (
	"testing"

	"klawbot/engine/internal/memory"
	"klawbot/engine/internal/store"
)

// TestUmlautsAreFoundHoweverTheyAreWritten: with the letter, without its points, and
// as two letters.
func TestUmlautsAreFoundHoweverTheyAreWritten(t *testing.T) {
	s := openStore(t)
	for _, text := range []string{"Das Treffen in Zürich", "Frau Mueller ruft an", "Der Schluessel für Köln", "a poem about a blue queen", "Bücher aus Duesseldorf", "Bucher ist ein Name"} {
		save(t, s, store.Memory{Content: text, Source: text})
	}
	m := newMemory(s, nil)
	for query, want := range map[string]string{
		"zuerich": "Das Treffen in Zürich", "zurich": "Das Treffen in Zürich", "ZÜRICH": "Das Treffen in Zürich", "Zu\u0308rich": "Das Treffen in Zürich",
		"müller": "Frau Mueller ruft an", "mueller": "Frau Mueller ruft an",
		"Schlüssel": "Der Schluessel für Köln", "koeln": "Der Schluessel für Köln",
		"poem": "a poem about a blue queen", "blue": "a poem about a blue queen", "queen": "a poem about a blue queen",
		"Düsseldorf": "Bücher aus Duesseldorf",
	} {
		if got := contents(t, m, memory.Query{Text: query}); len(got) != 1 || got[0] != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
	if got := contents(t, m, memory.Query{Text: "buecher"}); len(got) != 2 {
		t.Errorf("buecher finds %q", got)
	}
}

// TestBeginningOfALongerWord: where no text has a long word, it may be the beginning of one.
func TestBeginningOfALongerWord(t *testing.T) {
	s := openStore(t)
	for _, text := range []string{"Der Zahnarzttermin ist am Dienstag", "le rendez-vous chez l'ophtalmologue", "обед в автокафе", "the car is parked", "a boiler and boilermakers"} {
		save(t, s, store.Memory{Content: text, Source: text})
	}
	m := newMemory(s, nil)
	for query, want := range map[string]string{
		"Zahnarzt": "Der Zahnarzttermin ist am Dienstag", "ophtalmo": "le rendez-vous chez l'ophtalmologue", "автока": "обед в автокафе",
		"park": "the car is parked", "boiler": "a boiler and boilermakers", "когда Zahnarzt": "Der Zahnarzttermin ist am Dienstag",
	} {
		if got := contents(t, m, memory.Query{Text: query}); len(got) != 1 || got[0] != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"zahn", "carpet", "termin"} {
		if got := contents(t, m, memory.Query{Text: query}); len(got) != 0 {
			t.Errorf("%s finds %q", query, got)
		}
	}
}
