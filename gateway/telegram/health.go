package telegram

import (
	"sync"
	"time"

	"klawbot/gateway"
)

// staleAfter is how old the last good poll may be: two long polls and a margin.
const staleAfter = 150 * time.Second

// health is what the poller knows about itself. The zero value is connecting.
type health struct {
	mu       sync.Mutex // guards all below
	state    string
	fault    string
	lastPoll time.Time
}

// polled notes that Telegram answered a poll.
func (h *health) polled() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastPoll = time.Now()
}

// set notes the state and reports whether it is another one than before.
func (h *health) set(state, fault string) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed = h.state != state || h.fault != fault
	h.state, h.fault = state, fault
	return changed
}

func (h *health) report() gateway.Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := gateway.Health{Channel: channelName, State: h.state, Fault: h.fault, LastPoll: h.lastPoll}
	if r.State == "" {
		r.State = gateway.StateConnecting
	}
	old := !h.lastPoll.IsZero() && time.Since(h.lastPoll) > staleAfter
	if old && (r.State == gateway.StateOK || r.State == gateway.StateConnecting) {
		r.State = gateway.StateStale
	}
	return r
}
