package telegram

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"klawbot/gateway"
	"klawbot/internal/wait"
)

const (
	// chatBurst is how many messages a chat may get at once.
	chatBurst = 3
	// globalBurst is the same for all chats together.
	globalBurst = 5
	// previewGap is the least time between two previews in a chat.
	previewGap = 1500 * time.Millisecond
	// chatsKept is how many chats are remembered before idle ones are forgotten.
	chatsKept = 1000
	// idleAfter is when a chat's limiters are surely full again.
	idleAfter = 2 * time.Minute
)

// Limits is the pace of sending; 0 is none.
type Limits struct {
	// PerChatPerSecond is the messages a second to one chat.
	PerChatPerSecond float64
	// GroupPerMinute is the messages in any minute to one group.
	GroupPerMinute float64
	// GlobalPerSecond is the messages a second to all chats together.
	GlobalPerSecond float64
}

// pacer keeps messages and edits at the pace that Telegram allows, each chat in
// the order of asking. What yields never waits.
type pacer struct {
	limits func() Limits

	mu     sync.Mutex // guards all below
	global *rate.Limiter
	chats  map[int64]*chatPace
	swept  time.Time
}

type chatPace struct {
	second, minute *rate.Limiter
	blocked        time.Time // Telegram told to wait until then
	preview        time.Time // of the last edit that yielded
	used           time.Time
}

func newPacer(limits func() Limits) *pacer {
	if limits == nil {
		limits = func() Limits { return Limits{} }
	}
	return &pacer{limits: limits, global: rate.NewLimiter(rate.Inf, globalBurst), chats: map[int64]*chatPace{}}
}

// wait returns when a message may leave for the chat. What yields gets a Busy
// error instead of waiting; preview says that it is an edit that yields.
func (p *pacer) wait(ctx context.Context, chat int64, yields, preview bool) error {
	if yields {
		return p.try(chat, preview)
	}
	left, giveBack := p.reserve(chat)
	if err := p.pause(ctx, left); err != nil {
		giveBack()
		return err
	}
	// Telegram may have told the chat to wait in the meantime.
	for {
		left := p.blocked(chat)
		if left <= 0 {
			return nil
		}
		if err := p.pause(ctx, left); err != nil {
			return err
		}
	}
}

func (p *pacer) pause(ctx context.Context, d time.Duration) error {
	if !wait.For(ctx, d) {
		return &unsentError{ctx.Err()}
	}
	return nil
}

// reserve takes a place for one message. It returns how long to wait for it, and
// what gives it back when the wait ends early.
func (p *pacer) reserve(chat int64) (wait time.Duration, giveBack func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	var places []*rate.Reservation
	for _, l := range p.limiters(p.chat(chat, now), chat) {
		r := l.ReserveN(now, 1)
		places = append(places, r)
		wait = max(wait, r.DelayFrom(now))
	}
	return wait, func() {
		for _, r := range places {
			r.Cancel()
		}
	}
}

// try takes a place only when there is one now and another stays free for what
// does not yield.
func (p *pacer) try(chat int64, preview bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	c := p.chat(chat, now)
	if now.Before(c.blocked) || preview && now.Sub(c.preview) < previewGap {
		return busy()
	}
	limiters := p.limiters(c, chat)
	for _, l := range limiters {
		if l.Limit() != rate.Inf && l.TokensAt(now) < float64(min(2, l.Burst())) {
			return busy()
		}
	}
	for _, l := range limiters {
		l.AllowN(now, 1)
	}
	if preview {
		c.preview = now
	}
	return nil
}

func busy() error {
	return &gateway.SendError{Kind: gateway.Busy, Err: errors.New("the chat's pace has no room now")}
}

// block holds everything for the chat back: Telegram told so.
func (p *pacer) block(chat int64, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	c := p.chat(chat, now)
	if until := now.Add(d); until.After(c.blocked) {
		c.blocked = until
	}
}

// blocked is how long the chat must wait yet because Telegram told so.
func (p *pacer) blocked(chat int64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.chats[chat]; c != nil {
		return time.Until(c.blocked)
	}
	return 0
}

// limiters are those that hold for a chat, with the limits as they are now. The
// caller holds mu.
func (p *pacer) limiters(c *chatPace, chat int64) []*rate.Limiter {
	l := p.limits()
	now := time.Now()
	tune(c.second, now, l.PerChatPerSecond, chatBurst)
	tune(p.global, now, l.GlobalPerSecond, globalBurst)
	if chat > 0 {
		return []*rate.Limiter{c.second, p.global}
	}
	// What leaves at once and what follows make the number of a minute together.
	burst := max(1, int(l.GroupPerMinute/4))
	tune(c.minute, now, max(l.GroupPerMinute-float64(burst), l.GroupPerMinute/2)/60, burst)
	return []*rate.Limiter{c.second, c.minute, p.global}
}

func tune(l *rate.Limiter, now time.Time, perSecond float64, burst int) {
	limit := rate.Limit(perSecond)
	if perSecond <= 0 {
		limit = rate.Inf
	}
	if l.Limit() != limit {
		l.SetLimitAt(now, limit)
	}
	if l.Burst() != burst {
		l.SetBurstAt(now, burst)
	}
}

// chat is the chat's pace, made when it is not there. The caller holds mu.
func (p *pacer) chat(id int64, now time.Time) *chatPace {
	c := p.chats[id]
	if c == nil {
		p.sweep(now)
		c = &chatPace{second: rate.NewLimiter(rate.Inf, chatBurst), minute: rate.NewLimiter(rate.Inf, 1)}
		p.chats[id] = c
	}
	c.used = now
	return c
}

// sweep forgets chats that have nothing left to remember. The caller holds mu.
func (p *pacer) sweep(now time.Time) {
	if len(p.chats) < chatsKept || now.Sub(p.swept) < time.Second {
		return
	}
	p.swept = now
	maps.DeleteFunc(p.chats, func(_ int64, c *chatPace) bool {
		return now.Sub(c.used) > idleAfter && now.After(c.blocked)
	})
}
