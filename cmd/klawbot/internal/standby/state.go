package standby

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
