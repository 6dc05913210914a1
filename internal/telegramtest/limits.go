package telegramtest

import "time"

// The message limits. Telegram publishes 1 a second for a chat, 20 a minute for
// a group and about 30 a second for all; a chat forgives short bursts.
const (
	chatEvery   = time.Second
	chatBurst   = 3
	chatSlack   = 500 * time.Millisecond
	groupCount  = 20
	groupPeriod = time.Minute
	allCount    = 30
	allPeriod   = time.Second
)

// pace is the state of one chat's limits.
type pace struct {
	due   time.Time // when the messages so far would be paid off
	group window
}

// window remembers the times of the last messages, oldest first.
type window []time.Time

// paced counts a message or an edit, or refuses it. s.mu is held.
func (s *Server) paced(c *chat) *apiError {
	if !s.config.Limits {
		return nil
	}
	now := s.config.Now()
	wait := c.pace.wait(now)
	wait = max(wait, s.pace.wait(now, allCount, allPeriod))
	if c.Type != "private" {
		wait = max(wait, c.pace.group.wait(now, groupCount, groupPeriod))
	}
	if wait > 0 {
		return tooMany(int((wait + time.Second - 1) / time.Second))
	}
	c.pace.pay(now)
	c.pace.group.add(now, groupCount)
	s.pace.add(now, allCount)
	return nil
}

func (p *pace) wait(now time.Time) time.Duration {
	// Added, not subtracted from the difference: that of a zero time is the
	// smallest Duration there is, and would wrap.
	return p.due.Sub(now.Add((chatBurst-1)*chatEvery + chatSlack))
}

func (p *pace) pay(now time.Time) {
	if p.due.Before(now) {
		p.due = now
	}
	p.due = p.due.Add(chatEvery)
}

// wait is how long until fewer than count messages lie within the period.
func (w window) wait(now time.Time, count int, period time.Duration) time.Duration {
	if len(w) < count {
		return 0
	}
	return w[len(w)-count].Add(period).Sub(now)
}

func (w *window) add(now time.Time, count int) {
	*w = append(*w, now)
	if len(*w) > 2*count {
		*w = append((*w)[:0], (*w)[len(*w)-count:]...)
	}
}
