package engine

import (
	"context"
	"sync"
	"time"

	"klawbot/engine/internal/store"
)

const (
	// backupTick is how often the engine looks whether a backup is due.
	backupTick = time.Minute
	// backupRetry is the wait after a backup that failed.
	backupRetry = 10 * time.Minute
)

// Backup is the last automatic backup. Its JSON form is stable.
type Backup struct {
	// At is when it was made, zero when there is none.
	At   time.Time `json:"at,omitzero"`
	Path string    `json:"path,omitempty"`
	// Bytes is its size.
	Bytes int64 `json:"bytes,omitempty"`
	// Fault is why the last try failed, empty when it did not.
	Fault string `json:"fault,omitempty"`
}

// backups makes the automatic backups.
type backups struct {
	e *Engine

	mu   sync.Mutex
	last Backup // guarded by mu
}

// run makes a backup whenever one is due, until ctx ends. Nothing that goes
// wrong here stops the bot.
func (b *backups) run(ctx context.Context) error {
	next := time.Now()
	for pause(ctx, backupTick) {
		every := b.e.settings().BackupEvery
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
	last, err := lastBackup(dir)
	if err != nil {
		b.e.log.Warn("backups not read", "err", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = last
}

func lastBackup(dir string) (Backup, error) {
	all, err := store.Backups(dir)
	if err != nil || len(all) == 0 {
		return Backup{}, err
	}
	return Backup{At: all[0].At, Path: all[0].Path, Bytes: all[0].Size}, nil
}

// due reports whether the last backup is old and something was written since. A
// backup of the future tells that the clock was wrong, and nothing else.
func (b *backups) due(every time.Duration) bool {
	at := b.report().At
	age := time.Since(at)
	return age < 0 || age >= every-backupTick/2 && b.e.store.ChangedSince(at)
}

// make makes a backup and reports whether it did.
func (b *backups) make(ctx context.Context) bool {
	started := time.Now()
	made, err := b.e.store.BackupNow(ctx, b.e.settings().BackupKeep)
	if ctx.Err() != nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if made.Path != "" {
		b.last = Backup{At: made.At, Path: made.Path, Bytes: made.Size}
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
func (b *backups) report() Backup {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// watchDatabase looks after the database: while it cannot be written it tries,
// so that the end of an outage is noticed.
func (e *Engine) watchDatabase(ctx context.Context) error {
	last := store.StateOK
	for pause(ctx, persistMax) {
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
		e.logMessages()
	case store.StateDamaged:
		e.log.Error("database is damaged: restart the bot, it restores the newest backup", "fault", c.Fault)
		e.tellOwners(ctx, "damaged/"+newID(), e.say(sayDamaged))
	default:
		e.log.Error("database cannot be written, trying on", "state", string(c.State), "fault", c.Fault)
	}
}

// tellRecovery tells the owners that a backup is in use.
func (e *Engine) tellRecovery(ctx context.Context) {
	r := e.store.Recovered()
	if r == nil {
		return
	}
	at := r.Backup.At.In(zoneOf(e.settings())).Format("2006-01-02 15:04 MST")
	e.tellOwners(ctx, "recovery/"+newID(), e.say(sayRecovered, at, r.Dropped))
}

// tellOwners writes to the private chat of every owner that may be written to.
func (e *Engine) tellOwners(ctx context.Context, key, text string) {
	for channel, ids := range e.settings().Owners {
		for _, id := range ids {
			a := store.Address{Channel: channel, Chat: id}
			if e.gateway.Reachable(reachable(a).Chat) == nil {
				e.post(ctx, a, key+"/"+reachable(a).String(), text)
			}
		}
	}
}
