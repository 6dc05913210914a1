package standby

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"sync"
	"time"

	"klawbot/internal/wait"
)

// record is the lease of an epoch. Only its holder writes it after it was made.
type record struct {
	// Holder is the random id of a data directory, Host a name for people.
	Holder string `json:"holder"`
	Host   string `json:"host"`
	// Beat grows with every renewal. Hosts compare it with what they saw before, and
	// never their clocks.
	Beat int64 `json:"beat"`
	// Seconds is how long the holder may be silent.
	Seconds float64 `json:"seconds"`
	// Ready says that the replica of this epoch is complete.
	Ready bool `json:"ready,omitempty"`
	// Behind is the age of the replica at this renewal, of the files and of the database,
	// in seconds; negative: unknown.
	Behind [2]float64 `json:"behind"`
	// Released says that the holder has stopped and the replica has all it did.
	Released bool `json:"released,omitempty"`
}

func newID() string { return strings.ToLower(rand.Text()) }

func leaseName(epoch int) string { return fmt.Sprintf("lease/%010d", epoch) }

// replicaFolder is the folder of an epoch. A host that lost its lease goes on writing
// to its own, where it harms nothing.
func replicaFolder(epoch int) string { return fmt.Sprintf("epochs/%010d", epoch) }

// leases are the leases of a place.
type leases struct {
	place place
	ttl   time.Duration
	log   *slog.Logger
	// may says why this host can't continue after an epoch, nil if it can.
	may func(ctx context.Context, epoch int) error

	mu    sync.Mutex
	seen  watch // guarded by mu
	fault error // guarded by mu: why this host could not take over
}

// note keeps what a waiting host saw, for its status and health page.
func (l *leases) note(w watch, fault error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen, l.fault = w, fault
}

// latest is the newest epoch, 0 when there is none.
func (l *leases) latest(ctx context.Context) (epoch int, r record, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	names, err := l.place.list(ctx, "lease")
	if err != nil {
		return 0, r, err
	}
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(path.Base(name), "%010d", &n); err == nil && leaseName(n) == name {
			epoch = max(epoch, n)
		}
	}
	if epoch == 0 {
		return 0, r, nil
	}
	r, err = l.read(ctx, epoch)
	return epoch, r, err
}

func (l *leases) read(ctx context.Context, epoch int) (r record, err error) {
	body, err := read(ctx, l.place, leaseName(epoch))
	if err == nil {
		err = json.Unmarshal(body, &r)
	}
	return r, err
}

func (l *leases) write(ctx context.Context, epoch int, r record, fresh bool) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return l.place.put(ctx, leaseName(epoch), text(body), fresh)
}

// lease is what a host holds, or is about to.
type lease struct {
	*leases
	epoch int
	// behind returns the age of the replica; nil if it is not known.
	behind func() [2]float64
	order  sync.Mutex // held by a renewal, so that what is written last is the newest
	mu     sync.Mutex
	rec    record    // guarded by mu
	since  time.Time // guarded by mu: when the last renewal began
}

// errLost means that another host has the lease, or may have it.
var errLost = errors.New("the lease is lost")

// margin is what a holder gives up its lease before others may take it.
func (l *leases) margin() time.Duration { return l.ttl / 5 }

// valid reports whether no other host can have the lease. Both clocks count: the
// monotonic one stands still while a machine sleeps.
func (l *lease) valid() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, limit := time.Now(), l.ttl-l.margin()
	return now.Sub(l.since) < limit && now.Round(0).Sub(l.since.Round(0)) < limit
}

// renew writes the lease and then looks whether another host has taken over. In this
// order one of two hosts sees the other, however their requests interleave.
func (l *lease) renew(ctx context.Context, change func(*record)) error {
	l.order.Lock()
	defer l.order.Unlock()
	ctx, cancel := context.WithTimeout(ctx, l.ttl)
	defer cancel()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	began := time.Now()
	l.mu.Lock()
	change(&l.rec)
	l.rec.Beat++
	r := l.rec
	l.mu.Unlock()
	if err := l.write(ctx, l.epoch, r, false); err != nil {
		return err
	}
	switch next, err := l.read(ctx, l.epoch+1); {
	case err == nil:
		return fmt.Errorf("%w: %s takes over", errLost, next.Host)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if began.After(l.since) {
		l.since = began
	}
	return nil
}

// hold renews the lease until ctx ends, or returns why it is lost. A renewal that hangs,
// as on a disk that is gone, must not hold up the end of the lease.
func (l *lease) hold(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lost := make(chan error, 1)
	go func() {
		for wait.For(ctx, l.ttl/5) {
			behind := [2]float64{-1, -1}
			if l.behind != nil {
				behind = l.behind() // it asks this lease, too
			}
			err := l.renew(ctx, func(r *record) { r.Behind = behind })
			if errors.Is(err, errLost) {
				lost <- err
				return
			}
			if err != nil && ctx.Err() == nil {
				l.log.Warn("lease not renewed", "err", err)
			}
		}
	}()
	for wait.For(ctx, l.ttl/50) {
		select {
		case err := <-lost:
			return err
		default:
		}
		if !l.valid() {
			return fmt.Errorf("%w: it could not be renewed for %s", errLost, l.ttl-l.margin())
		}
	}
	return nil
}

// watch is what a waiting host has seen of the latest epoch.
type watch struct {
	epoch int
	rec   record
	since time.Time // when it was first seen so
}

// see notes what is there now, and reports whether its holder is gone: it has
// released the lease, or not renewed it for so long that it has stopped by itself.
func (w *watch) see(epoch int, r record, ttl time.Duration) (gone bool) {
	if epoch != w.epoch || r != w.rec {
		*w = watch{epoch, r, time.Now()}
	}
	ttl = max(ttl, time.Duration(r.Seconds*float64(time.Second)))
	return epoch == 0 || r.Released || time.Since(w.since) >= ttl
}

// acquire waits until this host may run the bot. It returns the lease and the epochs
// before it, the newest first, from whose replica the host continues; none if the data
// directory is the one that ran last. With now it asks the holder to stop.
func (l *leases) acquire(ctx context.Context, holder, host string, own int, now bool) (*lease, error) {
	var w watch
	for said := false; ; {
		epoch, r, err := l.latest(ctx)
		var got *lease
		if err != nil {
			l.log.Warn("the replica can't be read; trying again", "err", err)
		} else if got, err = l.try(ctx, &w, epoch, r, holder, host, own, now); err != nil {
			l.log.Warn("the lease was not taken; trying again", "err", err)
		} else if got != nil {
			return got, nil
		} else if !said {
			said = true
			l.log.Info("standby: waiting", "running", r.Host, "epoch", epoch)
		}
		l.note(w, err)
		if !wait.For(ctx, l.ttl/5) {
			return nil, ctx.Err()
		}
	}
}

// try takes the lease if it may be taken; nil if not.
func (l *leases) try(ctx context.Context, w *watch, epoch int, r record, holder, host string, own int, now bool) (*lease, error) {
	gone := w.see(epoch, r, l.ttl)
	if epoch > 0 && epoch == own && r.Holder == holder {
		// The data directory is the one that ran last.
		got := &lease{leases: l, epoch: epoch, rec: r}
		err := got.renew(ctx, func(r *record) { r.Host, r.Seconds, r.Released = host, l.ttl.Seconds(), false })
		return only(got, err)
	}
	if !gone && !now {
		return nil, nil
	}
	if err := l.may(ctx, epoch); err != nil {
		return nil, err
	}
	mine := record{Holder: holder, Host: host, Seconds: l.ttl.Seconds()}
	got := &lease{leases: l, epoch: epoch + 1, rec: mine, since: time.Now()}
	if err := l.write(ctx, got.epoch, mine, true); err != nil {
		return only(nil, err)
	}
	for epoch > 0 {
		// The holder reads the new lease after it wrote its own; now this host reads
		// what it wrote.
		last, err := l.read(ctx, epoch)
		if err == nil && w.see(epoch, last, l.ttl) {
			break
		}
		if !wait.For(ctx, l.ttl/10) {
			return nil, ctx.Err()
		}
		if err := got.renew(ctx, func(*record) {}); err != nil {
			return only(nil, err)
		}
	}
	return only(got, got.renew(ctx, func(*record) {}))
}

// only returns a lease without an error, and no error where another host was faster.
func only(l *lease, err error) (*lease, error) {
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, errLost):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return l, nil
}
