package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// canaries looks for the secrets of a rig.
type canaries struct {
	t       *testing.T
	secrets []string
}

// look fails when a text holds a secret, whatever stands between its letters.
func (c canaries) look(where string, text []byte) {
	c.t.Helper()
	plain := string(text)
	for _, s := range c.secrets {
		if i := strings.Index(plain, s); i >= 0 {
			c.t.Errorf("%s holds %s: …%s…", where, s, plain[max(0, i-80):i])
		}
	}
}

// lookClosely is look for what people read, where nothing that is no letter hides a
// secret.
func (c canaries) lookClosely(where, text string) {
	c.t.Helper()
	c.look(where, []byte(text))
	for _, s := range c.secrets {
		if strings.Contains(lettersOf(text), lettersOf(s)) {
			c.t.Errorf("%s shows %s: %s", where, s, text)
		}
	}
}

func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, text)
}

// lookBelow looks into all files of a folder, and into the archives among them.
func (c canaries) lookBelow(dir string) {
	c.t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		c.look(path, text)
		if unpacked, zipped := gzip.NewReader(bytes.NewReader(text)); zipped == nil {
			c.lookIn(path, unpacked)
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c canaries) lookIn(path string, archive io.Reader) {
	c.t.Helper()
	files := tar.NewReader(archive)
	for {
		h, err := files.Next()
		if err == io.EOF {
			return
		}
		text, readErr := io.ReadAll(files)
		if err != nil || readErr != nil {
			c.t.Fatalf("%s: %v, %v", path, err, readErr)
		}
		c.look(path+" "+h.Name, text)
	}
}

// inPieces are answers that show a secret only when they are rendered.
func inPieces(secret string) []string {
	a, b, c := secret[:4], secret[4:11], secret[11:]
	return []string{
		"`" + a + "`" + b + "**" + c + "**", "[" + a + "](https://example.org)" + b + c, a + "&#" + fmt.Sprint(b[0]) + ";" + b[1:] + c,
		"> " + a + "\u200b" + b + "\n> " + c, "| " + a + " | " + b + " | " + c + " |\n|---|---|---|\n| x |", "[here](https://example.org/?k=" + strings.ReplaceAll(secret, "a", "%61") + ")",
		"```" + secret + "\nx\n```", "- " + a + "\n- " + b + c,
	}
}

// TestSecretsAppearNowhere drives a bot through good and bad answers of both
// sides, those that echo the token among them, and looks for the token and the
// key in everything that it wrote or sent, to the chat, to the model, and into
// files, and in what the commands print and write.
func TestSecretsAppearNowhere(t *testing.T) {
	t.Parallel() // it mostly waits
	const chat = 11
	r := newRig(t, "edit", chat)
	token := r.telegram.Token()
	for _, method := range []string{"sendMessage", "editMessageText", "getUpdates", "sendChatAction", "getMe", "setMyCommands"} {
		r.telegram.Fault(telegramtest.Fault{Method: method, Kind: telegramtest.FaultHTML})
		r.telegram.Fault(telegramtest.Fault{Method: method, Kind: telegramtest.FaultReset})
	}
	for _, reply := range []modeltest.Reply{
		modeltest.Error(401, "Incorrect API key provided: "+canaryKey),
		modeltest.Error(401, "the bot "+token+" is not known, nor its address https://api.telegram.org/bot"+token),
		modeltest.Error(400, "bad header Authorization: Bearer "+canaryKey),
		modeltest.CallTool("file_write", map[string]any{"path": "a.txt", "content": "a copy of " + canaryKey + " and " + token}),
		modeltest.Text("the key is " + canaryKey + " and the token " + token),
		modeltest.CallTool("file_read", map[string]any{"path": "../../config.yaml"}),
		modeltest.CallTool("no_such_tool", map[string]any{"key " + canaryKey: []string{token}}),
		modeltest.Text("ready"),
	} {
		reply.Delay = time.Second // in which the placeholder comes, which meets the first fault
		r.model.Push(reply)
	}
	asked := []string{"one", "two", "three", "my own key is " + canaryKey + ", keep it", "five " + token}
	r.model.Push(modeltest.Text("noted"))
	for _, secret := range []string{canaryKey, token} {
		for _, text := range inPieces(secret) {
			r.model.Push(modeltest.Text("It is\n\n" + text + "\n\nthat is all."))
			asked = append(asked, "and now?")
		}
	}
	b := r.start("")
	person := r.telegram.User(chat)
	for i, text := range asked {
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
	printed := func(args ...string) string { // whatever the command thinks of the bot
		var out bytes.Buffer
		newApp(nil, strings.NewReader(""), &out, &out).execute(t.Context(), append([]string{"--config", r.config}, args...))
		return out.String()
	}
	status := printed("status", "--json") + printed("status") + printed("doctor")
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	c := canaries{t, []string{canaryKey, token}}
	c.look("the log", []byte(b.log.String()))
	for _, call := range r.telegram.Calls("") {
		params, err := json.Marshal(call.Params)
		if err != nil {
			t.Fatal(err)
		}
		c.lookClosely("a call of "+call.Method, string(params))
	}
	for _, request := range r.model.Completions() {
		c.look("a request to the model", request.Body)
	}
	out := t.TempDir()
	for name, format := range map[string]string{"e.tar.gz": "tar", "e.json": "json", "e.md": "md"} {
		r.command("export", "--format", format, filepath.Join(out, name))
	}
	r.command("backup", filepath.Join(out, "b.tar.gz"))
	c.lookBelow(out)
	c.lookBelow(filepath.Join(r.dir, "data"))
	c.look("what commands print", []byte(status+printed("logs", "-n", "1000")+printed("logs", "--json", "-n", "1000")+
		printed("memory", "list")+printed("approvals", "list")+printed("export", "-", "--format", "md")))
}
