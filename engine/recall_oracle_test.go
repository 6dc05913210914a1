//go:build oracle

package engine_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/engine/settings"
)

// TestOracleRecallByMeaning: what was said early comes back with a question that
// has none of its words, in the last message to the model, with the embedding model
// that setup brings; and not with one that is about something else. Without vectors
// it does not.
func TestOracleRecallByMeaning(t *testing.T) {
	const fact, question = "The baby sleeps best with white noise", "What calms our infant at night?"
	h := forgetful(t)
	h.settings.Memory.Embedding = settings.Embedding{
		Type: "onnx", Model: "e5-small-v2",
		Runtime: filepath.Join(os.Getenv("ASSETS_DIR"), "libonnxruntime.so"), Path: filepath.Join(os.Getenv("ASSETS_DIR"), "e5-small-v2"),
	}
	h.start()
	h.exchange(fact, "re: The")
	h.chats(4)
	h.exchange(question, "re: What")
	if _, asked := h.lastAsked(); strings.Contains(asked, "white noise") {
		t.Fatalf("its words alone find it: %q", asked)
	}
	h.until("the model has read what was said", h.allRead)
	// The vector of a question has little time where the machine is busy.
	for range 20 {
		h.chats(2)
		h.exchange(question, "re: What")
		if r, asked := h.lastAsked(); strings.Contains(asked, recallHeading) {
			_, block, _ := strings.Cut(asked, recallHeading)
			if !strings.Contains(block, fact) || strings.Count(text(r), fact) != 1 {
				t.Errorf("the model was asked %q", asked)
			}
			h.exchange("Who won the world cup in 1998?", "re: Who")
			if _, asked := h.lastAsked(); strings.Contains(asked, fact) {
				t.Errorf("reminded without a reason: %q", asked)
			}
			return
		}
	}
	t.Error("it was never recalled")
}

// allRead reports whether everything that was said has a vector.
func (h *house) allRead() bool {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(h.dir, "klawbot.db")+"?mode=ro")
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	var waiting, read int
	if err := db.QueryRow(`SELECT count(b.id IS NULL OR NULL), count(b.id) FROM chunks c LEFT JOIN vector_bits b ON b.kind = c.kind AND b.chunk = c.id
		WHERE c.kind = 'message'`).Scan(&waiting, &read); err != nil {
		h.t.Fatal(err)
	}
	return waiting == 0 && read > 0
}
