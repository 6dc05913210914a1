package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// rig is a data directory with a configuration, a fake Telegram and a fake model,
// for bots that run as processes of their own.
type rig struct {
	t        testing.TB
	dir      string
	config   string
	telegram *telegramtest.Server
	model    *modeltest.Server
}

// canaryKey is the model key of a rig; it must never be seen anywhere else.
const canaryKey = "sk-canary-0123456789abcdef"

// newRig makes a rig whose bot serves the chats and streams as told. Nothing is
// paced and nothing is debounced. Calls to Telegram take their usual time.
func newRig(t testing.TB, streaming string, chats ...int64) *rig {
	t.Helper()
	return newRigAt(t, telegramtest.UsualNetwork, streaming, chats...)
}

// newRigAt is newRig whose calls to Telegram take that long at most.
func newRigAt(t testing.TB, network time.Duration, streaming string, chats ...int64) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), telegram: telegramtest.New(telegramtest.Config{Network: network}), model: modeltest.Start(canaryKey)}
	t.Cleanup(r.telegram.Close)
	t.Cleanup(r.model.Close)
	r.config = filepath.Join(r.dir, "config.yaml")
	text := fmt.Sprintf(`dataDir: %s
channels:
  telegram:
    token: %q
    apiURL: %s
    allowedChatIds: %s
    streaming: %s
    limits: {perChatPerSecond: 0, groupPerMinute: 0, globalPerSecond: 0}
agent: {debounceMs: 0, maxConcurrentModelCalls: 16}
health: {listen: ""}
models:
  default: main
  providers: {fake: {type: openai, baseURL: "%s/v1", apiKey: %s}}
  entries: {main: {provider: fake, model: test-model, contextBudget: 32000}}
  retries: 1
`, filepath.Join(r.dir, "data"), r.telegram.Token(), r.telegram.URL(), strings.Join(strings.Fields(fmt.Sprint(chats)), ", "),
		streaming, r.model.URL, canaryKey)
	if err := os.WriteFile(r.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// edit replaces a text of the configuration, before the start.
func (r *rig) edit(old, new string) {
	r.t.Helper()
	body, err := os.ReadFile(r.config)
	if err != nil {
		r.t.Fatal(err)
	}
	text := strings.Replace(string(body), old, new, 1)
	if text == string(body) {
		r.t.Fatalf("the configuration holds no %q", old)
	}
	if err := os.WriteFile(r.config, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) workspace() string { return filepath.Join(r.dir, "data", "workspace") }

// process is a klawbot process.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	log    *syncBuffer
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// start runs `klawbot run` from the binary; empty means this very test binary,
// which becomes klawbot by its name (testscript.Main).
func (r *rig) start(binary string, env ...string) *process {
	r.t.Helper()
	return r.startAs([]string{"run"}, binary, env...)
}

// again starts the bot once more after it was killed. The fake Telegram has noticed that the
// old poll is gone by then, so a test that waits for a poll waits for the new bot.
func (r *rig) again(dead *process) *process {
	r.t.Helper()
	<-dead.exited
	r.wait(dead, "the poll of the killed bot ends", func(v telegramtest.State) bool { return !v.Polling() })
	return r.start("")
}

// startAs is start for another command than run.
func (r *rig) startAs(command []string, binary string, env ...string) *process {
	r.t.Helper()
	b := &process{exited: make(chan struct{}), log: &syncBuffer{}}
	name := binary
	if binary == "" {
		binary, name = os.Args[0], "klawbot"
	}
	b.cmd = exec.Command(binary)
	b.cmd.Args = append(append([]string{name}, command...), "--config", r.config)
	b.cmd.Env = append(os.Environ(), env...)
	b.cmd.Stdout, b.cmd.Stderr = b.log, b.log
	if err := b.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		_ = b.cmd.Wait() // its exit code is asked for with ProcessState
		close(b.exited)
	}()
	r.t.Cleanup(b.kill)
	return b
}

// kill ends the process as a power cut would.
func (b *process) kill() {
	_ = b.cmd.Process.Signal(syscall.SIGKILL) // it may be gone already
	<-b.exited
}

// stop ends the process in good order and returns its exit code.
func (b *process) stop() int {
	_ = b.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
	<-b.exited
	return b.cmd.ProcessState.ExitCode()
}

// wait waits for a condition of the fake Telegram, on a machine that has other
// work too.
func (r *rig) wait(b *process, what string, condition func(telegramtest.State) bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := r.telegram.WaitFor(ctx, condition); err != nil {
		r.t.Fatalf("%s: %v\nlog:\n%s", what, err, tailOf(b.log.String()))
	}
}

func tailOf(log string) string {
	if len(log) > 6000 {
		return "…" + log[len(log)-6000:]
	}
	return log
}
