package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/gateway"
	"klawbot/internal/modeltest"
)

// TestModelsAreToldNoSecret: what a person wrote and what a model asked for go to the
// model, and to the tools, without known secrets; a key of the person's own stays.
func TestModelsAreToldNoSecret(t *testing.T) {
	const known, own = "key-of-the-roof-1234", "sk-of-the-person-0123456789"
	h := build(t)
	h.redact.Add(known)
	h.model.Push(
		modeltest.CallTool("file_write", map[string]any{"path": "a.txt", "content": known + " " + own}),
		modeltest.Text("done"), modeltest.Text("once more"),
	)
	h.start().says(alice, "keep "+known+" and "+own)
	h.shows(alice, "done")
	if text := h.content("a.txt"); text != "[redacted] "+own {
		t.Errorf("the file holds %q", text)
	}
	h.says(alice, "and "+known[:8]+"`"+known[8:]+"`")
	h.shows(alice, "done", "once more")
	requests := h.model.Completions()
	for _, r := range requests {
		if bytes.Contains(r.Body, []byte("roof-1234")) {
			t.Errorf("the model was told %s", r.Body)
		}
	}
	if first := said(requests[0]); !strings.Contains(first, own) {
		t.Errorf("the model was not told the key of the person: %q", first)
	}
	if last := requests[len(requests)-1].Body; bytes.Contains(last, []byte(own)) {
		t.Errorf("the key of the person was stored: %s", last)
	}
}

// TestCommandWhoseSecretIsLost: a command that waits for a start is not run without the
// secret that it held.
func TestCommandWhoseSecretIsLost(t *testing.T) {
	const known = "key-of-the-roof-1234"
	h := build(t)
	h.redact.Add(known)
	h.start()
	command := h.next(messageOf(alice, `/tool file_write {"path": "a.txt", "content": "`+known+`"}`))
	harmless := h.next(messageOf(alice, "/note █ [redacted]"))
	h.stop() // nothing is dispatched any more
	h.accept(command, harmless)
	h.end()
	h.start()
	h.shows(alice, "```\nError: the bot restarted before this command ran; the command contained a secret, which is not stored. Send it again if you still need it\n```", "Saved in notes.md.")
	if text := h.content("a.txt"); text != "" {
		t.Errorf("the file holds %q", text)
	}
}

// messageOf is a message of a person's private chat.
func messageOf(person int64, text string) gateway.Message {
	return gateway.Message{Address: private(person), Sender: gateway.Sender{ID: person, Name: "Person"}, Text: text}
}

// content is what a file of the workspace holds, "" when there is none.
func (h *house) content(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.workspace(), name))
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	return string(text)
}
