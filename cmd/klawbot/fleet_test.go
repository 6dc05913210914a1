package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"klawbot/cmd/klawbot/internal/bot"
	"klawbot/internal/telegramtest"
)

// TestSeveralBots runs two bots and a broken one, kills the first, and asks the other.
func TestSeveralBots(t *testing.T) {
	all, address := t.TempDir(), freeAddress(t)
	rigs := map[string]*rig{}
	for _, name := range []string{"anna", "family"} {
		r := newRig(t, "off", 11)
		r.model.Respond(worker(0))
		body, err := os.ReadFile(r.config)
		if err != nil {
			t.Fatal(err)
		}
		r.dir = filepath.Join(all, name)
		if err := os.Mkdir(r.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.dir, "config.yaml"), body, 0o600); err != nil {
			t.Fatal(err)
		}
		rigs[name] = r
	}
	broken := filepath.Join(all, "broken")
	if err := os.Mkdir(broken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "config.yaml"), []byte("channels: {telegram: {toke: x}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{exited: make(chan struct{}), log: &syncBuffer{}}
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Args = []string{"klawbot", "run", "--all", all, "--listen", address}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its exit code is asked for with ProcessState
		close(p.exited)
	}()
	t.Cleanup(func() { p.stop() })
	anna, family := rigs["anna"], rigs["family"]
	for _, r := range rigs {
		r.telegram.User(11).Send("task 0")
		r.wait(p, "the bot answers", func(v telegramtest.State) bool { return answered(v, 11, 0) })
	}
	status, err := bot.AskStatus(t.Context(), anna.dir)
	if err != nil {
		t.Fatal(err)
	}
	polls, others := anna.telegram.Count("getMe"), family.telegram.Count("getMe")
	if err := syscall.Kill(status.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	anna.telegram.User(11).Send("task 1")
	anna.wait(p, "the killed bot is back", func(v telegramtest.State) bool { return v.Count("getMe") > polls && answered(v, 11, 1) })
	if family.telegram.Count("getMe") != others {
		t.Error("the other bot was started again")
	}
	code, body := get(t, "http://"+address+"/healthz")
	var page struct {
		OK   bool
		Bots map[string]struct {
			OK     bool
			Faults []string
		}
	}
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatal(err)
	}
	if code != 503 || page.OK || len(page.Bots) != 3 || !page.Bots["anna"].OK || !page.Bots["family"].OK || page.Bots["broken"].OK {
		t.Errorf("the health page answers %d %s", code, body)
	}
	if code := p.stop(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	log := p.log.String()
	for _, want := range []string{"anna: klawbot ", "family: klawbot ", "broken: ", "toke", `bot=broken again_in=1m0s`, "bot=anna"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(tailOf(log))
	}
}
