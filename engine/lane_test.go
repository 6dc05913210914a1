package engine_test

import (
	"strings"
	"testing"
)

// TestStopDropsWhatCouldNotBegin: a message whose turn could not be stored is tried
// again, but not when /stop came meanwhile.
func TestStopDropsWhatCouldNotBegin(t *testing.T) {
	h := build(t)
	h.echo()
	h.start()
	h.asks(alice, "hi")
	db := h.database()
	if _, err := db.Exec(`ALTER TABLE turns RENAME TO turns_away`); err != nil {
		t.Fatal(err)
	}
	h.says(alice, "what is wrong?")
	h.until("its turn cannot be stored", func() bool { return strings.Contains(h.logs.String(), "turn not started") })
	h.says(alice, "/stop")
	h.sees(alice, "Stopped.")
	if _, err := db.Exec(`ALTER TABLE turns_away RENAME TO turns`); err != nil {
		t.Fatal(err)
	}
	if got := h.asks(alice, "hello"); got != "re: hello" {
		t.Errorf("after /stop it answers %q", got)
	}
	h.end()
	if n := strings.Count(strings.Join(h.messenger.texts(alice), "\n"), "what is wrong?"); n > 0 {
		t.Errorf("what was dropped was answered: %q", h.messenger.texts(alice))
	}
}
