// Package standby lets a second host take over when the first one fails. The host that
// runs the bot holds a lease in a place that both can reach, and replicates the database
// (with Litestream) and the files there. Nothing leaves for a messenger, and no call that
// modifies data starts, before the place has what was committed for it. So a host that
// takes over resumes as after a crash: it repeats nothing unmarked and misses nothing but
// the last moment of the files.
package standby

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"klawbot/engine/health"
	"klawbot/internal/atomicfile"
	"klawbot/internal/wait"
)

// Config says where the replica is.
type Config struct {
	// To is an absolute path, or s3://BUCKET/PATH.
	To string
	// Host is this host's name for people.
	Host string
	// Lease is how long a host may be silent before the other takes over.
	Lease time.Duration
	// Litestream is the program.
	Litestream string
	// Found lets this host be the first one of a replica. Now asks the host that runs the
	// bot to stop.
	Found, Now bool
	// Of an S3-compatible store; an empty endpoint is AWS.
	Endpoint, Region, AccessKeyID, SecretAccessKey string
	// Data and Workspace are the directories of the bot.
	Data, Workspace string
	// Waiting answers status and health requests until this host runs the bot. May be nil.
	Waiting func(state func() health.Standby) (stop func())
	Log     *slog.Logger
}

// How often files are copied, and how long a message waits for the database.
const (
	copyEvery = time.Second
	tidyEvery = time.Hour
	// patience is how long an effect waits for a replica that fails while the lease is
	// renewed: a broken replica must not silence the bot.
	patience = 10 * time.Second
)

const database = "klawbot.db"

// own is what a data directory knows of itself.
type own struct {
	Holder string `json:"holder"`
	Host   string `json:"host,omitempty"`
	Epoch  int    `json:"epoch"` // in which this directory ran last; see the constants
}

const (
	neverRan = 0  // the directory may hold a bot from before it had a standby
	replaced = -1 // the directory is neither what it was nor what it is to be
)

// Host is a host while it runs the bot.
type Host struct {
	config Config
	lease  *lease
	stream *litestream
	mirror *mirror
	queue  queue
	ready  chan struct{} // closed when the replica is complete
	mu     sync.Mutex
	faults [2]error  // guarded by mu: why the replica of a part falls behind
	files  time.Time // guarded by mu: up to when the place has them
}

// Run waits until this host may run the bot, brings the data directory up to date, and
// calls bot. Its context ends when the lease is lost.
func Run(ctx context.Context, c Config, bot func(context.Context, *Host) error) error {
	h := &Host{config: c, ready: make(chan struct{})}
	db := filepath.Join(c.Data, database)
	dir := filepath.Join(c.Data, "standby")
	to := newPlace(c)
	h.stream = &litestream{program: c.Litestream, dir: dir, db: db, place: to, log: c.Log, http: socketClient(dir)}
	defer h.stream.http.CloseIdleConnections()
	h.queue.sync = h.stream.sync
	h.mirror = &mirror{place: to, roots: map[string]string{"workspace": c.Workspace}}
	for _, name := range []string{"media", "memory", "skills", "plugins", "outgoing"} {
		h.mirror.roots[name] = filepath.Join(c.Data, name)
	}
	if _, err := h.stream.find(); err != nil {
		return err
	}
	o, err := h.identify()
	if err != nil {
		return err
	}
	all := &leases{place: to, ttl: c.Lease, log: c.Log}
	stop := func() {}
	if c.Waiting != nil {
		stop = sync.OnceFunc(c.Waiting(all.waiting))
	}
	defer stop()
	if err := h.await(ctx, all, o); err != nil {
		return err
	}
	all.may = func(ctx context.Context, epoch int) error {
		_, err := h.source(ctx, all, epoch, o)
		return err
	}
	if h.lease, err = all.acquire(ctx, o.Holder, c.Host, o.Epoch, c.Now); err != nil {
		return err
	}
	stop()
	h.lease.behind = h.behind
	return h.serve(ctx, o, bot)
}

// await waits for a replica, or makes one. Only a directory that never saw the replica
// makes it: an empty place may be a disk that isn't mounted.
func (h *Host) await(ctx context.Context, all *leases, o own) error {
	to := all.place
	for said := false; ; said = true {
		_, err := read(ctx, to, marker)
		switch gone := errors.Is(err, fs.ErrNotExist); {
		case err == nil:
			return nil
		case gone && h.config.Found && o.Epoch == neverRan:
			return to.put(ctx, marker, text([]byte("A replica of klawbot; see doc/standby.md.\n")), false)
		case gone && h.config.Found:
			return fmt.Errorf("%s holds no replica any more; is it mounted?", h.config.To)
		case !said:
			h.config.Log.Warn("standby: no replica yet; start the bot on the first host: klawbot run", "to", h.config.To, "err", err)
		}
		all.note(watch{}, fmt.Errorf("no replica yet in %s: %w", h.config.To, err))
		if !wait.For(ctx, h.config.Lease/5) {
			return ctx.Err()
		}
	}
}

// source is the epoch whose replica this host has to continue, of those up to the given
// one; 0: the data directory is what ran last, or nothing ran yet.
func (h *Host) source(ctx context.Context, l *leases, epoch int, o own) (from int, err error) {
	if epoch == 0 {
		return 0, nil
	}
	for from = epoch; from > 0; from-- {
		r, err := l.read(ctx, from)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return 0, err
		case r.Holder == o.Holder && (o.Epoch == from || o.Epoch == neverRan && from == 1):
			return 0, nil
		case !r.Ready:
			continue
		}
		if _, err := os.Stat(h.stream.db); err == nil && o.Epoch == neverRan {
			return 0, fmt.Errorf("%s holds another bot; use an empty data directory on this host, or another standby.to", h.config.Data)
		}
		return from, nil
	}
	return 0, errors.New("the replica isn't complete; start the host that ran the bot")
}

// identify reads or makes what the data directory knows of itself.
func (h *Host) identify() (o own, err error) {
	body, err := os.ReadFile(h.ownFile())
	if err == nil {
		err = json.Unmarshal(body, &o)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return o, err
	case o.Host == h.config.Host:
		return o, nil
	case o.Host != "" && o.Epoch != neverRan:
		// A copy of another host's directory, or a host with a new name: the replica has
		// what ran last. With one id both would run.
		o = own{Epoch: replaced}
	}
	if o.Host != "" || o.Holder == "" {
		o.Holder = newID()
	}
	o.Host = h.config.Host
	return o, h.note(o)
}

func (h *Host) ownFile() string { return filepath.Join(h.stream.dir, "host.json") }

func (h *Host) note(o own) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(h.stream.dir, 0o700), atomicfile.Write(h.ownFile(), body, 0o600))
}

// serve runs the bot under the lease.
func (h *Host) serve(ctx context.Context, o own, bot func(context.Context, *Host) error) error {
	ctx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	holding, letGo := context.WithCancel(context.WithoutCancel(ctx)) // the lease is renewed until the bot has stopped
	defer letGo()
	var beside sync.WaitGroup
	defer beside.Wait()
	defer letGo()
	beside.Go(func() {
		if err := h.lease.hold(holding); err != nil {
			h.config.Log.Error("this host stops", "err", err)
			lose(err)
		}
	})
	began := time.Now()
	if err := h.prepare(ctx, o); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	h.config.Log.Info("this host runs the bot", "host", h.config.Host, "epoch", h.lease.epoch, "took", time.Since(began).Round(time.Millisecond))
	h.stream.epoch = h.lease.epoch
	copying, stopCopying := context.WithCancel(holding)
	defer stopCopying()
	var copies sync.WaitGroup
	beside.Go(func() { h.stream.run(holding) })
	copies.Go(func() { h.replicate(copying) })
	beside.Go(func() { h.follow(copying) })
	if _, err := os.Stat(h.stream.db); err == nil {
		h.awaitReady(ctx) // Litestream begins with a database at rest
	}
	err := bot(ctx, h)
	stopCopying()
	copies.Wait()
	cause := context.Cause(ctx)
	h.finish(holding, errors.Is(cause, errLost))
	if errors.Is(cause, errLost) {
		err = errors.Join(err, cause)
	}
	return err
}

// awaitReady waits until the replica is complete, but not for long.
func (h *Host) awaitReady(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-h.ready:
	case <-ctx.Done():
	}
}

// finish copies what the bot did at its end, and tells the host that takes over, if one
// does, that it need not wait longer.
func (h *Host) finish(ctx context.Context, lost bool) {
	ctx, cancel := context.WithTimeout(ctx, h.lease.ttl/3)
	defer cancel()
	err := errors.Join(h.mirror.copy(ctx, h.lease.epoch), h.stream.sync(ctx))
	if err == nil && lost {
		h.lease.mu.Lock()
		r := h.lease.rec
		h.lease.mu.Unlock()
		r.Released = true
		err = h.lease.write(ctx, h.lease.epoch, r, false)
	}
	if err != nil {
		h.config.Log.Warn("the replica may lack the last moment", "err", err)
	}
}

// prepare makes the data directory what ran last.
func (h *Host) prepare(ctx context.Context, o own) error {
	if o.Epoch == h.lease.epoch {
		return checkpoints(h.stream.db, true)
	}
	from, err := h.source(ctx, h.lease.leases, h.lease.epoch-1, o)
	if err != nil {
		return err
	}
	if from > 0 {
		if err := h.restore(ctx, from, o); err != nil {
			return fmt.Errorf("take over epoch %d: %w", from, err)
		}
	}
	if err := errors.Join(h.stream.forget(), checkpoints(h.stream.db, true)); err != nil {
		return err
	}
	return h.note(own{o.Holder, o.Host, h.lease.epoch})
}

// restore replaces the data directory by the replica of an epoch. The old database stays
// beside it.
func (h *Host) restore(ctx context.Context, epoch int, o own) error {
	if err := os.MkdirAll(h.stream.dir, 0o700); err != nil {
		return err
	}
	restored := filepath.Join(h.stream.dir, "restored.db")
	if err := h.stream.restore(ctx, epoch, restored); err != nil {
		return err
	}
	if err := h.note(own{o.Holder, o.Host, replaced}); err != nil {
		return err
	}
	if err := h.mirror.restore(ctx, epoch); err != nil {
		return err
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		err := os.Rename(h.stream.db+end, filepath.Join(h.stream.dir, "replaced.db"+end))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(filepath.Join(h.config.Data, "instance")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // klawbot writes it again from the database
	}
	return atomicfile.Rename(restored, h.stream.db)
}

// replicate copies the files, and says when the replica is complete.
func (h *Host) replicate(ctx context.Context) {
	var unused map[string]bool
	started, tidied := time.Now(), time.Time{}
	complete := false
	h.mirror.run(ctx, h.lease.epoch, func(began time.Time, err error) (pause time.Duration) {
		if err == nil {
			h.mu.Lock()
			h.files = began
			h.mu.Unlock()
		}
		if err == nil && !complete {
			err = h.complete(ctx)
			complete = err == nil
		}
		if !complete && time.Since(started) < patience {
			return copyEvery / 10 // Litestream starts
		}
		if complete && err == nil && time.Since(tidied) > tidyEvery && h.lease.valid() {
			tidied = time.Now()
			unused, err = h.mirror.tidy(ctx, h.lease.epoch, unused)
		}
		h.report(ofFiles, err)
		return copyEvery
	})
}

// complete tells other hosts that they can continue from the replica, once it is so.
func (h *Host) complete(ctx context.Context) error {
	if err := h.stream.sync(ctx); err != nil {
		return err
	}
	if err := h.lease.renew(ctx, func(r *record) { r.Ready = true }); err != nil {
		return err
	}
	close(h.ready)
	h.config.Log.Info("the replica is complete", "epoch", h.lease.epoch)
	return nil
}

// The parts of a replica that fail apart from each other.
const (
	ofFiles = iota
	ofDatabase
)

// report logs when the replication of a part fails and when it works again.
func (h *Host) report(part int, err error) {
	h.mu.Lock()
	was := h.faults[part] != nil
	h.faults[part] = err
	h.mu.Unlock()
	if was != (err != nil) {
		if err != nil {
			h.config.Log.Warn("the replica falls behind", "err", err)
		} else {
			h.config.Log.Info("the replica is up to date")
		}
	}
}

// Replicated returns when the place has everything that was committed before, so that
// its effect may happen; or an error when another host may have taken over. While the
// lease is held and the replica fails, it returns after some seconds.
func (h *Host) Replicated(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var err error
	select {
	case <-h.ready:
		err = h.queue.wait(limit)
	case <-limit.Done():
		err = errors.New("the replica is not complete yet")
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !h.lease.valid():
		return errLost
	case err != nil:
		h.report(ofDatabase, err)
	}
	return nil
}

// queue joins those who wait for the same round of replication.
type queue struct {
	sync func(context.Context) error
	mu   sync.Mutex
	next *round    // guarded by mu
	busy bool      // guarded by mu
	at   time.Time // guarded by mu: when the last good round began
}

type round struct {
	done chan struct{}
	err  error
}

// wait returns when a round that began after the call has ended.
func (q *queue) wait(ctx context.Context) error {
	q.mu.Lock()
	if q.next == nil {
		q.next = &round{done: make(chan struct{})}
	}
	mine := q.next
	if !q.busy {
		q.busy = true
		go q.work()
	}
	q.mu.Unlock()
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *queue) work() {
	for {
		q.mu.Lock()
		now := q.next
		q.next, q.busy = nil, now != nil
		q.mu.Unlock()
		if now == nil {
			return
		}
		ctx, began := context.Background(), time.Now()
		for try := 0; try < 3; try++ {
			if now.err = q.sync(ctx); now.err == nil || !wait.For(ctx, 200*time.Millisecond) {
				break
			}
		}
		if now.err == nil {
			q.mu.Lock()
			q.at = began
			q.mu.Unlock()
		}
		close(now.done)
	}
}
