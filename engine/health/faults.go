package health

import (
	"fmt"
	"slices"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
)

const (
	// pollStale is how old the last good poll may be: two long polls and a margin.
	pollStale = 150 * time.Second
	// inboxStale is how long a message may wait for the end of its turn.
	inboxStale = 10 * time.Minute
)

// faults are the reasons to call the bot ill, in words; none is well. A
// supervisor acts on them, so passing trouble is not among them.
func (s Status) faults(now time.Time) []string {
	var faults []string
	for _, h := range s.Channels {
		if fault := channelFault(h, now, s.Uptime); fault != "" {
			faults = append(faults, h.Channel+": "+fault)
		}
	}
	if s.Database.State != string(store.StateOK) {
		faults = append(faults, "database: "+s.Database.State)
	}
	if oldest := s.Inbox.Oldest; !oldest.IsZero() && now.Sub(oldest) > inboxStale {
		faults = append(faults, fmt.Sprintf("inbox: a message has waited for %s", now.Sub(oldest).Round(time.Second)))
	}
	return faults
}

func channelFault(h gateway.Health, now time.Time, uptime time.Duration) string {
	silent := uptime
	if !h.LastPoll.IsZero() {
		silent = now.Sub(h.LastPoll)
	}
	switch {
	case h.State == "stopped":
		return "stopped"
	case h.State == "stale", slices.Contains([]string{"connecting", "conflict"}, h.State) && silent > pollStale:
		return fmt.Sprintf("%s, no good poll for %s", h.State, silent.Round(time.Second))
	}
	return ""
}
