package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"klawbot/engine/health"
	"klawbot/engine/internal/archive"
	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/wait"
)

const (
	// probeEvery is how often a database that cannot be written is tried.
	probeEvery = 5 * time.Second
	// backupTick is how often the engine looks whether a backup is due.
	backupTick = time.Minute
	// backupRetry is the wait after a backup that failed.
	backupRetry = 10 * time.Minute
)

// backups makes the automatic backups.
type backups struct {
	e       *Engine
	archive *archive.Archive

	mu   sync.Mutex
	last health.Backup // guarded by mu

	// begin is held while the first backup is made; begun says that it was tried.
	begin sync.Mutex
	begun bool // guarded by begin
}

// first makes the first backup of a data folder that has none. No message is
// acknowledged before: without a backup, damage would take all of them. When it
// fails, the bot works without, and run tries again.
func (b *backups) first(ctx context.Context) {
	b.begin.Lock()
	defer b.begin.Unlock()
	if b.begun || b.e.settings().Backup.Every <= 0 {
		return
	}
	if b.report().At.IsZero() {
		b.make(ctx)
	}
	b.begun = ctx.Err() == nil
}

// run makes a backup whenever one is due, until ctx ends. Nothing that goes
// wrong here stops the bot.
func (b *backups) run(ctx context.Context) error {
	b.first(ctx)
	next := time.Now()
	for wait.For(ctx, backupTick) {
		every := b.e.settings().Backup.Every
		if every <= 0 || time.Now().Before(next) || !b.due(every) {
			continue
		}
		if b.make(ctx) {
			next = time.Now().Add(every - backupTick/2)
		} else {
			next = time.Now().Add(min(every, backupRetry))
		}
	}
	return nil
}

// load finds the last backup of earlier runs.
func (b *backups) load(dir string) {
	var err error
	if b.last, err = health.LastBackup(dir); err != nil { // nobody else knows b yet
		b.e.log.Warn("backups not read", "err", err)
	}
}

// due reports whether the last backup is old and something was written since. A
// backup of the future tells that the clock was wrong, and nothing else.
func (b *backups) due(every time.Duration) bool {
	at := b.report().At
	age := time.Since(at)
	return age < 0 || age >= every-backupTick/2 && b.archive.ChangedSince(at)
}

// make makes a backup and reports whether it did.
func (b *backups) make(ctx context.Context) bool {
	started := time.Now()
	made, err := b.archive.BackupNow(ctx, b.e.settings().Backup.Keep)
	if ctx.Err() != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if made.Path != "" {
		b.last = health.Backup{At: made.At, Path: made.Path, Bytes: made.Size}
		b.e.log.Info("backup made", "path", made.Path, "bytes", made.Size, "ms", time.Since(started).Milliseconds())
	}
	if err != nil {
		if b.last.Fault != err.Error() {
			b.e.log.Warn("backup failed", "err", err)
		}
		b.last.Fault = err.Error()
	}
	return made.Path != ""
}

// report is the last backup and what is wrong with the next.
func (b *backups) report() health.Backup {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// watchDatabase looks after the database: while it cannot be written it tries,
// so that the end of an outage is noticed.
func (e *Engine) watchDatabase(ctx context.Context) error {
	last := store.StateOK
	for wait.For(ctx, probeEvery) {
		c := e.store.Condition()
		if c.State != store.StateOK && c.State != store.StateDamaged && e.store.Probe(ctx) == nil {
			c = e.store.Condition()
		}
		if c.State != last {
			last = c.State
			e.databaseChanged(ctx, c)
		}
	}
	return nil
}

func (e *Engine) databaseChanged(ctx context.Context, c store.Condition) {
	switch c.State {
	case store.StateOK:
		e.log.Info("database takes writes again")
		wait.Signal(e.unlogged)
	case store.StateDamaged:
		unanswered, known := e.unanswered(ctx)
		e.log.Error("database is damaged, no more messages are taken: restart the bot, it restores the newest good backup",
			"fault", c.Fault, "unanswered_messages", unanswered, "unanswered_known", known)
		e.tellDamage(ctx, unanswered, known)
	default:
		e.log.Error("database cannot be written, trying on", "state", string(c.State), "fault", c.Fault)
	}
}

// unanswered is how many messages were taken and have no answer yet. known is false
// when the database does not say it any more; then it is how many are at work.
func (e *Engine) unanswered(ctx context.Context) (n int, known bool) {
	in, _, err := health.Queues(ctx, e.store)
	if err == nil {
		return in.Waiting, true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.lanes {
		n += len(l.items)
		if l.stop != nil {
			n++
		}
	}
	return n, false
}

// count is a number of messages in words.
func (e *Engine) count(n int, known bool) string {
	if known {
		return strconv.Itoa(n)
	}
	return e.say(locale.AtLeast, n)
}

// tellDamage tells the owners that the database is damaged. What they read does not
// come from the outbox, which is in that database.
func (e *Engine) tellDamage(ctx context.Context, unanswered int, known bool) {
	text := e.say(locale.Damaged, e.count(unanswered, known)) + "\n\n"
	if last := e.backups.report(); last.At.IsZero() {
		text += e.say(locale.DamagedAlone)
	} else {
		text += e.say(locale.DamagedBackup, last.At.In(e.settings().Zone()).Format("2006-01-02 15:04 MST"))
	}
	for _, to := range e.ownersBeside(gateway.ChatID{}) {
		e.life.Go(func(context.Context) { e.insist(ctx, to, text) })
	}
}

// insist sends a text beside the outbox until the messenger takes it or ctx ends.
func (e *Engine) insist(ctx context.Context, to gateway.Address, text string) {
	for _, part := range e.gateway.Render(to.Chat.Channel, text) {
		for {
			sending, cancel := context.WithTimeout(ctx, gateway.SendWithin)
			_, err := e.gateway.Send(sending, to, part)
			cancel()
			if err == nil {
				break
			}
			e.log.Warn("owner not told that the database is damaged", "chat", to.String(), "err", err)
			fail, ok := errors.AsType[*gateway.SendError](err)
			if !ok || fail.Kind != gateway.Retry && fail.Kind != gateway.Busy || !wait.For(ctx, max(fail.RetryAfter, probeEvery)) {
				return
			}
		}
	}
}

// tellRecovery tells the owners that a backup is in use, and those whose messages
// are lost.
func (e *Engine) tellRecovery(ctx context.Context) {
	r := e.backups.archive.Recovered()
	if r == nil {
		return
	}
	text := e.say(locale.Rebuilt)
	if !r.Backup.At.IsZero() {
		at := r.Backup.At.In(e.settings().Zone()).Format("2006-01-02 15:04 MST")
		text = e.say(locale.Recovered, at, e.count(len(r.Unanswered), r.Readable))
	}
	// The key is the same after a restart: who was told already is not told again.
	key := fmt.Sprintf("recovery/%d", r.At.UnixMilli())
	e.tellOwners(ctx, key, text)
	lost := map[gateway.Address]int{}
	for _, u := range r.Unanswered {
		lost[u.Address]++
	}
	for a, n := range lost {
		if e.gateway.Reachable(a.Chat) != nil {
			continue
		}
		e.tellLost(ctx, key, a, n, r.Unanswered)
	}
	if err := e.backups.archive.RecoveryTold(); err != nil {
		e.log.Warn("what was restored is told again at the next start", "err", err)
	}
}

// tellLost tells a chat that messages are lost, in the placeholder of one of them
// if there is one.
func (e *Engine) tellLost(ctx context.Context, key string, a gateway.Address, n int, all []store.Unanswered) {
	outs := outbox.Rows(a, e.gateway.Render(a.Chat.Channel, e.say(locale.Lost, n)), key+"/lost/"+a.String(), 0)
	for _, u := range all {
		if u.Address == a && u.Placeholder != 0 && len(outs) > 0 {
			outs[0].Edit = u.Placeholder
		}
	}
	if err := e.store.Write(ctx, func(tx *store.Tx) error { return outbox.Add(tx, outs) }); err != nil {
		e.log.Error("chat not told that messages are lost", "chat", a.String(), "messages", n, "err", err)
	}
}

// tellOwners writes to the private chat of every owner that may be written to.
func (e *Engine) tellOwners(ctx context.Context, key, text string) {
	for _, to := range e.ownersBeside(gateway.ChatID{}) {
		e.outbox.Post(ctx, to, key+"/"+to.String(), text)
	}
}
