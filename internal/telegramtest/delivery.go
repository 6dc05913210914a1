package telegramtest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"
)

// The waits between two deliveries of the same update.
const (
	hookWaitMin = time.Second
	hookWaitMax = time.Minute
)

// delivery hands updates to one webhook, one after the other.
type delivery struct {
	s           *Server
	url, secret string
	wake        <-chan struct{}
}

// startDelivery begins to hand updates to the webhook. s.mu is held.
func (s *Server) startDelivery() {
	ctx, stop := context.WithCancel(context.Background())
	wake := make(chan struct{}, 1)
	s.webhook.wake, s.webhook.stop = wake, stop
	d := delivery{s, s.webhook.url, s.webhook.secret, wake}
	s.deliveries.Go(func() { d.run(ctx) })
}

// run delivers until ctx ends. An update that is refused comes again, later and
// later, and holds back the ones behind it.
func (d delivery) run(ctx context.Context) {
	wait := hookWaitMin
	for ctx.Err() == nil {
		u, ok := d.first()
		if !ok {
			select {
			case <-d.wake:
			case <-ctx.Done():
			}
			continue
		}
		err := d.post(ctx, u)
		if ctx.Err() != nil {
			return
		}
		if d.note(u, err); err == nil {
			wait = hookWaitMin
			continue
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, hookWaitMax)
	}
}

func (d delivery) first() (update, bool) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	d.s.queue.expire(d.s.config.Now())
	if len(d.s.queue.pending) == 0 {
		return update{}, false
	}
	return d.s.queue.pending[0], true
}

// note writes down what became of a delivery.
func (d delivery) note(u update, err error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	defer d.s.touch()
	if err != nil {
		d.s.webhook.failures++
		d.s.webhook.lastError = err.Error()
		return
	}
	d.s.webhook.lastError = ""
	if q := &d.s.queue; len(q.pending) > 0 && q.pending[0].ID == u.ID {
		q.pending = q.pending[1:]
	}
}

// post delivers one update. The error is why it was not taken.
func (d delivery) post(ctx context.Context, u update) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, bytes.NewReader(u.wire()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if d.secret != "" {
		r.Header.Set("X-Telegram-Bot-Api-Secret-Token", d.secret)
	}
	resp, err := d.s.config.Hook.Do(r)
	if err != nil {
		return err
	}
	_ = resp.Body.Close() // it is not read
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("wrong response from the webhook: %s", resp.Status)
	}
	return nil
}
