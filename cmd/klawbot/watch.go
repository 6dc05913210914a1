package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The times of watching: a change is applied after a moment of quiet, and found
// by looking when the file system does not tell (network folders, bind mounts).
const (
	watchQuiet = 50 * time.Millisecond
	watchPoll  = 500 * time.Millisecond
)

// live is the configuration while the bot runs. A broken edit keeps the last
// good one.
type live struct {
	source  source
	current atomic.Pointer[loaded]
	fault   atomic.Pointer[string] // why the file on the disk is not in use

	refreshing sync.Mutex
	seen       string // guarded by refreshing; the stamp of what was loaded last
}

// newLive loads the configuration for the first time.
func newLive(s source) (*live, error) {
	first, err := s.load()
	if err != nil {
		return nil, err
	}
	l := &live{source: s}
	l.current.Store(first)
	return l, nil
}

// config is the configuration as it is now. It is not to be changed.
func (l *live) config() *Config { return &l.current.Load().Config }

// broken says why the file on the disk is not in use, empty when it is.
func (l *live) broken() string {
	if text := l.fault.Load(); text != nil {
		return *text
	}
	return ""
}

// watch applies changes of the file until ctx ends.
func (l *live) watch(ctx context.Context, log *slog.Logger) {
	if l.source.File == "" {
		return
	}
	events, errs, stop := l.notifications(log)
	defer stop()
	poll := time.NewTicker(watchPoll)
	defer poll.Stop()
	quiet := time.NewTimer(watchQuiet)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-events:
			quiet.Reset(watchQuiet)
		case err := <-errs:
			log.Warn("configuration watcher", "err", err)
		case <-poll.C:
			if l.changed() {
				quiet.Reset(watchQuiet)
			}
		case <-quiet.C:
			l.refresh(log)
		}
	}
}

// changed reports whether the file is another one than was loaded last.
func (l *live) changed() bool {
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	return l.source.File != "" && l.stamp() != l.seen
}

// refresh applies a change of the file at once, for who cannot wait for the
// watch to see it. A file that was written this moment may not be whole yet; it
// gets a moment of quiet.
func (l *live) refresh(log *slog.Logger) {
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	if l.source.File == "" {
		return
	}
	now := l.stamp()
	if now == l.seen {
		return
	}
	if info, err := os.Stat(l.source.File); err == nil {
		if age := time.Since(info.ModTime()); age >= 0 && age < watchQuiet {
			<-time.After(watchQuiet - age)
			now = l.stamp()
		}
	}
	l.seen = now
	l.reload(log)
}

// notifications subscribes to the folder of the file: editors replace files, so
// the file itself is the wrong thing to watch. Without the kernel's help the
// poll is enough.
func (l *live) notifications(log *slog.Logger) (<-chan fsnotify.Event, <-chan error, func()) {
	w, err := fsnotify.NewWatcher()
	if err == nil {
		if err = w.Add(filepath.Dir(l.source.File)); err == nil {
			return w.Events, w.Errors, func() { _ = w.Close() } // nothing to save there
		}
		_ = w.Close() // the first error is the one to tell
	}
	log.Debug("configuration is watched by polling only", "err", err)
	return nil, nil, func() {}
}

// stamp changes when one of the files changes.
func (l *live) stamp() string {
	var b strings.Builder
	for _, name := range l.current.Load().files {
		info, err := os.Stat(name)
		if err != nil {
			fmt.Fprintf(&b, "%v;", err)
			continue
		}
		fmt.Fprintf(&b, "%d %d %v;", info.ModTime().UnixNano(), info.Size(), info.Mode())
	}
	return b.String()
}

func (l *live) reload(log *slog.Logger) {
	next, err := l.source.load()
	if err == nil {
		err = whole(&l.current.Load().Config, &next.Config)
	}
	if err != nil {
		text := err.Error()
		l.fault.Store(&text)
		for line := range strings.Lines(text) {
			log.Error("configuration not applied, the last good one stays", "fault", strings.TrimSpace(line))
		}
		return
	}
	l.fault.Store(nil)
	last := l.current.Swap(next)
	if reflect.DeepEqual(last.Config, next.Config) {
		return
	}
	log.Info("configuration applied")
	for _, line := range next.Notices {
		log.Warn(line)
	}
	if keys := fixed(&last.Config, &next.Config); keys != "" {
		log.Warn("changes that need a restart", "keys", keys)
	}
}

// whole refuses a file that has lost its token while the bot runs: a write that
// was cut short or an emptied file, after which nobody would be let in.
func whole(last, next *Config) error {
	if last.Channels.Telegram.Token != "" && next.Channels.Telegram.Token == "" {
		return errors.New("channels.telegram.token is gone: the file looks cut short; to run without Telegram, stop the bot first")
	}
	return nil
}

// fixed names the changed keys that are read only at start.
func fixed(a, b *Config) string {
	var keys []string
	add := func(key string, changed bool) {
		if changed {
			keys = append(keys, key)
		}
	}
	add("dataDir", a.DataDir != b.DataDir)
	add("channels.telegram.token", a.Channels.Telegram.Token != b.Channels.Telegram.Token)
	add("channels.telegram.apiURL", a.Channels.Telegram.APIURL != b.Channels.Telegram.APIURL)
	add("channels.telegram.mode", a.Channels.Telegram.Mode != b.Channels.Telegram.Mode)
	add("channels.telegram.webhook", a.Channels.Telegram.Webhook != b.Channels.Telegram.Webhook)
	add("channels.console.enabled", a.Channels.Console.Enabled != b.Channels.Console.Enabled)
	add("agent.workspace", a.Agent.Workspace != b.Agent.Workspace)
	add("health.listen", a.Health != b.Health)
	add("metrics.listen", a.Metrics != b.Metrics)
	add("log.format", a.Log.Format != b.Log.Format)
	return strings.Join(keys, ", ")
}
