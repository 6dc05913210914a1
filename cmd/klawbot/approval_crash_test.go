//go:build crash

package main

import (
	"os"
	"strings"
	"testing"

	"klawbot/internal/telegramtest"
)

// TestKilledBesideAQuestion kills the bot right after it has asked, and right
// after an answer, also before the messenger has told which message
// asks. The question is asked once, the answer counts, and the call runs once.
func TestKilledBesideAQuestion(t *testing.T) {
	for name, tt := range map[string]struct {
		point  string
		atOnce bool
	}{
		"asked":            {"approval.asked", false},
		"answered":         {"approval.answered", false},
		"answered at once": {"approval.answered", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killBeside(t, tt.point, tt.atOnce)
		})
	}
}

func killBeside(t *testing.T, point string, atOnce bool) {
	const chat = 11
	r := newRig(t, "off", chat)
	text, err := os.ReadFile(r.config)
	if err != nil {
		t.Fatal(err)
	}
	policy := "\ntools: {policy: {ask: [file_write]}}\n"
	if err := os.WriteFile(r.config, append(text, policy...), 0o600); err != nil {
		t.Fatal(err)
	}
	r.model.Respond(worker(0))
	b := r.start("", "KLAWBOT_CRASH="+point)
	if atOnce {
		r.losesReply("file_write")
	}
	r.telegram.User(chat).Send("task 0")
	if point == "approval.answered" {
		r.agree(b, chat)
	}
	<-b.exited
	r.telegram.Inject(nil)
	b = r.again(b)
	if point == "approval.asked" {
		r.agree(b, chat)
	}
	r.wait(b, "the task is answered", func(v telegramtest.State) bool { return answered(v, chat, 0) && v.Pending() == 0 })
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	r.count(chat, 1).check(t)
	questions := 0
	for _, m := range r.telegram.Messages(chat) {
		if m.Bot && strings.Contains(m.Text, "file_write") {
			questions++
			if !strings.Contains(m.Text, "Allowed once") {
				t.Errorf("a question shows %q", m.Text)
			}
		}
	}
	if questions != 1 {
		t.Errorf("%d questions", questions)
	}
}

// agree waits for a question and presses the first button.
func (r *rig) agree(b *process, chat int64) {
	r.t.Helper()
	r.wait(b, "a question", func(v telegramtest.State) bool {
		for _, m := range v.Messages(chat) {
			if _, asks := m.Button("Allow once"); m.Bot && asks {
				return true
			}
		}
		return false
	})
	if _, err := r.telegram.User(chat).Press(0, "Allow once"); err != nil {
		r.t.Fatal(err)
	}
}
