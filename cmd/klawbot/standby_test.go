//go:build soak

package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/needs"
	"klawbot/internal/telegramtest"
)

// The promises of doc/standby.md.
const (
	takeoverWithin = 30 * time.Second
	filesWithin    = 2 * time.Second
)

// leaseSeconds is the lease of the tests; the default is 15.
var leaseSeconds = envNumber("LEASE", 5)

// TestStandby kills the host that runs the bot, KILLS times at random moments while it
// works, and the other one takes over each time.
func TestStandby(t *testing.T) {
	t.Run("directory", func(t *testing.T) {
		standbyKills(t, envNumber("KILLS", 3), fmt.Sprintf("{to: %q, leaseSeconds: %d}", t.TempDir(), leaseSeconds))
	})
	t.Run("bucket", func(t *testing.T) {
		standbyKills(t, (envNumber("KILLS", 3)+4)/5, fmt.Sprintf(
			"{to: \"s3://klawbot/replica\", endpoint: %q, accessKeyId: key, secretAccessKey: secret-of-the-store, leaseSeconds: %d}", startS3(t), leaseSeconds))
	})
}

// startS3 runs an S3-compatible server with the bucket klawbot, and returns its address.
func startS3(t *testing.T) string {
	t.Helper()
	needs.Program(t, "gofakes3", "gofakes3")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("gofakes3", "-host", address, "-backend", "memory", "-initialbucket", "klawbot", "-quiet")
	server.Stdout, server.Stderr = os.Stderr, os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	soon(t, "the S3 server answers", func() bool {
		answer, err := http.Get("http://" + address + "/klawbot")
		return err == nil && answer.Body.Close() == nil
	})
	return "http://" + address
}

// soon waits for a condition.
func soon(t testing.TB, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); !condition(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not within two minutes", what)
		}
	}
}

// hosts are two hosts of one bot. Each has a data directory; Telegram, the model and the
// replica are the same.
type hosts struct {
	rigs [2]*rig
	run  [2]*process
	logs []*process
}

func newHosts(t *testing.T, chat int64, replica string) *hosts {
	first := newRig(t, "off", chat)
	body, err := os.ReadFile(first.config)
	if err != nil {
		t.Fatal(err)
	}
	second := *first
	second.dir = t.TempDir()
	second.config = filepath.Join(second.dir, "config.yaml")
	h := &hosts{rigs: [2]*rig{first, &second}}
	for i, r := range h.rigs {
		text := strings.Replace(string(body), filepath.Join(first.dir, "data"), filepath.Join(r.dir, "data"), 1)
		text += "standby: " + strings.Replace(replica, "{", fmt.Sprintf("{host: host-%d, ", i), 1) + "\n"
		if err := os.WriteFile(r.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *hosts) start(i int) {
	h.run[i] = h.rigs[i].start("")
	h.logs = append(h.logs, h.run[i])
}

// stamped is the worker of the kill tests, whose lines say when they were written.
func stamped(work func(modeltest.Request) modeltest.Reply) func(modeltest.Request) modeltest.Reply {
	return func(r modeltest.Request) modeltest.Reply {
		if callsBehind(r) > 0 {
			return work(r)
		}
		return modeltest.CallTool("file_write", map[string]any{
			"path": "done.txt", "mode": "append", "content": fmt.Sprintf("%s %d\n", lastTask(r), time.Now().UnixMilli()),
		})
	}
}

// written are the times in the file of the stamped worker, by task.
func (h *hosts) written(i int) map[string]time.Time {
	body, _ := os.ReadFile(filepath.Join(h.rigs[i].workspace(), "done.txt")) // none yet
	all := map[string]time.Time{}
	for line := range strings.Lines(string(body)) {
		if f := strings.Fields(line); len(f) == 2 {
			ms, _ := strconv.ParseInt(f[1], 10, 64)
			all[f[0]] = time.UnixMilli(ms)
		}
	}
	return all
}

// TestStandbyOnRequest moves the bot to the other host and back.
func TestStandbyOnRequest(t *testing.T) {
	needs.Program(t, "litestream", "litestream")
	const chat = 11
	h := newHosts(t, chat, fmt.Sprintf("{to: %q, leaseSeconds: 15}", t.TempDir()))
	r := h.rigs[0]
	r.model.Respond(worker(0))
	h.start(0)
	r.telegram.User(chat).Send("task 0")
	r.wait(h.run[0], "host 0 answers", func(v telegramtest.State) bool { return answered(v, chat, 0) })
	for n := 1; n <= 2; n++ {
		active, other := (n-1)%2, n%2
		polls := r.telegram.Count("getUpdates")
		h.run[other] = h.rigs[other].startAs([]string{"standby", "--now"}, "")
		began := time.Now()
		<-h.run[active].exited
		if code, log := h.run[active].cmd.ProcessState.ExitCode(), h.run[active].log.String(); code != exitFailed || !strings.Contains(log, "takes over") {
			t.Fatalf("host %d ended with %d\n%s", active, code, tailOf(log))
		}
		r.telegram.User(chat).Send(fmt.Sprintf("task %d", n))
		r.wait(h.run[other], "the other host answers", func(v telegramtest.State) bool {
			return v.Count("getUpdates") > polls && answered(v, chat, n)
		})
		t.Logf("the bot moved in %s", time.Since(began).Round(time.Millisecond))
		soon(t, "the logs of this host hold what the other one was told", func() bool {
			logs, _ := filepath.Glob(filepath.Join(h.rigs[other].dir, "data", "conversations", "telegram_11", "*.jsonl"))
			text := ""
			for _, name := range logs {
				body, _ := os.ReadFile(name) // it is asked again
				text += string(body)
			}
			return strings.Count(text, `"content":"task 0"`) == 1
		})
	}
	h.rigs[0].count(chat, 3).check(t)
	if code := h.run[0].stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(h.run[0].log.String()))
	}
}

// TestStandbyFence stops a host in the middle of its work for longer than its lease, as a
// machine that sleeps does. When it goes on, it must do nothing any more.
func TestStandbyFence(t *testing.T) {
	needs.Program(t, "litestream", "litestream")
	const chat = 11
	h := newHosts(t, chat, fmt.Sprintf("{to: %q, leaseSeconds: %d}", t.TempDir(), leaseSeconds))
	r := h.rigs[0]
	r.model.Respond(worker(200 * time.Millisecond))
	h.start(0)
	r.wait(h.run[0], "host 0 polls", telegramtest.State.Polling)
	h.start(1)
	soon(t, "host 1 waits", func() bool { return strings.Contains(h.run[1].log.String(), "standby: waiting") })
	person := r.telegram.User(chat)
	defer func() {
		for _, p := range h.logs {
			if t.Failed() {
				t.Logf("--- log\n%s", tailOf(p.log.String()))
			}
		}
	}()
	for n := range 4 {
		asleep, awake := n%2, 1-n%2
		person.Send(fmt.Sprintf("task %d", n))
		<-time.After(rand.N(600 * time.Millisecond))
		if err := h.run[asleep].cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		soon(t, "the other host runs the bot", func() bool {
			return strings.Count(h.run[awake].log.String(), "this host runs the bot") == 1
		})
		r.wait(h.run[awake], "the other host answers", func(v telegramtest.State) bool { return answered(v, chat, n) })
		calls := func(method string) int { return r.telegram.Count(method) }
		sent := calls("sendMessage")
		if err := h.run[asleep].cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		<-h.run[asleep].exited
		if now := calls("sendMessage"); now > sent {
			t.Errorf("a host without its lease sent %d messages:\n%s", now-sent, tailOf(h.run[asleep].log.String()))
		}
		if log := h.run[asleep].log.String(); !strings.Contains(log, "the lease is lost") {
			t.Errorf("the host says nothing of its lease:\n%s", tailOf(log))
		}
		h.start(asleep)
	}
	r.count(chat, 4).check(t)
}

func standbyKills(t *testing.T, kills int, replica string) {
	needs.Program(t, "litestream", "litestream")
	const chat = 11
	h := newHosts(t, chat, replica)
	r := h.rigs[0]
	r.model.Respond(stamped(worker(50 * time.Millisecond)))
	h.start(0)
	r.wait(h.run[0], "the first host polls", telegramtest.State.Polling)
	h.start(1)
	person, tasks, active := r.telegram.User(chat), 0, 0
	give := func() {
		if tasks == 0 || r.isAnswered(chat, tasks-1) {
			person.Send(fmt.Sprintf("task %d", tasks))
			tasks++
		}
	}
	var slowest, oldest time.Duration
	lost := 0
	for range kills {
		for end := time.Now().Add(time.Second + rand.N(3*time.Second)); time.Now().Before(end); <-time.After(rand.N(100 * time.Millisecond)) {
			give()
		}
		h.run[active].kill()
		killed, other := time.Now(), 1-active
		before, polls := h.written(active), r.telegram.Count("getUpdates")
		give()
		r.wait(h.run[other], "the other host polls", func(v telegramtest.State) bool { return v.Count("getUpdates") > polls })
		slowest = max(slowest, time.Since(killed))
		after := h.written(other)
		for task, at := range before {
			if after[task].IsZero() {
				lost++
				oldest = max(oldest, killed.Sub(at))
			}
		}
		h.start(active)
		active = other
	}
	r.wait(h.run[active], "the last task is answered", func(v telegramtest.State) bool {
		return v.Polling() && v.Pending() == 0 && answered(v, chat, tasks-1)
	})
	result := h.rigs[active].count(chat, tasks)
	t.Logf("%d kills: takeover in %s at most; %d lines of files lost, %s old at most; %s", kills, slowest.Round(time.Millisecond), lost, oldest.Round(time.Millisecond), result)
	result.check(t)
	if slowest > takeoverWithin || oldest > filesWithin {
		t.Errorf("takeover took %s, at most %s are promised; files of %s are lost, at most %s are promised", slowest, takeoverWithin, oldest, filesWithin)
	}
	for _, p := range h.logs {
		if strings.Contains(p.log.String(), "another program polls") {
			t.Errorf("two hosts polled at one time:\n%s", tailOf(p.log.String()))
		}
	}
	if t.Failed() {
		for _, p := range h.logs {
			t.Logf("--- log\n%s", tailOf(p.log.String()))
		}
	}
}
