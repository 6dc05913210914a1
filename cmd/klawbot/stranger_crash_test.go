//go:build crash

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"klawbot/internal/telegramtest"
)

// TestKilledBesideAStranger kills the bot while it asks the owner about an unknown sender,
// and while it lets them in. The owner is asked once, and the button counts once.
func TestKilledBesideAStranger(t *testing.T) {
	for _, point := range []string{"outbox.sending", "outbox.delivered", "stranger.decided"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "off", owner)
			r.edit("    streaming:", fmt.Sprintf("    ownerIds: [%d]\n    streaming:", owner))
			r.telegram.AddChat(telegramtest.Chat{ID: owner}, telegramtest.Open)
			b := r.start("", "KLAWBOT_CRASH="+point)
			r.telegram.User(stranger).Send("let me in")
			if point == "stranger.decided" {
				r.pressAllow(b)
			}
			<-b.exited
			b = r.again(b)
			if point != "stranger.decided" {
				r.pressAllow(b)
			}
			r.wait(b, "the owner reads what came of it", func(v telegramtest.State) bool {
				return reads(v, "Undo: klawbot deny 66")
			})
			text, err := os.ReadFile(r.config)
			if err != nil || !strings.Contains(string(text), "allowedChatIds: [11, 66]") {
				t.Errorf("the configuration is %s, %v", text, err)
			}
			if code := b.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
			}
			asked, marked := 0, 0
			for _, m := range r.telegram.Messages(owner) {
				if m.Bot && strings.Contains(m.Text, "🚪") {
					asked++
				}
				if strings.HasPrefix(m.Text, "↻") {
					marked++
				}
			}
			if asked-marked != 1 {
				t.Errorf("asked %d times, %d of them marked: %s", asked, marked, r.telegram.Transcript(owner))
			}
		})
	}
}

// pressAllow waits for the question about the stranger and lets them in.
func (r *rig) pressAllow(b *process) {
	r.t.Helper()
	r.wait(b, "the owner is asked", func(v telegramtest.State) bool { return reads(v, "🚪") })
	if _, err := r.telegram.User(owner).Press(0, "✅ Allow"); err != nil {
		r.t.Fatal(err)
	}
}

// reads reports whether a message to the owner holds a text.
func reads(v telegramtest.State, text string) bool {
	for _, m := range v.Messages(owner) {
		if m.Bot && strings.Contains(m.Text, text) {
			return true
		}
	}
	return false
}

// TestFloodOfStrangers: whatever many people write, the owner reads five messages, the
// strangers nothing, and the owner is answered.
func TestFloodOfStrangers(t *testing.T) {
	r := newRig(t, "off", owner)
	r.edit("    streaming:", fmt.Sprintf("    ownerIds: [%d]\n    streaming:", owner))
	r.telegram.AddChat(telegramtest.Chat{ID: owner}, telegramtest.Open)
	b := r.start("")
	for i := range int64(2000) {
		r.telegram.User(1000 + i%1500).Send("let me in")
	}
	r.telegram.User(owner).Send("/help")
	began := time.Now()
	r.wait(b, "the owner is answered", func(v telegramtest.State) bool {
		return v.Pending() == 0 && reads(v, "/remind")
	})
	t.Logf("2,000 messages took %v", time.Since(began))
	asked := 0
	for _, m := range r.telegram.Messages(owner) {
		if m.Bot && strings.Contains(m.Text, "🚪") {
			asked++
		}
	}
	if asked != 5 || len(r.model.Completions()) > 0 {
		t.Errorf("the owner was asked %d times, the model %d times", asked, len(r.model.Completions()))
	}
	for _, c := range r.telegram.Calls("") {
		if c.Chat != 0 && c.Chat != owner {
			t.Errorf("%s to chat %d", c.Method, c.Chat)
		}
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
}
