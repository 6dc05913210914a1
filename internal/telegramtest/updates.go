package telegramtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"
)

// The rules of the update queue.
const (
	updatesKept = 24 * time.Hour
	maxBatch    = 100
	maxTimeout  = 50 // seconds
	// futureBound is how far beyond the last id an offset may be. One that is
	// farther is not believed: ids start again after a week without updates.
	futureBound = 10
)

// update is one row of the queue.
type update struct {
	ID int64     `json:"id"`
	At time.Time `json:"at"`
	// Fields are the update's JSON fields without its id and braces.
	Fields []byte `json:"fields"`
}

// queue is what waits for the bot. Server.mu guards it.
type queue struct {
	pending []update // ascending ids
	next    int64
	allowed []string
	poll    *poll
}

// poll is a getUpdates that waits.
type poll struct {
	wake  chan struct{}  // holds one
	ended chan *apiError // holds one
}

// put adds an update, unless the bot did not ask for its kind. s.mu is held.
func (s *Server) put(kind string, payload any) {
	if !s.queue.wants(kind) {
		return
	}
	body, err := json.Marshal(payload)
	if err != nil {
		panic("telegramtest: " + err.Error()) // our own types always encode
	}
	s.putFields(append([]byte(strconv.Quote(kind)+":"), body...))
}

func (s *Server) putFields(fields []byte) int64 {
	q := &s.queue
	id := q.next
	q.next++
	q.pending = append(q.pending, update{id, s.config.Now(), fields})
	if q.poll != nil {
		select {
		case q.poll.wake <- struct{}{}:
		default:
		}
	}
	s.webhook.knock()
	s.touch()
	return id
}

// wants reports whether updates of the kind are kept. Three kinds must be asked
// for by name.
func (q *queue) wants(kind string) bool {
	if len(q.allowed) > 0 {
		return slices.Contains(q.allowed, kind)
	}
	return kind != "chat_member" && kind != "message_reaction" && kind != "message_reaction_count"
}

// Push puts a JSON object into the queue as it is, whatever its kind, and
// returns the id that the update gets instead of its own.
func (s *Server) Push(object string) (int64, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &fields); err != nil {
		return 0, err
	}
	if fields == nil {
		return 0, errors.New("null is no object")
	}
	delete(fields, "update_id")
	body, err := json.Marshal(fields)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.putFields(body[1 : len(body)-1]), nil
}

// ResetUpdateIDs lets ids start again, as they do after a week without updates.
// What is pending is renumbered.
func (s *Server) ResetUpdateIDs(next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.queue.pending {
		s.queue.pending[i].ID = next
		next++
	}
	s.queue.next = next
}

// getUpdates confirms, and returns what waits or waits for it.
func (s *Server) getUpdates(ctx context.Context, p params) (any, *apiError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.webhook.url != "" {
		return nil, conflict(hookActive)
	}
	s.endPoll(otherPoller)
	s.queue.remember(p)
	s.queue.expire(s.config.Now())
	s.queue.confirm(p.num("offset"))
	s.touch()
	limit := maxBatch
	if n := p.num("limit"); n > 0 && n < maxBatch {
		limit = int(n)
	}
	wait := time.Duration(min(max(p.num("timeout"), 0), maxTimeout)) * time.Second
	if len(s.queue.pending) > 0 || wait == 0 {
		return s.queue.batch(limit), nil
	}
	return s.longPoll(ctx, wait, limit)
}

// longPoll waits for an update. s.mu is held, but not while it waits.
func (s *Server) longPoll(ctx context.Context, wait time.Duration, limit int) (any, *apiError) {
	me := &poll{wake: make(chan struct{}, 1), ended: make(chan *apiError, 1)}
	s.queue.poll = me
	defer func() {
		if s.queue.poll == me {
			s.queue.poll = nil
		}
	}()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	s.mu.Unlock()
	var end *apiError
	select {
	case <-me.wake:
	case end = <-me.ended:
	case <-timer.C:
	case <-ctx.Done():
	case <-s.closing:
	}
	s.mu.Lock()
	if end != nil {
		return nil, end
	}
	return s.queue.batch(limit), nil
}

// endPoll ends the poll that waits, if there is one, with a conflict. s.mu is held.
func (s *Server) endPoll(why string) {
	if s.queue.poll != nil {
		s.queue.poll.ended <- conflict(why)
		s.queue.poll = nil
	}
}

func (q *queue) remember(p params) {
	var kinds []string
	if p.str("allowed_updates") == "" || p.object("allowed_updates", &kinds) != nil {
		return // the last list stays in force
	}
	q.allowed = kinds
}

func (q *queue) expire(now time.Time) {
	for len(q.pending) > 0 && now.Sub(q.pending[0].At) >= updatesKept {
		q.pending = q.pending[1:]
	}
}

// confirm drops what the bot has: everything before offset, or with a negative
// offset all but the last updates.
func (q *queue) confirm(offset int64) {
	if offset < 0 {
		q.pending = q.pending[max(0, len(q.pending)+int(offset)):]
		return
	}
	if offset > q.next+futureBound {
		return
	}
	for len(q.pending) > 0 && q.pending[0].ID < offset {
		q.pending = q.pending[1:]
	}
}

func (q *queue) batch(limit int) []json.RawMessage {
	all := make([]json.RawMessage, 0, min(limit, len(q.pending)))
	for _, u := range q.pending[:min(limit, len(q.pending))] {
		all = append(all, u.wire())
	}
	return all
}

// wire is the update as the API shows it.
func (u update) wire() []byte {
	var b bytes.Buffer
	b.WriteString(`{"update_id":`)
	b.WriteString(strconv.FormatInt(u.ID, 10))
	if len(u.Fields) > 0 {
		b.WriteByte(',')
		b.Write(u.Fields)
	}
	b.WriteByte('}')
	return b.Bytes()
}
