package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/internal/telegramtest"
)

// serveLitestream stands for Litestream in tests without it: it says that it replicates
// everything, until the file "broken" is beside its configuration.
func serveLitestream() {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	body, err := os.ReadFile(os.Args[len(os.Args)-1])
	if err != nil {
		fail(err)
	}
	var c struct{ Socket struct{ Path string } }
	if err := json.Unmarshal(body, &c); err != nil {
		fail(err)
	}
	l, err := net.Listen("unix", c.Socket.Path)
	if err != nil {
		fail(err)
	}
	fail(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat("broken"); err == nil {
			http.Error(w, "the bucket is full", http.StatusInternalServerError)
		}
	})))
}

// waitFor looks again and again until ok.
func waitFor(t *testing.T, what string, look func() (ok bool, seen string)) {
	t.Helper()
	late := time.NewTimer(scriptTimeout)
	defer late.Stop()
	for {
		ok, seen := look()
		if ok {
			return
		}
		select {
		case <-late.C:
			t.Fatalf("%s: not in time; the last was:\n%s", what, seen)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestStandbyIsSeen runs a bot with a standby: its status, doctor and metrics show the
// lease and the age of the replica, and say when the replica falls behind.
func TestStandbyIsSeen(t *testing.T) {
	address := freeAddress(t)
	r := withHealth(t, address)
	replica := t.TempDir()
	r.configure("health:", fmt.Sprintf("standby: {to: %q, host: attic, litestream: litestream-double}\nhealth:", replica))
	klawbot := func(args ...string) string {
		b := r.startAs(args, "")
		<-b.exited
		return b.log.String()
	}
	if text := klawbot("doctor"); !strings.Contains(text, "standby    no replica yet") {
		t.Errorf("doctor without a replica:\n%s", text)
	}
	b := r.start("")
	r.wait(b, "it polls", telegramtest.State.Polling)
	waitFor(t, "the replica is complete", func() (bool, string) {
		text := klawbot("status")
		return strings.Contains(text, "standby: attic runs the bot (epoch 1), lease renewed ") && strings.Contains(text, "s ago, replica ") && !strings.Contains(text, "replica –"), text
	})
	if text := klawbot("doctor"); !strings.Contains(text, "✓ standby    attic runs the bot (epoch 1)") {
		t.Errorf("doctor beside the bot:\n%s", text)
	}
	body := ""
	waitFor(t, "the replica can be taken over", func() (bool, string) { // its age is known before
		_, body = get(t, "http://"+address+"/metrics")
		return strings.Contains(body, "klawbot_standby_complete 1\n"), body
	})
	for _, want := range []string{"klawbot_standby_epoch 1\n", "klawbot_standby_lease_age_seconds ",
		`klawbot_standby_replica_age_seconds{part="database"} `, `klawbot_standby_replica_age_seconds{part="files"} `} {
		if !strings.Contains(body, want) {
			t.Errorf("/metrics lacks %q", want)
		}
	}
	if shown := checkDashboard(t, body, true); shown != 4 {
		t.Errorf("the dashboard shows %d metrics of the standby", shown)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "data", "standby", "broken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the fault is told", func() (bool, string) {
		text := klawbot("status")
		return strings.Contains(text, "; litestream: HTTP 500 the bucket is full"), text
	})
	if text := klawbot("doctor"); !strings.Contains(text, "✗ standby    attic runs the bot") {
		t.Errorf("doctor with a replica that fails:\n%s", text)
	}
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	if text := klawbot("doctor"); !strings.Contains(text, "✓ standby    attic ran the bot last (epoch 1)") {
		t.Errorf("doctor on a host that waits:\n%s", text)
	}
}

// TestStandbyWaits asks a host that waits how it does: it says so, which host runs the bot
// and how old the replica is; and it is unhealthy while there is no replica.
func TestStandbyWaits(t *testing.T) {
	address, replica := freeAddress(t), t.TempDir()
	first := newRig(t, "off", 11)
	first.configure("health:", fmt.Sprintf("standby: {to: %q, host: attic, litestream: litestream-double}\nhealth:", replica))
	second := *first
	second.dir = t.TempDir()
	second.config = filepath.Join(second.dir, "config.yaml")
	body, err := os.ReadFile(first.config)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(body), filepath.Join(first.dir, "data"), filepath.Join(second.dir, "data"), 1)
	if err := os.WriteFile(second.config, []byte(strings.Replace(text, "host: attic", "host: cellar", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	second.configure(`health: {listen: ""}`, fmt.Sprintf("health: {listen: %q}", address))
	klawbot := func(args ...string) (int, string) {
		b := second.startAs(args, "")
		<-b.exited
		return b.cmd.ProcessState.ExitCode(), b.log.String()
	}
	waits := second.startAs([]string{"standby"}, "")
	waitFor(t, "the host waits for a replica", func() (bool, string) {
		code, text := klawbot("health")
		return code == exitFailed && strings.Contains(text, "no replica yet in "+replica), text
	})
	if code, body := get(t, "http://"+address+"/healthz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "no host has run the bot yet") {
		t.Errorf("without a replica the health page answers %d %s", code, body)
	}
	if code, text := klawbot("standby"); code != exitFailed || !strings.Contains(text, "already uses ") {
		t.Errorf("a second process on the same directory ended with %d\n%s", code, text)
	}
	active := first.start("")
	first.wait(active, "the first host polls", telegramtest.State.Polling)
	const sees = "standby: waiting; attic runs the bot (epoch 1), lease renewed "
	waitFor(t, "status tells the age of the replica", func() (bool, string) {
		code, text := klawbot("status")
		return code == exitOK && strings.Contains(text, sees) && strings.Contains(text, "s ago, replica ") && !strings.Contains(text, "replica –"), text
	})
	if code, body := get(t, "http://"+address+"/healthz"); code != http.StatusOK || !strings.Contains(body, `"standby":"waiting; attic runs the bot (epoch 1)`) {
		t.Errorf("the health page answers %d %s", code, body)
	}
	if code, text := klawbot("health"); code != exitOK || text != "ok, waiting\n" {
		t.Errorf("health ended with %d\n%s", code, text)
	}
	if _, text := klawbot("doctor"); !strings.Contains(text, "waiting; the other host runs it") || !strings.Contains(text, "✓ standby    waiting; attic runs the bot") {
		t.Errorf("doctor says\n%s", text)
	}
	if code, text := klawbot("chat", "-m", "hello"); code != exitFailed || !strings.Contains(text, "this host waits") {
		t.Errorf("chat ended with %d\n%s", code, text)
	}
	if code := waits.stop(); code != exitOK {
		t.Errorf("exit code %d\n%s", code, tailOf(waits.log.String()))
	}
	if _, err := os.Stat(filepath.Join(second.dir, "data", "klawbot.sock")); err == nil {
		t.Error("the socket is still there")
	}
}
