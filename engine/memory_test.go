package engine_test

import (
	"strings"
	"testing"
)

func TestMemoryStoreRecallForget(t *testing.T) {
	h := build(t)
	h.settings.Models.Default = ""
	h.start()
	h.asks(alice, `/tool memory_store {"content": "Anna's birthday is on 3 May; she likes orchids.", "key": "anna_birthday"}`)
	for _, query := range []string{"when is Anna's birthday", "orchid"} {
		if got := h.asks(alice, `/tool memory_recall {"query": "`+query+`", "limit": 3}`); !strings.Contains(got, "[manual] (") || !strings.Contains(got, "3 May") {
			t.Errorf("%q finds %q", query, got)
		}
	}
	if got := h.asks(alice, `/tool memory_forget {"key": "anna_birthday"}`); !strings.Contains(got, "OK: memory 'anna_birthday' forgotten") {
		t.Errorf("forgetting says %q", got)
	}
	if got := h.asks(alice, `/tool memory_recall {"query": "Anna birthday"}`); !strings.Contains(got, "No relevant memories found.") {
		t.Errorf("what was forgotten is still found: %q", got)
	}
	if got := h.asks(alice, `/tool memory_forget {"key": "anna_birthday"}`); !strings.Contains(got, "Error: memory 'anna_birthday' not found") {
		t.Errorf("forgetting again says %q", got)
	}
}

func TestHistorySearchFindsWhatWasSaidInThisChatAlone(t *testing.T) {
	h := build(t)
	h.echo()
	h.start()
	h.asks(alice, "the boiler was serviced by Mr Kowalski")
	h.asks(bob, "the boiler of the office is broken")
	h.asks(alice, "/new")
	got := h.asks(alice, `/tool history_search {"query": "who serviced the boiler"}`)
	if !strings.Contains(got, "Kowalski") || strings.Contains(got, "office") {
		t.Errorf("history_search finds %q", got)
	}
}
