package standby

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const ttl = 10 * time.Second

func leasesIn(t *testing.T, p place) *leases {
	t.Helper()
	if err := p.put(t.Context(), marker, text(nil), false); err != nil {
		t.Fatal(err)
	}
	return &leases{place: p, ttl: ttl, log: slog.New(slog.DiscardHandler), may: func(context.Context, int) error { return nil }}
}

// cut is a place that a host can be cut off from.
type cut struct {
	place
	off atomic.Bool
}

var errCut = errors.New("no connection")

func (c *cut) put(ctx context.Context, name string, o object, fresh bool) error {
	if c.off.Load() {
		return errCut
	}
	return c.place.put(ctx, name, o, fresh)
}

func (c *cut) open(ctx context.Context, name string) (io.ReadCloser, error) {
	if c.off.Load() {
		return nil, errCut
	}
	return c.place.open(ctx, name)
}

func acquire(t *testing.T, l *leases, host string, own int, now bool) *lease {
	t.Helper()
	got, err := l.acquire(t.Context(), host, host, own, now)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestLeasePassesWhenTheHolderIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := leasesIn(t, folder(t.TempDir()))
		first := acquire(t, l, "a", 0, false)
		alive, die := context.WithCancel(t.Context())
		held := make(chan error, 1)
		go func() { held <- first.hold(alive) }()
		time.AfterFunc(time.Minute, die)
		began := time.Now()
		second := acquire(t, l, "b", 0, false)
		if took := time.Since(began); took < time.Minute+ttl/2 || took > time.Minute+2*ttl {
			t.Errorf("b got the lease after %s; a was alive for a minute", took)
		}
		if first.valid() || !second.valid() || second.epoch != 2 {
			t.Errorf("a holds: %v, b holds: %v, epoch %d", first.valid(), second.valid(), second.epoch)
		}
		if err := <-held; err != nil {
			t.Error(err)
		}
	})
}

func TestLeaseEndsBeforeAnotherHostHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := folder(t.TempDir())
		l, wire := leasesIn(t, p), &cut{place: p}
		cutOff := &leases{place: wire, ttl: l.ttl, log: l.log, may: l.may}
		first := acquire(t, cutOff, "a", 0, false)
		lost := make(chan time.Time, 1)
		go func() {
			if err := first.hold(t.Context()); !errors.Is(err, errLost) {
				t.Errorf("a was cut off, and stopped with %v", err)
			}
			lost <- time.Now()
		}()
		time.AfterFunc(30*time.Second, func() { wire.off.Store(true) })
		acquire(t, l, "b", 0, false)
		got := time.Now()
		wire.off.Store(false) // the connection is back, too late
		if end := <-lost; !end.Before(got) {
			t.Errorf("a stopped %s after b had the lease", end.Sub(got))
		}
		if err := first.renew(t.Context(), func(*record) {}); !errors.Is(err, errLost) {
			t.Errorf("a renewed a lease that b has: %v", err)
		}
	})
}

func TestLeaseIsHandedOverWhenAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := leasesIn(t, folder(t.TempDir()))
		first := acquire(t, l, "a", 0, false)
		go func() {
			if err := first.hold(t.Context()); !errors.Is(err, errLost) {
				t.Errorf("hold returned %v", err)
			}
			first.mu.Lock()
			r := first.rec
			first.mu.Unlock()
			r.Released = true
			if err := first.write(t.Context(), first.epoch, r, false); err != nil {
				t.Error(err)
			}
		}()
		began := time.Now()
		acquire(t, l, "b", 0, true)
		if took := time.Since(began); took > ttl/2 {
			t.Errorf("it took %s", took)
		}
	})
}

func TestLeaseIsTakenAgainByTheSameDirectoryAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := leasesIn(t, folder(t.TempDir()))
		acquire(t, l, "a", 0, false)
		began := time.Now()
		if again := acquire(t, l, "a", 1, false); again.epoch != 1 || time.Since(began) > 0 {
			t.Errorf("epoch %d after %s", again.epoch, time.Since(began))
		}
		// Another directory with the same name for people has to wait.
		began = time.Now()
		if other := acquire(t, l, "b", 0, false); other.epoch != 2 || time.Since(began) < ttl {
			t.Errorf("epoch %d after %s", other.epoch, time.Since(began))
		}
	})
}

func TestOneOfManyHostsGetsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := leasesIn(t, folder(t.TempDir()))
		var holders atomic.Int32
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		defer all.Wait()
		defer stop()
		for _, host := range []string{"a", "b", "c", "d", "e"} {
			all.Go(func() {
				got, err := l.acquire(ctx, host, host, 0, false)
				if err != nil {
					return // the test is over
				}
				if holders.Add(1) > 1 {
					t.Error("two hosts have the lease")
				}
				_ = got.hold(ctx)
				got.order.Lock() // its last renewal has ended
			})
		}
		time.Sleep(5 * time.Minute)
		if holders.Load() != 1 {
			t.Errorf("%d hosts have the lease", holders.Load())
		}
	})
}

func TestNothingIsWrittenToADiskThatIsNotMounted(t *testing.T) {
	dir := t.TempDir()
	l := leasesIn(t, folder(dir))
	held := acquire(t, l, "a", 0, false)
	if err := os.Rename(filepath.Join(dir, marker), filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := held.renew(t.Context(), func(*record) {}); err == nil {
		t.Error("the lease was renewed in an empty directory")
	}
	if err := folder(filepath.Join(dir, "gone")).put(t.Context(), marker, text(nil), false); err == nil {
		t.Error("a replica was founded in a directory that is not there")
	}
}

// A host that waits knows who runs the bot and how old the replica is, by its own clock.
func TestWaitingHostSaysHowOldTheReplicaIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := leasesIn(t, folder(t.TempDir()))
		first := acquire(t, l, "a", 0, false)
		first.behind = func() [2]float64 { return [2]float64{3, 1.5} }
		alive, die := context.WithCancel(t.Context())
		go func() { _ = first.hold(alive) }()
		if err := first.renew(t.Context(), func(r *record) { r.Ready = true }); err != nil {
			t.Fatal(err)
		}
		other := &leases{place: l.place, ttl: ttl, log: l.log, may: func(context.Context, int) error { return errors.New("no room") }}
		waits, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = other.acquire(waits, "b", "b", 0, false) // it never gets the lease
		}()
		time.Sleep(time.Minute)
		now, s := time.Now(), other.waiting()
		if age := now.Sub(s.Renewed); !s.Waiting || s.Host != "a" || s.Epoch != 1 || !s.Complete || age < 0 || age > ttl/2 || s.Fault != "" {
			t.Errorf("it waits and knows %+v, renewed %s ago", s, age)
		}
		if files, database := s.Renewed.Sub(s.Files), s.Renewed.Sub(s.Database); files != 3*time.Second || database != 1500*time.Millisecond {
			t.Errorf("the files are %s old, the database %s", files, database)
		}
		die()
		time.Sleep(time.Minute)
		if s := other.waiting(); s.Fault != "no room" || time.Since(s.Renewed) < 30*time.Second {
			t.Errorf("it can't take over and says %+v", s)
		}
		stop()
		<-ended
	})
}

// A copy of the directory of a host has the same id. On a host with another name it gets
// one of its own, so that it waits and then continues from the replica.
func TestCopiedDirectoryIsAnotherHost(t *testing.T) {
	dir := t.TempDir()
	as := func(host string) (*Host, own) {
		t.Helper()
		h := &Host{config: Config{Host: host, Data: dir}, stream: &litestream{dir: filepath.Join(dir, "standby")}}
		o, err := h.identify()
		if err != nil {
			t.Fatal(err)
		}
		return h, o
	}
	h, first := as("attic")
	if err := h.note(own{first.Holder, first.Host, 3}); err != nil {
		t.Fatal(err)
	}
	if _, again := as("attic"); again != (own{first.Holder, "attic", 3}) {
		t.Errorf("after a restart it is %+v, it was %+v", again, first)
	}
	if _, copied := as("cellar"); copied.Holder == first.Holder || copied.Host != "cellar" || copied.Epoch != replaced {
		t.Errorf("the copy is %+v, the host %+v", copied, first)
	}
}
