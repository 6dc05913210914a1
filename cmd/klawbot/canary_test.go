package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestSecretsAppearNowhere drives a bot through good and bad answers of both
// sides, those that echo the token among them, and looks for the token and the
// key in everything that it wrote or sent.
func TestSecretsAppearNowhere(t *testing.T) {
	t.Parallel() // it mostly waits
	const chat = 11
	r := newRig(t, "edit", chat)
	for _, method := range []string{"sendMessage", "editMessageText", "getUpdates", "sendChatAction", "getMe", "setMyCommands"} {
		r.telegram.Fault(telegramtest.Fault{Method: method, Kind: telegramtest.FaultHTML})
		r.telegram.Fault(telegramtest.Fault{Method: method, Kind: telegramtest.FaultReset})
	}
	for _, reply := range []modeltest.Reply{
		modeltest.Error(401, "Incorrect API key provided: "+canaryKey),
		modeltest.Error(400, "bad header Authorization: Bearer "+canaryKey),
		modeltest.CallTool("file_write", map[string]any{"path": "a.txt", "content": "x"}),
		modeltest.Text("the key is " + canaryKey + " and the token " + r.telegram.Token()),
		modeltest.CallTool("file_read", map[string]any{"path": "../../config.yaml"}),
		modeltest.Text("ready"),
	} {
		reply.Delay = time.Second // in which the placeholder comes, which meets the first fault
		r.model.Push(reply)
	}
	b := r.start("")
	person := r.telegram.User(chat)
	for i, text := range []string{"one", "two", "three", "four"} {
		person.Send(text)
		r.wait(b, "answer to "+text, func(v telegramtest.State) bool {
			n := 0
			for _, m := range v.Messages(chat) {
				if m.Bot && !m.Deleted && m.Text != "…" {
					n++
				}
			}
			return n > i
		})
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	secrets := [][]byte{[]byte(canaryKey), []byte(r.telegram.Token())}
	look := func(where string, text []byte) {
		for _, s := range secrets {
			if i := bytes.Index(text, s); i >= 0 {
				t.Errorf("%s holds %s: …%s…", where, s, text[max(0, i-80):i])
			}
		}
	}
	look("the log", []byte(b.log.String()))
	for _, m := range r.telegram.Messages(chat) {
		if m.Bot {
			look("a message", []byte(m.Text))
		}
	}
	err := filepath.WalkDir(filepath.Join(r.dir, "data"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		look(path, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
