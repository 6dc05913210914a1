package main

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

var update = flag.Bool("update", false, "rewrite the transcript of the manual")

// TestTranscriptOfTheManual plays the conversation of doc/conversation.md: the
// model writes a file, edits it, breaks it and takes that back, and the person
// uses the buttons. The page shows what the person sees, to the letter.
func TestTranscriptOfTheManual(t *testing.T) {
	const chat = 11
	r := newRig(t, "off", chat)
	config, err := os.OpenFile(r.config, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := config.WriteString("tools: {policy: {ask: [file_write, file_edit, file_undo]}}\n"); err != nil {
		t.Fatal(err)
	}
	if err := config.Close(); err != nil {
		t.Fatal(err)
	}
	b := r.start("")
	person := r.telegram.User(chat)
	say := func(text string, call modeltest.Reply, button, answer string) {
		t.Helper()
		r.model.Push(call, modeltest.Text(answer))
		person.Send(text)
		var question telegramtest.Message
		r.wait(b, "the question", func(v telegramtest.State) bool {
			for _, m := range v.Messages(chat) {
				if _, ok := m.Button(button); ok && m.Bot {
					question = m
					return true
				}
			}
			return false
		})
		if _, err := person.Press(question.ID, button); err != nil {
			t.Fatal(err)
		}
		pattern := regexp.MustCompile("^" + regexp.QuoteMeta(answer) + "$")
		r.wait(b, "the answer", func(v telegramtest.State) bool {
			_, found := v.Find(chat, 0, pattern)
			return found
		})
	}
	const once, no = "Allow once", "Deny"
	say("Start a shopping list: milk, bread", modeltest.CallTool("file_write", map[string]any{"path": "shopping.md", "content": "- milk\n- bread\n"}),
		once, "Your list is in shopping.md: milk, bread.")
	say("Not bread, rolls", modeltest.CallTool("file_edit", map[string]any{"path": "shopping.md", "old_str": "bread", "new_str": "rolls"}),
		once, "Done: milk, rolls.")
	say("Now empty it", modeltest.CallTool("file_write", map[string]any{"path": "shopping.md", "content": ""}),
		once, "The list is empty.")
	say("No, that was wrong, take it back", modeltest.CallTool("file_undo", map[string]any{"action": "revert"}),
		once, "The list is back: milk, rolls.")
	say("And delete all my notes", modeltest.CallTool("file_write", map[string]any{"path": "notes.md", "content": ""}),
		no, "As you wish: I have changed nothing.")
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if list, err := os.ReadFile(r.workspace() + "/shopping.md"); err != nil || string(list) != "- milk\n- rolls\n" {
		t.Errorf("the list holds %q (%v)", list, err)
	}
	// How often a message was edited until it said so depends on the machine.
	checkTranscript(t, strings.ReplaceAll(r.telegram.Transcript(chat), " (edited)", ""))
}

func checkTranscript(t *testing.T, got string) {
	t.Helper()
	const page, open, end = "../../doc/conversation.md", "```text\n", "```\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), open)
	want, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no block of text", page)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+open+got+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("the page shows\n%s\nthe person saw\n%s", want, got)
	}
}
