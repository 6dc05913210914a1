package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

const (
	// persistMax bounds the wait between two tries to store something.
	persistMax = 5 * time.Second
	// tellEvery is how often a chat may hear that nothing can be stored.
	tellEvery = time.Minute
	// toldKept bounds the chats that are remembered as told.
	toldKept = 1000
)

// persist is Write on a disk that takes nothing for a while: it tries until
// the change is stored, ctx ends or turns are parked. The chat is told why it
// waits, unless the address is zero. fn may run several times.
func (e *Engine) persist(ctx context.Context, a gateway.Address, fn func(*store.Tx) error) error {
	for wait := time.Second; ; wait = min(2*wait, persistMax) {
		err := e.store.Write(ctx, fn)
		if !store.Unwritable(err) {
			return err
		}
		e.tellUnstored(ctx, a, 0)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-e.parked():
			timer.Stop()
			return err
		}
	}
}

// eventually is persist for those who must not wait: done is called when the
// change is stored, at once as a rule, or given up.
func (e *Engine) eventually(ctx context.Context, a gateway.Address, fn func(*store.Tx) error, done func(error)) {
	err := e.store.Write(ctx, fn)
	if !store.Unwritable(err) || !e.goOn(func() { done(e.persist(context.WithoutCancel(ctx), a, fn)) }) {
		done(err)
	}
}

// goOn runs fn beside the lanes, and Run waits for it. It reports false when the
// engine does not run any more.
func (e *Engine) goOn(fn func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running == nil || e.closing {
		return false
	}
	e.work.Go(fn)
	return true
}

// parked is closed when turns have to stop where they are.
func (e *Engine) parked() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.parking == nil {
		return nil
	}
	return e.parking.Done()
}

// unstored remembers which chats know that nothing can be stored.
type unstored struct {
	mu   sync.Mutex
	told map[gateway.Address]notice // guarded by mu
}

// notice is when a chat was told, and the newest update that it was told about.
type notice struct {
	at     time.Time
	update int64
}

// due reports whether a chat has to be told, and notes that it is. It is told
// once in each outage and again for each new message, at most once a minute.
// update 0 is no new message.
func (u *unstored) due(a gateway.Address, update int64, since time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	last, known := u.told[a]
	again := update > last.update || last.at.Before(since)
	if known && (!again || time.Since(last.at) < tellEvery) {
		return false
	}
	if u.told == nil || len(u.told) >= toldKept {
		u.told = map[gateway.Address]notice{}
	}
	u.told[a] = notice{time.Now(), max(update, last.update)}
	return true
}

// tellUnstored says in a chat that nothing can be stored. It is the one message
// that does not come from the outbox, which is what cannot be written; when it
// is lost, nothing is.
func (e *Engine) tellUnstored(ctx context.Context, a gateway.Address, update int64) {
	if a.Chat.Channel == "" || !e.unstored.due(a, update, e.store.Condition().Since) {
		return
	}
	e.goOn(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendWithin)
		defer cancel()
		to := a
		for _, part := range e.gateway.Render(to.Chat.Channel, e.say(locale.Unstored)) {
			if _, err := e.gateway.Send(ctx, to, part); err != nil {
				e.log.Warn("chat not told that nothing can be stored", "chat", to.String(), "err", err)
			}
		}
	})
}

// logUnstored logs what could not be stored and is tried again. What the disk
// does not take is said once, by watchDatabase.
func (e *Engine) logUnstored(ctx context.Context, what string, err error, args ...any) {
	level := slog.LevelError
	if store.Unwritable(err) {
		level = slog.LevelDebug
	}
	e.log.Log(context.WithoutCancel(ctx), level, what, append(args, "err", err)...)
}

// refused tells those who asked for something in updates that were not stored.
// The messenger keeps them and delivers them again; a terminal does not, and hears
// of it from its channel.
func (e *Engine) refused(ctx context.Context, updates []gateway.Update) {
	for _, u := range updates {
		if u.Fault != "" || isLocal(u.Address) || e.gateway.Allowed(u) != nil {
			continue
		}
		m, err := e.gateway.Decode(u)
		if err == nil && m.Kind == gateway.KindText && m.Addressed {
			e.tellUnstored(ctx, u.Address, u.ID)
		}
	}
}
