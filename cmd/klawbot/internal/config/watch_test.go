package config

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"klawbot/internal/redact"
)

// watched is a configuration on the disk that is being watched.
type watched struct {
	*Live
	t    *testing.T
	file string

	mu  sync.Mutex
	log bytes.Buffer // guarded by mu
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *watched) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

func watch(t *testing.T, text string) *watched {
	t.Helper()
	w := &watched{t: t, file: filepath.Join(t.TempDir(), "config.yaml")}
	w.put(text)
	var err error
	if w.Live, err = Open(Source{File: w.file, Redact: &redact.Set{}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { w.Watch(ctx, slog.New(slog.NewTextHandler(w, nil))) })
	t.Cleanup(func() {
		cancel()
		done.Wait()
	})
	return w
}

func (w *watched) put(text string) {
	w.t.Helper()
	if err := os.WriteFile(w.file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// within waits for the condition as long as the contract allows.
func (w *watched) within(limit time.Duration, what string, condition func() bool) {
	w.t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline.C:
			w.t.Fatalf("%s did not come within %s\n%s", what, limit, w.logged())
		}
	}
}

func (w *watched) window() int { return w.Config().Context.Window }

func TestChangeIsAppliedWithinASecond(t *testing.T) {
	w := watch(t, "context: {window: 5}\n")
	w.put("context: {window: 6}\n")
	w.within(time.Second, "the change", func() bool { return w.window() == 6 })

	// An editor writes a new file and renames it.
	if err := os.WriteFile(w.file+".new", []byte("context: {window: 7}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.file+".new", w.file); err != nil {
		t.Fatal(err)
	}
	w.within(time.Second, "the renamed file", func() bool { return w.window() == 7 })
}

func TestBrokenEditKeepsTheLastGood(t *testing.T) {
	w := watch(t, "context: {window: 5}\n")
	w.put("context: {window: none}\n")
	w.within(time.Second, "the fault", func() bool { return w.Broken() != "" })
	if w.window() != 5 {
		t.Errorf("the window is %d", w.window())
	}
	if !strings.Contains(w.Broken(), "context.window: must be a whole number") || !strings.Contains(w.logged(), "context.window") {
		t.Errorf("the fault is %q, the log\n%s", w.Broken(), w.logged())
	}
	if err := os.Remove(w.file); err != nil {
		t.Fatal(err)
	}
	w.within(time.Second, "the missing file", func() bool { return strings.Contains(w.Broken(), "no such file") })
	w.put("context: {window: 8}\n")
	w.within(time.Second, "the mended file", func() bool { return w.window() == 8 && w.Broken() == "" })
}

func TestEmptiedFileKeepsTheLastGood(t *testing.T) {
	w := watch(t, "channels: {telegram: {token: \"123456:abcdefghijklmnopqrstuvwxyz\", allowedChatIds: [11]}}\n")
	w.put("")
	w.within(time.Second, "the fault", func() bool { return strings.Contains(w.logged(), "token is gone") })
	if ids := w.Config().Channels.Telegram.AllowedChatIDs; len(ids) != 1 {
		t.Errorf("the list is %v, want the last good one", ids)
	}
}

func TestWatchNamesKeysThatNeedRestart(t *testing.T) {
	w := watch(t, "channels: {telegram: {token: '1:first'}}\n")
	w.put("channels: {telegram: {token: '1:other'}}\nfoo: 1\n")
	w.within(time.Second, "the notice", func() bool {
		return strings.Contains(w.logged(), "keys=channels.telegram.token") && strings.Contains(w.logged(), "foo: unknown key")
	})
}

func TestWatchSeesTheFileOfASecret(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("first-key"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := watch(t, "models: {providers: {openai: {apiKeyFile: "+key+"}}}\n")
	if err := os.WriteFile(key, []byte("second-key"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.within(2*time.Second, "the new key", func() bool {
		return w.Config().Models.Providers["openai"].APIKey == "second-key"
	})
}
