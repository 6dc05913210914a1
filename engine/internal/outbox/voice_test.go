package outbox_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"klawbot/engine/internal/outbox"
	"klawbot/gateway"
	"klawbot/tools"
)

// TestVoiceOfAResult: the row of a voice message says that it is one, and how long.
func TestVoiceOfAResult(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0a1b")
	if err := os.WriteFile(path, []byte("OggS"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := outbox.ResultRows(new(gateway.Gateway), tools.Call{ID: "c1"}, tools.Result{Outgoing: []tools.Outgoing{{
		Chat: "telegram_7", Thread: 3, File: &tools.File{Name: "voice.ogg", MIME: "audio/ogg", Path: path, Voice: 6700 * time.Millisecond},
	}}})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	var p gateway.Part
	if err := json.Unmarshal(rows[0].Body, &p); err != nil {
		t.Fatal(err)
	}
	if d := p.Document; d == nil || d.As != gateway.AsVoice || d.Seconds != 7 || d.Name != "voice.ogg" {
		t.Errorf("%s", rows[0].Body)
	}
}
