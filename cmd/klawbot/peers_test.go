//go:build peers && linux

package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"klawbot/internal/llamatest"
	"klawbot/internal/telegramtest"
)

const peerChat = 11

// peerRig is a rig whose bot talks to a real model server: briefly with the
// model "main", and with "long" for as long as it may.
func peerRig(t *testing.T, s *llamatest.Server, window int) *rig {
	t.Helper()
	r := newRig(t, "edit", peerChat)
	text, err := os.ReadFile(r.config)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "models:")
	entry := `{provider: llama, model: ` + llamatest.Model + `, contextBudget: %d, maxTokens: %d, compat: {extraBody: {temperature: 0%s}}}`
	models := "models:\n  default: main\n  providers: {llama: {type: openai, baseURL: " + s.URL + "/v1}}\n  entries:\n" +
		"    main: " + fmt.Sprintf(entry, window, 24, "") + "\n    long: " + fmt.Sprintf(entry, window, 2000, ", ignore_eos: true") + "\n  retries: 1\n"
	if err := os.WriteFile(r.config, []byte(before+models), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// says lets the person write, and returns the id that answers come behind.
func (r *rig) says(text string) int64 { return r.telegram.User(peerChat).Send(text) }

// replies waits until a message of the bot behind the id has such a text.
func (r *rig) replies(b *process, after int64, pattern string) string {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	m, err := r.telegram.WaitText(ctx, peerChat, after, regexp.MustCompile(pattern))
	if err != nil {
		r.t.Fatalf("%v\n%s\nlog:\n%s", err, r.telegram.Transcript(peerChat), tailOf(b.log.String()))
	}
	return m.Text
}

// logs waits until the log of a bot has a text.
func (b *process) logs(t *testing.T, text string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(30 * time.Second); !strings.Contains(b.log.String(), text); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("the log has no %q:\n%s", text, tailOf(b.log.String()))
		}
	}
}

// ends stops the bot in good order.
func (b *process) ends(t *testing.T) {
	t.Helper()
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
}

const (
	peerWaits = `^…$`
	anyAnswer = `[^…\s]`
)

// unwell are the bot's own sentences about a model that does not answer.
var unwell = regexp.MustCompile(`^The model (is unavailable|stopped mid-answer|is overloaded)`)

func TestPeerBotWaitsForAModelThatLoads(t *testing.T) {
	s, loaded := llamatest.StartLoading(t, 8192)
	r := peerRig(t, s, 8000)
	b := r.start("")
	id := r.says("Say OK.")
	r.replies(b, id, peerWaits)
	b.logs(t, "Loading model")
	loaded()
	if answer := r.replies(b, id, anyAnswer); unwell.MatchString(answer) {
		t.Errorf("the answer is %q", answer)
	}
	b.ends(t)
}

// TestPeerBotSurvivesItsModel kills the server in the middle of an answer. The
// person gets one message about it, and an answer when the server is back.
func TestPeerBotSurvivesItsModel(t *testing.T) {
	s := llamatest.Start(t, 8192)
	r := peerRig(t, s, 8000)
	b := r.start("")
	r.replies(b, r.says("/model long"), "long")
	id := r.says("Tell me a story.")
	r.replies(b, id, anyAnswer) // a preview of an answer that does not end
	s.Kill()
	r.replies(b, id, unwell.String())
	r.replies(b, r.says("/model main"), "main")
	s.Restart()
	next := r.says("Say OK.")
	if answer := r.replies(b, next, anyAnswer); unwell.MatchString(answer) {
		t.Errorf("the answer is %q", answer)
	}
	b.ends(t)
	r.telegram.View(func(v telegramtest.State) {
		n := 0
		for _, m := range v.Messages(peerChat) {
			if m.Bot && !m.Deleted && m.ID > id && unwell.MatchString(m.Text) {
				n++
			}
			if m.Bot && !m.Deleted && m.Text == "…" {
				t.Error("a placeholder is left")
			}
		}
		if n != 1 {
			t.Errorf("%d messages tell of the failure, want 1", n)
		}
	})
}

// TestPeerBotStopsAnAnswer wants the server's only slot back.
func TestPeerBotStopsAnAnswer(t *testing.T) {
	s := llamatest.Start(t, 8192)
	r := peerRig(t, s, 8000)
	b := r.start("")
	r.replies(b, r.says("/model long"), "long")
	r.replies(b, r.says("Tell me a story."), anyAnswer)
	s.WaitBusy()
	id := r.says("/stop")
	s.WaitIdle()
	r.replies(b, id, "Stopped")
	r.replies(b, r.says("/model main"), "main")
	if answer := r.replies(b, r.says("Say OK."), anyAnswer); unwell.MatchString(answer) {
		t.Errorf("the answer is %q", answer)
	}
	b.ends(t)
}

// TestPeerBotMeetsASmallWindow talks to a server whose window is smaller than
// the bot's request.
func TestPeerBotMeetsASmallWindow(t *testing.T) {
	s := llamatest.Start(t, 256)
	r := peerRig(t, s, 8000)
	b := r.start("")
	r.replies(b, r.says("Say OK."), "^This conversation is too long for the model")
	b.ends(t)
}
