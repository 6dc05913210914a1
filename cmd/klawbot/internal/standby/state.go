package standby

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"klawbot/engine/health"
	"klawbot/internal/wait"
)

// State says how the standby fares.
func (h *Host) State() health.Standby {
	s := health.Standby{Host: h.config.Host, Epoch: h.lease.epoch}
	select {
	case <-h.ready:
		s.Complete = true
	default:
	}
	h.lease.mu.Lock()
	s.Renewed = h.lease.since
	h.lease.mu.Unlock()
	h.queue.mu.Lock()
	s.Database = h.queue.at
	h.queue.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Files = h.files
	if err := errors.Join(h.faults[:]...); err != nil {
		s.Fault = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return s
}

// behind says how old the replica of the files and of the database is, in seconds.
func (h *Host) behind() [2]float64 {
	s, now := h.State(), time.Now()
	age := func(at time.Time) float64 {
		if at.IsZero() {
			return -1
		}
		return now.Sub(at).Seconds()
	}
	return [2]float64{age(s.Files), age(s.Database)}
}

// waiting says what a host sees of the one that runs the bot.
func (l *leases) waiting() health.Standby {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.seen.rec
	s := health.Standby{Waiting: true, Host: r.Host, Epoch: l.seen.epoch, Complete: r.Ready, Renewed: l.seen.since}
	at := func(behind float64) time.Time {
		if behind < 0 || !r.Ready {
			return time.Time{}
		}
		return l.seen.since.Add(-time.Duration(behind * float64(time.Second)))
	}
	s.Files, s.Database = at(r.Behind[ofFiles]), at(r.Behind[ofDatabase])
	if l.fault != nil {
		s.Fault = strings.ReplaceAll(l.fault.Error(), "\n", "; ")
	}
	return s
}

// follow replicates the database also while nothing happens, so that its age is known.
func (h *Host) follow(ctx context.Context) {
	select {
	case <-h.ready:
	case <-ctx.Done():
	}
	for wait.For(ctx, copyEvery) {
		if err := h.queue.wait(ctx); ctx.Err() == nil {
			h.report(ofDatabase, err)
		}
	}
}

// Look says which host holds the lease of a replica and in which epoch; host is empty
// when none ever ran. It changes nothing.
func Look(ctx context.Context, c Config) (host string, epoch int, err error) {
	if _, err := (&litestream{program: c.Litestream}).find(); err != nil {
		return "", 0, err
	}
	l := &leases{place: newPlace(c)}
	epoch, r, err := l.latest(ctx)
	switch {
	case err != nil:
		return "", 0, fmt.Errorf("%s can't be read: %w", c.To, err)
	case epoch > 0 && !r.Ready:
		return r.Host, epoch, errors.New("the replica isn't complete; start the host that ran the bot")
	}
	return r.Host, epoch, nil
}
