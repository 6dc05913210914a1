//go:build peers && linux

package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"klawbot/internal/llamatest"
	"klawbot/internal/telegramtest"
)

// evening is what a person writes in one evening, and what must come back: with "" any
// answer of the model.
var evening = []struct{ says, answer string }{
	{"Hi! Who are you?", ""},
	{"My name is Anna and I live in Berlin.", ""},
	{"What is my name?", ""},
	{"/note buy milk", "Saved in notes.md"},
	{"/note call mom", "Saved in notes.md"},
	{"/files", "notes.md"},
	{"/tool file_read {\"path\": \"notes.md\"}", "buy milk"},
	{"Tell me a joke.", ""},
	{"/remind in 2s the tea is ready", "tea is ready"},
	{"Write one sentence about the sea.", ""},
	{"Напиши одно предложение о море.", ""},
	{"/status", "Model: main"},
	{"/tool current_time {}", "20[0-9][0-9]-"},
	{"/new", "(?i)new conversation"},
	{"Hello again.", ""},
	{"/schedule", "(?i)schedule|nothing|no "},
	{"/tool memory_save {\"content\": \"Anna likes green tea\"}", "(?i)saved|remembered|stored"},
	{"/memory search tea", "green tea"},
	{"What should I drink?", ""},
	{"/remind in 1 hour water the plants", "water the plants"},
	{"/schedule", "plants"},
	{"<think>secret</think> What does this tag mean?", ""},
	{"/models", "main"},
	{"Good night!", ""},
	{"/help", "/remind"},
	{"/skills", ""},
	{"/docs", ""},
	{"/tool file_list {}", "notes.md"},
	{"/tool memory_core_get {}", ""},
	{"/heartbeat", ""},
}

// internals are what no person may read of a model.
var internals = regexp.MustCompile(`<\|[a-z_]+\|>|</?tool_call>|\[TOOL_CALLS\]`)

// sent is how many messages of the bot have left for good.
func (b *process) sent() int { return strings.Count(b.log.String(), `msg="reply out"`) }

// waitSent waits until more than so many have left.
func (b *process) waitSent(t *testing.T, before int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(2 * time.Minute); b.sent() <= before; {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("no answer has left:\n%s", tailOf(b.log.String()))
		}
	}
}

// TestPeerEvening lets a person talk with a real small model for 30 turns, with a restart
// in the middle. Every message is answered, the reminder comes, and nothing of the
// model's inside is shown. The transcript is logged, to be read.
func TestPeerEvening(t *testing.T) {
	s := llamatest.Start(t, 8192)
	r := peerRig(t, s, 8000)
	r.edit("    token:", "    ownerIds: [11]\n    token:")
	b := r.start("")
	defer func() { t.Logf("%s", r.telegram.Transcript(peerChat)) }()
	for i, turn := range evening {
		if i == len(evening)/2 {
			b.kill()
			b = r.start("")
		}
		answer := turn.answer
		if answer == "" {
			answer = anyAnswer
		}
		before := b.sent()
		id := r.says(turn.says)
		b.waitSent(t, before)
		r.replies(b, id, answer)
	}
	r.replies(b, 0, "⏰.*tea is ready|tea is ready")
	b.ends(t)
	r.telegram.View(func(v telegramtest.State) {
		for _, m := range v.Messages(peerChat) {
			switch {
			case !m.Bot || m.Deleted:
			case m.Text == "…" || strings.TrimSpace(m.Text) == "":
				t.Errorf("the placeholder %q is left", m.Text)
			case internals.MatchString(m.Text) || unwell.MatchString(m.Text):
				t.Errorf("the person reads %q", m.Text)
			}
		}
	})
}
