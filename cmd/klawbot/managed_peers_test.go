//go:build peers && linux

package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/internal/llamatest"
	"klawbot/internal/telegramtest"
)

// managedRig is a rig whose bot runs a real model on this machine. The workspace has a
// short persona, because the tests share two processors with the model.
func managedRig(t *testing.T) *rig {
	t.Helper()
	program, weights := llamatest.Files(t)
	r := newRig(t, "edit", peerChat)
	text, err := os.ReadFile(r.config)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "models:")
	models := fmt.Sprintf(`models:
  default: home
  providers: {local: {type: managed, context: 8192, program: %s}}
  entries: {home: {provider: local, model: %s, maxTokens: 12, compat: {}}}
memory: {embedding: {type: off}}
`, program, weights)
	if err := os.WriteFile(r.config, []byte(before+models), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// models are the model servers of the rig's bot: others on this machine have other folders.
func (r *rig) models() (pids []int) {
	r.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		r.t.Fatal(err)
	}
	folder := filepath.Join(r.dir, "data", "localmodel")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(line), folder) {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(file, "/")[2])
		if err != nil {
			r.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// waitGone waits until no model server of the rig is left.
func (r *rig) waitGone() {
	r.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(10 * time.Second); len(r.models()) > 0; {
		select {
		case <-tick.C:
		case <-end:
			r.t.Fatalf("the model servers %v are left", r.models())
		}
	}
}

// TestPeerManagedModel kills the bot and its model at random moments, KILLS times. Each
// message is answered, and answered once, and no model server outlives its bot.
func TestPeerManagedModel(t *testing.T) {
	r := managedRig(t)
	kills, err := strconv.Atoi(cmp.Or(os.Getenv("KILLS"), "4"))
	if err != nil {
		t.Fatal(err)
	}
	b := r.start("")
	began := time.Now()
	r.answers(b, r.says("Say OK."))
	t.Logf("first answer after %s", time.Since(began).Round(100*time.Millisecond))
	var bots, models, repeats, lost int
	for n := range kills {
		asked := r.says(fmt.Sprintf("Say the number %d.", n))
		<-time.After(time.Duration(rand.Int64N(int64(3 * time.Second)))) // the moment of the kill
		pids := r.models()
		killModel := n%2 == 0 && len(pids) > 0
		if killModel {
			models++
			_ = syscall.Kill(pids[0], syscall.SIGKILL)
		} else {
			bots++
			b.kill()
			r.waitGone()
			b = r.start("")
		}
		r.answers(b, asked)
		again, left := r.answeredOnce(asked)
		repeats, lost = repeats+again, lost+left
		if left > 0 && killModel {
			t.Errorf("a placeholder is left although only the model was killed")
		}
		if t.Failed() {
			break
		}
		if (n+1)%10 == 0 {
			t.Logf("%d kills after %s", n+1, time.Since(began).Round(time.Second))
		}
	}
	t.Logf("killed were %d bots and %d models; %d messages were sent again with a mark, %d placeholders are left", bots, models, repeats, lost)
	if lost > 1+kills/10 {
		t.Errorf("%d placeholders are left", lost)
	}
	r.answers(b, r.says("Say goodbye."))
	b.ends(t)
	r.waitGone()
	if t.Failed() {
		t.Logf("%s\n%s", r.telegram.Transcript(peerChat), tailOf(b.log.String()))
	}
}

// answeredOnce wants one answer behind a message that is answered. It returns how many
// messages were sent again with a mark because their delivery was unconfirmed, and how
// many placeholders stay: those whose bot was killed before Telegram said that it has them.
func (r *rig) answeredOnce(asked int64) (repeats, lost int) {
	r.t.Helper()
	r.telegram.View(func(v telegramtest.State) {
		finals := 0
		for _, m := range v.Messages(peerChat) {
			switch {
			case !m.Bot || m.Deleted || m.ID < asked:
			case m.Text == "…" || waits(m.Text):
				lost++
			case strings.HasPrefix(m.Text, "↻"):
				repeats++
			default:
				finals++
			}
		}
		if finals != 1 {
			r.t.Errorf("%d answers to a message", finals)
		}
	})
	return repeats, lost
}

// waits reports whether a text is what a chat shows while the model loads or reads.
func waits(text string) bool {
	return strings.HasPrefix(text, "Loading") || strings.HasPrefix(text, "Reading")
}

// answers waits until everything is answered and sent: what a chat shows before is no
// answer yet.
func (r *rig) answers(b *process, after int64) {
	r.t.Helper()
	r.wait(b, "an answer", func(v telegramtest.State) bool {
		for _, m := range v.Messages(peerChat) {
			if m.Bot && !m.Deleted && m.ID > after {
				return true
			}
		}
		return false
	})
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(10 * time.Minute); ; { // a processor that others use reads slowly
		report, err := bot.AskStatus(r.t.Context(), filepath.Join(r.dir, "data"))
		if err == nil && report.Running == 0 && report.Inbox.Waiting == 0 && report.Outbox.Waiting == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-end:
			r.t.Fatalf("work is left: %+v, %v\nlog:\n%s", report, err, tailOf(b.log.String()))
		}
	}
}

// TestPeerManagedPrefix wants a second start to use what the first one has read. How
// long that takes is logged: on a fast machine there is little to save.
func TestPeerManagedPrefix(t *testing.T) {
	r := managedRig(t)
	took := make([]time.Duration, 2)
	for i := range took {
		b := r.start("")
		if i > 0 {
			r.replies(b, r.says("/new"), "(?i)new conversation")
		}
		began := time.Now()
		r.answers(b, r.says("Say OK."))
		took[i] = time.Since(began)
		b.ends(t)
		r.waitGone()
	}
	t.Logf("first answer after %s, with the saved prefix after %s", took[0].Round(100*time.Millisecond), took[1].Round(100*time.Millisecond))
	kept, err := filepath.Glob(filepath.Join(r.dir, "data", "localmodel", "prefixes", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != 1 || strings.HasSuffix(kept[0], ".useless") {
		t.Errorf("kept are %v, want one prefix that both starts used", kept)
	}
}
