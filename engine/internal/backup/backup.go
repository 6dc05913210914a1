// Package backup makes the automatic backups, watches the database, and tells people
// when it is damaged or was restored. It does not know how a backup is written; package
// archive does.
package backup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"klawbot/engine/health"
	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/lifecycle"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/store/condition"
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/wait"
)

const (
	// probeEvery is how often a database that cannot be written is tried.
	probeEvery = 5 * time.Second
	// backupTick is how often the engine looks whether a backup is due.
	backupTick = time.Minute
	// logEvery is how long the conversation logs gather what is said. A stop and a start
	// write at once.
	logEvery = 500 * time.Millisecond
	// backupRetry is the wait after a backup that failed.
	backupRetry = 10 * time.Minute
)

// Config is what New needs. All of it is required.
type Config struct {
	Dir      string
	Archive  *archive.Archive
	Store    *store.Store
	Gateway  *gateway.Gateway
	Life     *lifecycle.Lifecycle
	Outbox   *outbox.Outbox
	Settings func() settings.Settings
	// Owners are the private chats of owners that may be written to.
	Owners func() []gateway.Address
	// AtWork is how many messages wait for an answer, as far as memory knows.
	AtWork func() int
	Log    *slog.Logger
}

// Backups makes copies of what is kept and watches it.
type Backups struct {
	config Config
	// unlogged wakes the writer of the conversation logs.
	unlogged chan struct{}

	mu   sync.Mutex
	last health.Backup // guarded by mu

	// begin is held while the first backup is made; begun says that it was tried.
	begin sync.Mutex
	begun bool // guarded by begin
}

// New returns Backups that know the last backup of earlier runs.
func New(c Config) *Backups {
	b := &Backups{config: c, unlogged: make(chan struct{}, 1)}
	var err error
	if b.last, err = health.LastBackup(c.Dir); err != nil {
		c.Log.Warn("backups not read", "err", err)
	}
	return b
}

// Run works until ctx ends. Nothing that goes wrong here stops the bot.
func (b *Backups) Run(ctx context.Context) {
	b.tellRecovery(ctx)
	var work sync.WaitGroup
	work.Go(func() { b.writeLogs(ctx) })
	work.Go(func() { b.watchDatabase(ctx) })
	work.Go(func() { b.makeAll(ctx) })
	work.Wait()
}

// WriteLog appends to the conversation logs what is new.
func (b *Backups) WriteLog(ctx context.Context) error { return b.config.Archive.WriteLog(ctx) }

// Log asks for the same in the background.
func (b *Backups) Log() { wait.Signal(b.unlogged) }

// writeLogs appends to the conversation logs what is new.
func (b *Backups) writeLogs(ctx context.Context) {
	for {
		if err := b.config.Archive.WriteLog(ctx); err != nil && ctx.Err() == nil {
			b.config.Log.Error("conversation log not written", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-b.unlogged:
		}
		if !wait.For(ctx, logEvery) {
			return
		}
	}
}

// First makes the first backup of a data directory that has none. No message is
// acknowledged before: without a backup, damage would take all of them. When it
// fails, the bot works without, and Run tries again.
func (b *Backups) First(ctx context.Context) {
	b.begin.Lock()
	defer b.begin.Unlock()
	if b.begun || b.config.Settings().Backup.Every <= 0 {
		return
	}
	if b.Report().At.IsZero() {
		b.make(ctx)
	}
	b.begun = ctx.Err() == nil
}

// makeAll makes a backup whenever one is due, until ctx ends.
func (b *Backups) makeAll(ctx context.Context) {
	b.First(ctx)
	next := time.Now()
	for wait.For(ctx, backupTick) {
		every := b.config.Settings().Backup.Every
		if every <= 0 || time.Now().Before(next) || !b.due(every) {
			continue
		}
		if b.make(ctx) {
			next = time.Now().Add(every - backupTick/2)
		} else {
			next = time.Now().Add(min(every, backupRetry))
		}
	}
}

// due reports whether the last backup is old and something was written since. A
// backup of the future tells that the clock was wrong, and nothing else.
func (b *Backups) due(every time.Duration) bool {
	at := b.Report().At
	age := time.Since(at)
	return age < 0 || age >= every-backupTick/2 && b.config.Archive.ChangedSince(at)
}

// make makes a backup and reports whether it did.
func (b *Backups) make(ctx context.Context) bool {
	started := time.Now()
	made, err := b.config.Archive.BackupNow(ctx, b.config.Settings().Backup.Keep)
	if ctx.Err() != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if made.Path != "" {
		b.last = health.Backup{At: made.At, Path: made.Path, Bytes: made.Size}
		b.config.Log.Info("backup made", "path", made.Path, "bytes", made.Size, "ms", time.Since(started).Milliseconds())
	}
	if err != nil {
		if b.last.Fault != err.Error() {
			b.config.Log.Warn("backup failed", "err", err)
		}
		b.last.Fault = err.Error()
	}
	return made.Path != ""
}

// Report is the last backup and what is wrong with the next.
func (b *Backups) Report() health.Backup {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// watchDatabase notices when the database changes its condition. While it cannot be
// written it tries, so that the end of an outage is noticed.
func (b *Backups) watchDatabase(ctx context.Context) {
	last := condition.OK
	for wait.For(ctx, probeEvery) {
		c := b.config.Store.Condition()
		if c.State != condition.OK && c.State != condition.Damaged && b.config.Store.Probe(ctx) == nil {
			c = b.config.Store.Condition()
		}
		if c.State != last {
			last = c.State
			b.databaseChanged(ctx, c)
		}
	}
}

func (b *Backups) databaseChanged(ctx context.Context, c condition.Condition) {
	switch c.State {
	case condition.OK:
		b.config.Log.Info("database takes writes again")
		b.Log()
	case condition.Damaged:
		unanswered, known := b.unanswered(ctx)
		b.config.Log.Error("database is damaged, no more messages are accepted: restart the bot, it restores the newest good backup",
			"fault", c.Fault, "unanswered_messages", unanswered, "unanswered_known", known)
		b.tellDamage(ctx, unanswered, known)
	default:
		b.config.Log.Error("database cannot be written, retrying", "state", string(c.State), "fault", c.Fault)
	}
}

// unanswered is how many messages have no answer yet. known is false when the database
// cannot be read; then it is how many are at work.
func (b *Backups) unanswered(ctx context.Context) (n int, known bool) {
	in, _, err := health.Queues(ctx, b.config.Store)
	if err == nil {
		return in.Waiting, true
	}
	return b.config.AtWork(), false
}

// count is a number of messages in words.
func (b *Backups) count(n int, known bool) string {
	if known {
		return strconv.Itoa(n)
	}
	return b.say(locale.AtLeast, n)
}

// tellDamage tells the owners that the database is damaged. The message does
// not use the outbox, which is in that database.
func (b *Backups) tellDamage(ctx context.Context, unanswered int, known bool) {
	text := b.say(locale.Damaged, b.count(unanswered, known)) + "\n\n"
	if last := b.Report(); last.At.IsZero() {
		text += b.say(locale.DamagedAlone)
	} else {
		text += b.say(locale.DamagedBackup, last.At.In(b.config.Settings().Zone()).Format("2006-01-02 15:04 MST"))
	}
	for _, to := range b.config.Owners() {
		b.config.Life.Go(func(context.Context) { b.insist(ctx, to, text) })
	}
}

// insist sends a text without the outbox until the messenger takes it or ctx ends.
func (b *Backups) insist(ctx context.Context, to gateway.Address, text string) {
	for _, part := range b.config.Gateway.Render(to.Chat.Channel, text) {
		for {
			sending, cancel := context.WithTimeout(ctx, gateway.SendWithin)
			_, err := b.config.Gateway.Send(sending, to, part)
			cancel()
			if err == nil {
				break
			}
			b.config.Log.Warn("owner not told that the database is damaged", "chat", to.String(), "err", err)
			fail, ok := errors.AsType[*gateway.SendError](err)
			if !ok || fail.Kind != gateway.Retry && fail.Kind != gateway.Busy || !wait.For(ctx, max(fail.RetryAfter, probeEvery)) {
				return
			}
		}
	}
}

// tellRecovery tells the owners that a backup is in use, and those whose messages
// are lost.
func (b *Backups) tellRecovery(ctx context.Context) {
	r := b.config.Archive.Recovered()
	if r == nil {
		return
	}
	text := b.say(locale.Rebuilt)
	if !r.Backup.At.IsZero() {
		at := r.Backup.At.In(b.config.Settings().Zone()).Format("2006-01-02 15:04 MST")
		text = b.say(locale.Recovered, at, b.count(len(r.Unanswered), r.Readable))
	}
	// The key is the same after a restart, so that people are told once.
	key := fmt.Sprintf("recovery/%d", r.At.UnixMilli())
	for _, to := range b.config.Owners() {
		b.config.Outbox.Post(ctx, to, key+"/"+to.String(), text)
	}
	lost := map[gateway.Address]int{}
	for _, u := range r.Unanswered {
		lost[u.Address]++
	}
	for a, n := range lost {
		if b.config.Gateway.Reachable(a.Chat) != nil {
			continue
		}
		b.tellLost(ctx, key, a, n, r.Unanswered)
	}
	if err := b.config.Archive.RecoveryTold(); err != nil {
		b.config.Log.Warn("the restore is reported again at the next start", "err", err)
	}
}

// tellLost tells a chat that messages are lost, in the placeholder of one of them
// if there is one.
func (b *Backups) tellLost(ctx context.Context, key string, a gateway.Address, n int, all []store.Unanswered) {
	outs := outbox.Rows(a, b.config.Gateway.Render(a.Chat.Channel, b.say(locale.Lost, n)), key+"/lost/"+a.String(), 0)
	for _, u := range all {
		if u.Address == a && u.Placeholder != 0 && len(outs) > 0 {
			outs[0].Edit = u.Placeholder
		}
	}
	if err := b.config.Store.Write(ctx, func(tx *store.Tx) error { return outbox.Add(tx, outs) }); err != nil {
		b.config.Log.Error("chat not told that messages are lost", "chat", a.String(), "messages", n, "err", err)
	}
}

func (b *Backups) say(p locale.Phrase, args ...any) string {
	return locale.Say(b.config.Settings().Language, p, args...)
}
