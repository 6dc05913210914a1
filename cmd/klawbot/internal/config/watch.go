package config

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

	"klawbot/engine/settings"

	"github.com/fsnotify/fsnotify"

	"klawbot/whitelist"
)

// The times of watching: a change is applied after a moment of quiet, and found
// by looking when the file system does not tell (network folders, bind mounts).
const (
	watchQuiet = 50 * time.Millisecond
	watchPoll  = 500 * time.Millisecond
)

// Live is the configuration while the bot runs. A broken edit keeps the last
// good one.
type Live struct {
	Source  Source
	current atomic.Pointer[Loaded]
	fault   atomic.Pointer[string] // why the file on the disk is not in use

	refreshing sync.Mutex
	seen       string // guarded by refreshing; the stamp of what was loaded last
}

// Open loads the configuration for the first time.
func Open(s Source) (*Live, error) {
	first, err := s.Load()
	if err != nil {
		return nil, err
	}
	l := &Live{Source: s}
	l.current.Store(first)
	return l, nil
}

// Fixed is a configuration that comes from no file and does not change.
func Fixed(c Config) *Live {
	l := &Live{}
	l.current.Store((&Loaded{Config: c}).prepare())
	return l
}

// Settings are what the engine asks for with every message.
func (l *Live) Settings() settings.Settings { return l.current.Load().engine }

// Whitelist is who may talk to the bot.
func (l *Live) Whitelist() whitelist.List { return l.current.Load().whitelist }

// Notices are lines for the owner about what is not wrong but odd.
func (l *Live) Notices() []string { return l.current.Load().Notices }

// Problems are those of the notices that say what does not work.
func (l *Live) Problems() []string { return l.current.Load().Problems }

// Given says where the value of a key comes from, empty for a default.
func (l *Live) Given(key string) string { return l.current.Load().Given(key) }

// Config is the configuration as it is now. It is not to be changed.
func (l *Live) Config() *Config { return &l.current.Load().Config }

// Broken says why the file on the disk is not in use, empty when it is.
func (l *Live) Broken() string {
	if text := l.fault.Load(); text != nil {
		return *text
	}
	return ""
}

// Watch applies changes of the file until ctx ends.
func (l *Live) Watch(ctx context.Context, log *slog.Logger) {
	if l.Source.File == "" {
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
func (l *Live) changed() bool {
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	return l.Source.File != "" && l.stamp() != l.seen
}

// refresh applies a change of the file at once, for who cannot wait for the
// watch to see it. A file that was written this moment may not be whole yet; it
// gets a moment of quiet.
func (l *Live) refresh(log *slog.Logger) {
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	if l.Source.File == "" {
		return
	}
	now := l.stamp()
	if now == l.seen {
		return
	}
	if info, err := os.Stat(l.Source.File); err == nil {
		if age := time.Since(info.ModTime()); age >= 0 && age < watchQuiet {
			<-time.After(watchQuiet - age)
			now = l.stamp()
		}
	}
	l.seen = now
	l.Reload(log)
}

// notifications subscribes to the folder of the file: editors replace files, so
// the file itself is the wrong thing to watch. Without the kernel's help the
// poll is enough.
func (l *Live) notifications(log *slog.Logger) (<-chan fsnotify.Event, <-chan error, func()) {
	w, err := fsnotify.NewWatcher()
	if err == nil {
		if err = w.Add(filepath.Dir(l.Source.File)); err == nil {
			return w.Events, w.Errors, func() { _ = w.Close() } // nothing to save there
		}
		_ = w.Close() // the first error is the one to tell
	}
	log.Debug("configuration is watched by polling only", "err", err)
	return nil, nil, func() {}
}

func (l *Live) stamp() string {
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

// Reload reads the file again. One with faults is logged, and the last good
// configuration stays.
func (l *Live) Reload(log *slog.Logger) {
	next, err := l.Source.Load()
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
	if keys := needRestart(&last.Config, &next.Config); keys != "" {
		log.Warn("changes that need a restart", "keys", keys)
	}
}

// whole refuses a file that has lost its token while the bot runs: a write that
// was cut short or an emptied file, after which the bot would ignore everyone.
func whole(last, next *Config) error {
	if last.Channels.Telegram.Token != "" && next.Channels.Telegram.Token == "" {
		return errors.New("channels.telegram.token is gone: the file looks cut short; to run without Telegram, stop the bot first")
	}
	return nil
}

// needRestart names the changed keys that are read only at start.
func needRestart(a, b *Config) string {
	var keys []string
	add := func(key string, changed bool) {
		if changed {
			keys = append(keys, key)
		}
	}
	add("dataDir", a.DataDir != b.DataDir)
	add("channels.telegram.token", a.Channels.Telegram.Token != b.Channels.Telegram.Token)
	add("channels.telegram.apiURL", a.Channels.Telegram.APIURL != b.Channels.Telegram.APIURL)
	add("channels.telegram.filesRoot", a.Channels.Telegram.FilesRoot != b.Channels.Telegram.FilesRoot)
	add("channels.telegram.mode", a.Channels.Telegram.Mode != b.Channels.Telegram.Mode)
	add("channels.telegram.webhook", a.Channels.Telegram.Webhook != b.Channels.Telegram.Webhook)
	add("channels.console.enabled", a.Channels.Console.Enabled != b.Channels.Console.Enabled)
	add("channels.web", !reflect.DeepEqual(a.Channels.Web, b.Channels.Web))
	add("agent.workspace", a.Agent.Workspace != b.Agent.Workspace)
	add("standby", a.Standby != b.Standby)
	add("health.listen", a.Health != b.Health)
	add("metrics.listen", a.Metrics != b.Metrics)
	add("log.format", a.Log.Format != b.Log.Format)
	return strings.Join(keys, ", ")
}
