package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"klawbot/gateway"
	"klawbot/internal/wait"
)

const (
	// pollWait is how long Telegram holds a poll open, its own maximum. The
	// first one does not wait, so that everybody knows at once whether polling works.
	pollWait, firstWait = 50 * time.Second, 0
	// pollRetryMax bounds what a 429 can make the poller wait: a bot must not
	// be made deaf by one answer.
	pollRetryMax = time.Hour
	// pollTimeout is when an answer does not come any more.
	pollTimeout = pollWait + 15*time.Second
	// storeWait bounds the wait while updates cannot be stored: that is our own
	// trouble, so that Telegram needs no more patience.
	storeWait = 30 * time.Second
)

// allowedUpdates are the kinds that are asked for. The list goes along with every
// poll, because Telegram remembers the last one, of any program.
var allowedUpdates = []string{
	models.AllowedUpdateMessage, models.AllowedUpdateEditedMessage, models.AllowedUpdateCallbackQuery,
	models.AllowedUpdateMyChatMember, models.AllowedUpdateStoppedMessageGeneration,
}

// pollRequest are the parameters of getUpdates. Without an offset Telegram begins
// at the first update that was never acknowledged.
type pollRequest struct {
	Offset         int64    `json:"offset,omitempty"`
	Limit          int      `json:"limit"`
	Timeout        int      `json:"timeout"`
	AllowedUpdates []string `json:"allowed_updates"`
}

// poller is one run of the long polling. Telegram forgets updates below the
// offset, so the offset moves only when accept has stored them. It is never
// kept: ids may start again, and duplicates are known by their id.
type poller struct {
	c       *Channel
	accept  gateway.Accept
	offset  int64
	wait    backoff
	first   bool // nothing was polled yet, or the last poll failed
	dropped bool // the webhook was removed
}

func newPoller(c *Channel, accept gateway.Accept) *poller {
	return &poller{c: c, accept: accept, first: true}
}

// run polls until ctx ends or the token is refused.
func (p *poller) run(ctx context.Context) error {
	for {
		err := p.round(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if denied(err) && p.c.denials.giveUp() {
			p.c.health.set(gateway.StateStopped, unknownToken)
			return fmt.Errorf("%s (%w)", unknownToken, err)
		}
		// After a failure a poll that does not wait tells at once that it is over.
		p.first = err != nil
		if err == nil {
			p.wait.reset()
			p.c.denials.worked()
			if p.c.health.set(gateway.StateOK, "") {
				p.c.log.Info("polling")
			}
			continue
		}
		if !wait.For(ctx, p.recover(ctx, err)) {
			return nil
		}
	}
}

// round is one poll and the hand-over of what it brought.
func (p *poller) round(ctx context.Context) error {
	raws, err := p.fetch(ctx)
	if err != nil {
		return err
	}
	p.c.health.polled()
	if len(raws) == 0 {
		return nil
	}
	updates, next := p.read(raws)
	if next == 0 {
		return errors.New("updates without update_id")
	}
	if err := p.accept(ctx, updates); err != nil {
		return &acceptError{err}
	}
	p.offset = next
	return nil
}

func (p *poller) fetch(ctx context.Context) ([]json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	wait := pollWait
	if p.first {
		wait = firstWait
	}
	var raws []json.RawMessage
	err := p.c.poll.post(ctx, "getUpdates", pollRequest{
		Offset: p.offset, Limit: 100, Timeout: int(wait / time.Second), AllowedUpdates: allowedUpdates,
	}, &raws)
	return raws, err
}

// read turns a batch into updates and tells the next offset: after the last one
// of this batch, which may be lower than before. An update whose id cannot be
// read has the one after its neighbour's. Without any id the offset is 0.
func (p *poller) read(raws []json.RawMessage) (updates []gateway.Update, next int64) {
	next = p.offset
	for _, raw := range raws {
		u := peek(p.c.id, next, raw)
		if u.ID == 0 {
			continue
		}
		next = u.ID + 1
		updates = append(updates, u)
	}
	return updates, next
}

// recover does what an error asks for and returns how long to wait then.
func (p *poller) recover(ctx context.Context, err error) time.Duration {
	refusal, _ := errors.AsType[*apiError](err)
	stored, _ := errors.AsType[*acceptError](err)
	switch {
	case stored != nil:
		p.c.report(gateway.StateStale, notStored+stored.Error())
		return min(p.wait.next(), storeWait)
	case refusal == nil:
		p.c.report(gateway.StateConnecting, err.Error())
		if errors.Is(err, context.DeadlineExceeded) {
			p.c.poll.renew() // the connection is there, but nothing comes through
		}
	case refusal.code == http.StatusTooManyRequests:
		p.c.report(gateway.StateConnecting, err.Error())
		return min(max(refusal.retryAfter, time.Second), pollRetryMax) + rand.N(time.Second)
	case refusal.code == http.StatusConflict && strings.Contains(refusal.description, "webhook"):
		return p.unhook(ctx)
	case refusal.code == http.StatusConflict:
		p.c.report(gateway.StateConflict, "another program polls with this token: stop it, or give this bot a token of its own")
	default:
		p.c.report(gateway.StateConnecting, err.Error())
	}
	return p.wait.next()
}

// unhook removes the webhook that keeps polls out, once. If it is set again, another
// program uses the token.
func (p *poller) unhook(ctx context.Context) time.Duration {
	p.c.report(gateway.StateConflict, "a webhook is set for this bot, so that it cannot be polled: remove it, or give this bot a token of its own")
	if p.dropped {
		return p.wait.next()
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var done bool
	err := p.c.poll.post(ctx, "deleteWebhook", map[string]bool{"drop_pending_updates": false}, &done)
	if err != nil {
		p.c.log.Warn("webhook stays", "err", err)
		return p.wait.next()
	}
	p.dropped = true
	p.c.log.Info("webhook removed")
	return 0
}

// deniedFor is how long Telegram may refuse a token that has worked before: its servers
// do so now and then for a moment.
const deniedFor = 5 * time.Minute

// denials are the refusals of the token in a row. Only what receives updates uses them.
type denials struct {
	known bool // the token has worked
	since time.Time
}

func (d *denials) worked() { *d = denials{known: true} }

// giveUp notes a refusal, and reports whether the token counts as invalid.
func (d *denials) giveUp() bool {
	if d.since.IsZero() {
		d.since = time.Now()
	}
	return !d.known || time.Since(d.since) >= deniedFor
}

// backoff gives growing waits between 1 s and 60 s. The zero value is ready.
type backoff struct{ tries int }

func (b *backoff) next() time.Duration {
	b.tries++
	return wait.Backoff(b.tries-1, 2*time.Second, time.Minute)
}

func (b *backoff) reset() { b.tries = 0 }

// notStored begins the fault of a store that fails.
const notStored = "messages cannot be stored: "

// acceptError: the updates were not stored, so they are not acknowledged.
type acceptError struct{ err error }

func (e *acceptError) Error() string { return e.err.Error() }

func (e *acceptError) Unwrap() error { return e.err }
