// Package lifecycle runs work that ends with the process, and makes writes that
// outlast a full disk. It knows neither turns nor chats, but for the one sentence that
// a chat reads while nothing can be stored.
package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// The causes for which the context of work ends.
var (
	// ErrParked: the process ends. The next start resumes the work.
	ErrParked = errors.New("parked for the next start")
	// ErrStopped: a person said /stop.
	ErrStopped = errors.New("stopped by the user")
	// ErrChatGone: the chat cannot be reached any more. The work ends without an answer.
	ErrChatGone = errors.New("the chat cannot be reached any more")
	// ErrJobGone: the job was removed while it ran.
	ErrJobGone = errors.New("the job was removed")
	// ErrDeadline: a run took too long.
	ErrDeadline = errors.New("the run took too long")
)

// Config is what New needs. All of it is required.
type Config struct {
	Store   *store.Store
	Gateway *gateway.Gateway
	// Unstored is what a chat reads while nothing can be stored.
	Unstored func() string
	Log      *slog.Logger
}

// Lifecycle is the life of the process from Begin to Close.
type Lifecycle struct {
	config Config
	told   told

	mu               sync.Mutex
	running, parking context.Context // guarded by mu; nil before Begin
	closing          bool            // guarded by mu
	work             sync.WaitGroup
}

// New returns a Lifecycle that has not begun: nothing runs yet.
func New(c Config) *Lifecycle {
	return &Lifecycle{config: c}
}

// Begin lets work begin. running ends when no more is taken up, parking when what
// is at work has to stop where it is.
func (l *Lifecycle) Begin(running, parking context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running, l.parking = running, parking
}

// Close lets no more work begin; what is at work continues until it is done or parked.
func (l *Lifecycle) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closing = true
}

// Wait waits for all work to end.
func (l *Lifecycle) Wait() { l.work.Wait() }

// Go runs fn in a goroutine, with a context that ends when no more work is taken
// up. It reports false, and does not run it, before Begin and after Close.
func (l *Lifecycle) Go(fn func(running context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running == nil || l.closing {
		return false
	}
	running := l.running
	l.work.Go(func() { fn(running) })
	return true
}

// Parking is the context of work that the end of the process parks.
func (l *Lifecycle) Parking() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.parking
}

// Ending is closed when no more work is taken up: a wait for a person need not
// hold up the end. It is nil before Begin.
func (l *Lifecycle) Ending() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running == nil {
		return nil
	}
	return l.running.Done()
}

// parked is closed when work has to stop where it is.
func (l *Lifecycle) parked() <-chan struct{} {
	if parking := l.Parking(); parking != nil {
		return parking.Done()
	}
	return nil
}

const (
	// persistMax bounds the wait between two tries to store something.
	persistMax = 5 * time.Second
	// tellEvery is how often a chat may hear that nothing can be stored.
	tellEvery = time.Minute
	// toldKept bounds the chats that are remembered as told.
	toldKept = 1000
)

// Persist is Write that outlasts a full disk: it tries until
// the change is stored, ctx ends or turns are parked. The chat is told why it
// waits, unless the address is zero. fn may run several times.
func (l *Lifecycle) Persist(ctx context.Context, a gateway.Address, fn func(*store.Tx) error) error {
	for wait := time.Second; ; wait = min(2*wait, persistMax) {
		err := l.config.Store.Write(ctx, fn)
		if !store.Unwritable(err) {
			return err
		}
		l.TellUnstored(ctx, a, 0)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		case <-l.parked():
			return err
		}
	}
}

// Eventually is Persist for callers that must not wait: done is called when the
// change is stored, at once as a rule, or given up.
func (l *Lifecycle) Eventually(ctx context.Context, a gateway.Address, fn func(*store.Tx) error, done func(error)) {
	err := l.config.Store.Write(ctx, fn)
	if !store.Unwritable(err) || !l.Go(func(context.Context) { done(l.Persist(context.WithoutCancel(ctx), a, fn)) }) {
		done(err)
	}
}

// OrLog is a done for Eventually: it logs an error with the chat that it concerns, else
// it calls then, which may be nil.
func (l *Lifecycle) OrLog(what string, chat gateway.Address, then func()) func(error) {
	return func(err error) {
		switch {
		case err != nil:
			l.config.Log.Error(what, "chat", chat.String(), "err", err)
		case then != nil:
			then()
		}
	}
}

// told remembers which chats know that nothing can be stored.
type told struct {
	mu    sync.Mutex
	chats map[gateway.Address]notice // guarded by mu
}

// notice is when a chat was told, and the newest update that it was told about.
type notice struct {
	at     time.Time
	update int64
}

// due reports whether a chat has to be told, and notes that it is. It is told
// once in each outage and again for each new message, at most once a minute.
// update 0 is no new message.
func (u *told) due(a gateway.Address, update int64, since time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	last, known := u.chats[a]
	again := update > last.update || last.at.Before(since)
	if known && (!again || time.Since(last.at) < tellEvery) {
		return false
	}
	if u.chats == nil || len(u.chats) >= toldKept {
		u.chats = map[gateway.Address]notice{}
	}
	u.chats[a] = notice{time.Now(), max(update, last.update)}
	return true
}

// TellUnstored says in a chat that nothing can be stored. It is the one message
// that does not come from the outbox, which is what cannot be written; when it
// is lost, nothing is.
func (l *Lifecycle) TellUnstored(ctx context.Context, a gateway.Address, update int64) {
	if a.Chat.Channel == "" || !l.told.due(a, update, l.config.Store.Condition().Since) {
		return
	}
	l.Go(func(context.Context) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gateway.SendWithin)
		defer cancel()
		to := a
		for _, part := range l.config.Gateway.Render(to.Chat.Channel, l.config.Unstored()) {
			if _, err := l.config.Gateway.Send(ctx, to, part); err != nil {
				l.config.Log.Warn("chat not told that nothing can be stored", "chat", to.String(), "err", err)
			}
		}
	})
}

// LogUnstored logs what could not be stored and is tried again. A full disk is logged
// once, by package backup.
func (l *Lifecycle) LogUnstored(ctx context.Context, what string, err error, args ...any) {
	level := slog.LevelError
	if store.Unwritable(err) {
		level = slog.LevelDebug
	}
	l.config.Log.Log(context.WithoutCancel(ctx), level, what, append(args, "err", err)...)
}

// Refused tells those who asked for something in updates that were not stored.
// The messenger keeps them and delivers them again; a terminal does not, and hears
// of it from its channel.
func (l *Lifecycle) Refused(ctx context.Context, updates []gateway.Update) {
	for _, u := range updates {
		if u.Fault != "" || u.Address.Chat.Local() || l.config.Gateway.Allowed(u) != nil {
			continue
		}
		m, err := l.config.Gateway.Decode(u)
		if err == nil && m.Kind == gateway.KindText && m.Addressed {
			l.TellUnstored(ctx, u.Address, u.ID)
		}
	}
}
