package fleet

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bots is a fleet whose bots are functions.
type bots struct {
	fleet
	log    strings.Builder
	mu     sync.Mutex
	starts map[string][]time.Duration // guarded by mu: when each bot was started
}

func newBots(t *testing.T, code func(name string) int, names ...string) *bots {
	t.Helper()
	b := &bots{starts: map[string][]time.Duration{}}
	b.Dir = filepath.Join(t.TempDir(), "my [bots]") // not a pattern
	b.Log = slog.New(slog.NewTextHandler(&b.log, nil))
	b.fleet.bots = map[string]bool{}
	began := time.Now()
	b.run = func(ctx context.Context, name string) (int, error) {
		b.mu.Lock()
		b.starts[name] = append(b.starts[name], time.Since(began))
		b.mu.Unlock()
		if c := code(name); c != 0 {
			return c, errors.New("it ended")
		}
		<-ctx.Done()
		return 0, nil
	}
	for _, name := range names {
		b.add(t, name)
	}
	return b
}

func (b *bots) add(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(b.Dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.config(name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// works looks after the bots for a while.
func (b *bots) works(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(lookEvery) {
		if err := b.look(ctx); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	b.all.Wait()
}

func (b *bots) count(name string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.starts[name])
}

// A bot whose token file comes later starts by itself, although its config.yaml stays.
func TestBotStartsOnceAFileThatItNeedsIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *bots
		b = newBots(t, func(name string) int {
			if _, err := os.Stat(filepath.Join(b.Dir, name, "token")); name == "late" && err != nil {
				return exitUsage
			}
			return 0
		}, "late", "good")
		time.AfterFunc(90*time.Second, func() {
			if err := os.WriteFile(filepath.Join(b.Dir, "late", "token"), nil, 0o600); err != nil {
				t.Error(err)
			}
		})
		b.works(t, 10*time.Minute)
		if late, good := b.starts["late"], b.starts["good"]; len(late) != 3 || late[2] > 90*time.Second+longestPause || len(good) != 1 {
			t.Errorf("the late bot was started at %v, the good one at %v", late, good)
		}
		if log := b.log.String(); strings.Count(log, "bot not started; fix what its lines above name") != 2 || !strings.Contains(log, "bot=late again_in=1m0s") {
			t.Errorf("the log:\n%s", log)
		}
	})
}

// Directories may be links; files, empty directories and dead links are no bots. A bot
// whose directory is gone is forgotten, and found again.
func TestDirectoriesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBots(t, func(name string) int {
			if name == "broken" {
				return exitUsage
			}
			return 0
		}, "anna", "broken")
		elsewhere := t.TempDir()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(os.WriteFile(filepath.Join(elsewhere, "config.yaml"), nil, 0o600))
		must(os.Symlink(elsewhere, filepath.Join(b.Dir, "linked")))
		must(os.Symlink(filepath.Join(elsewhere, "nothing"), filepath.Join(b.Dir, "dead")))
		must(os.Mkdir(filepath.Join(b.Dir, "empty"), 0o700))
		must(os.WriteFile(filepath.Join(b.Dir, "notes.txt"), nil, 0o600))
		time.AfterFunc(3*time.Minute, func() { must(os.RemoveAll(filepath.Join(b.Dir, "broken"))) })
		time.AfterFunc(4*time.Minute, func() {
			if names := b.names(); slices.Contains(names, "broken") {
				t.Errorf("a bot that is gone is still one of %v", names)
			}
			b.add(t, "new")
			b.add(t, "broken")
		})
		b.works(t, 6*time.Minute)
		names := b.names()
		slices.Sort(names)
		if want := []string{"anna", "broken", "linked", "new"}; !slices.Equal(names, want) {
			t.Errorf("the bots are %v, want %v", names, want)
		}
		if b.count("anna") != 1 || b.count("linked") != 1 || b.count("new") != 1 {
			t.Errorf("the bots were started at %v", b.starts)
		}
		if log := b.log.String(); strings.Count(log, "bot removed; its config.yaml is gone") != 1 {
			t.Errorf("the log:\n%s", log)
		}
	})
}
