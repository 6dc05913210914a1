package outbox_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
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

// TestAlbums: pictures of tools that follow each other leave as albums, other files alone.
func TestAlbums(t *testing.T) {
	for name, c := range map[string]struct {
		kinds string // p: a picture, d: another file
		want  string
	}{
		"nothing": {"", ""}, "one picture": {"p", "p"}, "two": {"pp", "[pp]"}, "apart": {"pdp", "p d p"},
		"mixed": {"dppdd", "d [pp] d d"}, "eleven": {"ppppppppppp", "[ppppppppp] [pp]"}, "twelve": {"pppppppppppp", "[pppppppppp] [pp]"},
	} {
		var files []*gateway.Document
		for _, k := range c.kinds {
			files = append(files, &gateway.Document{Name: string(k), MIME: map[rune]string{'p': "image/png", 'd': "text/plain"}[k], Sum: "0a"})
		}
		var got []string
		for _, p := range outbox.Albums(files) {
			names := ""
			for _, f := range p.Files() {
				names += f.Name
			}
			if len(p.Album) > 0 {
				names = "[" + names + "]"
			}
			got = append(got, names)
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s: %q, want %q", name, all, c.want)
		}
	}
}
