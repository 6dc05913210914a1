package engine

import (
	"context"
	"fmt"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

// Status is how the bot is doing. Its JSON form is stable.
type Status struct {
	Version  string           `json:"version"`
	Uptime   time.Duration    `json:"uptime_ns"`
	Channels []gateway.Health `json:"channels"`
	Model    string           `json:"model"`
	// Running counts the turns at this moment.
	Running int   `json:"running"`
	Inbox   Queue `json:"inbox"`
	Outbox  Queue `json:"outbox"`
}

// Queue is how much waits, and since when.
type Queue struct {
	Waiting int       `json:"waiting"`
	Oldest  time.Time `json:"oldest,omitzero"`
}

// Status reports how the bot is doing.
func (e *Engine) Status(ctx context.Context) (Status, error) {
	name, _ := e.modelFor("")
	s := Status{
		Version: e.version, Uptime: time.Since(e.started), Channels: e.gateway.Health(), Model: name,
	}
	e.mu.Lock()
	for _, l := range e.lanes {
		if l.stop != nil {
			s.Running++
		}
	}
	e.mu.Unlock()
	var err error
	s.Inbox, s.Outbox, err = queues(ctx, e.store)
	return s, err
}

func queues(ctx context.Context, st *store.Store) (in, out Queue, err error) {
	err = st.Read(ctx, func(tx *store.Tx) error {
		inbox, err := tx.InboxDepth()
		if err != nil {
			return err
		}
		outbox, err := tx.OutboxDepth()
		in, out = Queue(inbox), Queue(outbox)
		return err
	})
	return in, out, err
}

// statusText is the answer to /status.
func (e *Engine) statusText(ctx context.Context, it item) (string, error) {
	s, err := e.Status(ctx)
	if err != nil {
		return "", err
	}
	model, since := s.Model, "-"
	if session, err := e.session(ctx, it.row.Address); err == nil {
		model, _ = e.modelFor(session.Model)
		since = session.StartedAt.In(zoneOf(e.settings())).Format("2006-01-02 15:04")
	}
	if model == "" {
		model = "-"
	}
	// The row of this very command still waits.
	waiting := max(s.Inbox.Waiting-1, 0)
	return e.say(sayStatus, it.msg.Address, model, since, s.Uptime.Round(time.Second), waiting, s.Outbox.Waiting) + channelLines(s.Channels), nil
}

func channelLines(all []gateway.Health) string {
	var text string
	for _, h := range all {
		text += fmt.Sprintf("\n%s: %s", h.Channel, h.State)
		if h.Fault != "" {
			text += " (" + h.Fault + ")"
		}
	}
	return text
}
