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

	"klawbot/internal/llamatest"
	"klawbot/internal/telegramtest"
)

// managedRig is a rig whose bot runs a real model on this machine. The workspace has a
// short persona, because the tests share two processors with the model.
func managedRig(t *testing.T) (r *rig, program string) {
	t.Helper()
	program, weights := llamatest.Files(t)
	r = newRig(t, "edit", peerChat)
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
	return r, program
}

// running are the processes of a program.
func running(t *testing.T, program string) (pids []int) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == program {
			pid, err := strconv.Atoi(strings.Split(link, "/")[2])
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// waitGone waits until no process of a program is left.
func waitGone(t *testing.T, program string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(10 * time.Second); len(running(t, program)) > 0; {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%v are left of %s", running(t, program), program)
		}
	}
}

// TestPeerManagedModel kills the bot and its model at random moments, KILLS times. Each
// message is answered once, and no model server outlives its bot.
func TestPeerManagedModel(t *testing.T) {
	r, program := managedRig(t)
	kills, err := strconv.Atoi(cmp.Or(os.Getenv("KILLS"), "4"))
	if err != nil {
		t.Fatal(err)
	}
	b := r.start("")
	began := time.Now()
	r.answers(b, r.says("Say OK."))
	t.Logf("first answer after %s", time.Since(began).Round(100*time.Millisecond))
	var asked []int64
	for n := range kills {
		asked = append(asked, r.says(fmt.Sprintf("Say the number %d.", n)))
		<-time.After(time.Duration(rand.Int64N(int64(3 * time.Second)))) // the moment of the kill
		if pids := running(t, program); n%2 == 0 && len(pids) > 0 {
			_ = syscall.Kill(pids[0], syscall.SIGKILL)
			continue
		}
		b.kill()
		waitGone(t, program)
		b = r.start("")
	}
	last := r.says("Say goodbye.")
	r.answers(b, last)
	b.ends(t)
	waitGone(t, program)
	r.telegram.View(func(v telegramtest.State) {
		finals := 0
		for _, m := range v.Messages(peerChat) {
			switch {
			case !m.Bot || m.Deleted:
			case m.Text == "…" || waits(m.Text):
				t.Errorf("the placeholder %q is left", m.Text)
			case m.ID > asked[0]:
				finals++
			}
		}
		if finals > len(asked)+1 {
			t.Errorf("%d answers to %d messages", finals, len(asked)+1)
		}
	})
	if t.Failed() {
		t.Logf("%s\n%s", r.telegram.Transcript(peerChat), tailOf(b.log.String()))
	}
}

// waits reports whether a text is what a chat shows while the model loads or reads.
func waits(text string) bool {
	return strings.HasPrefix(text, "Loading") || strings.HasPrefix(text, "Reading")
}

// answers waits until the model has answered behind a message.
func (r *rig) answers(b *process, after int64) {
	r.t.Helper()
	r.wait(b, "an answer", func(v telegramtest.State) bool {
		for _, m := range v.Messages(peerChat) {
			if m.Bot && !m.Deleted && m.ID > after && m.Text != "…" && !waits(m.Text) {
				return true
			}
		}
		return false
	})
}

// TestPeerManagedPrefix wants a second start to use what the first one has read. How
// long that takes is logged: on a fast machine there is little to save.
func TestPeerManagedPrefix(t *testing.T) {
	r, program := managedRig(t)
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
		waitGone(t, program)
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
