package wording

import (
	"encoding/json"
	"testing"

	"klawbot/engine/settings"
	"klawbot/internal/redact"
)

// TestEffect: the first line of a request says what a plain call does. A call that is
// not plain gets no promise.
func TestEffect(t *testing.T) {
	secrets := &redact.Set{}
	secrets.Add("hunter2hunter2")
	w := Words{Redact: secrets, Settings: func() settings.Settings { return settings.Settings{Language: "en"} }}
	for _, c := range []struct{ tool, arguments, want string }{
		{"shell", `{"command": "rm list.txt"}`, "Delete `list.txt`?"},
		{"shell", `{"command": "rm -f notes/a.md"}`, "Delete `notes/a.md`?"},
		{"shell", `{"command": "rm -rf notes"}`, "Run this command?"},
		{"shell", `{"command": "rm a b"}`, "Run this command?"},
		{"shell", `{"command": "rm a;ls"}`, "Run this command?"},
		{"shell", `{"command": "rm *"}`, "Run this command?"},
		{"shell", `{"command": "rm a\nls"}`, "Run this command?"},
		{"shell", `{"command": "rm $HOME"}`, "Run this command?"},
		{"shell", `{"command": "rm hunter2hunter2"}`, "Run this command?"},
		{"shell", `{"command": "ls"}`, "Run this command?"},
		{"file_write", `{"path": "notes.md", "content": "x"}`, "Overwrite `notes.md`?"},
		{"file_write", `{"path": "notes.md", "mode": "append"}`, "Add to `notes.md`?"},
		{"file_write", `{"path": "a\u202eb"}`, "Run `file_write`?"},
		{"file_edit", `{"path": "AGENTS.md"}`, "Edit `AGENTS.md`?"},
		{"file_edit", `{"path": "a; rm b"}`, "Run `file_edit`?"},
		{"git", `{"action": "push", "extra": "origin main"}`, "Push `main` to `origin`?"},
		{"git", `{"action": "push", "extra": "--tags origin"}`, "Run this command?"},
		{"git", `{"action": "commit", "extra": "-m x"}`, "Run this command?"},
		{"http_request", `{"method": "POST", "url": "https://api.example.com/v1?a=b"}`, "Post to `api.example.com`?"},
		{"http_request", `{"method": "DELETE", "url": "https://api.example.com"}`, "Run `http_request`?"},
		{"code_execute", `{"code": "1"}`, "Run `code_execute`?"},
		{"launch", `{"target": "it"}`, "Run `launch`?"},
		{"launch", `[]`, "Run `launch`?"},
	} {
		if got := w.effect(c.tool, json.RawMessage(c.arguments)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.arguments, got, c.want)
		}
	}
}
