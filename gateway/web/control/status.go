package control

import (
	"context"
	"time"
)

// Overview is how the bot is doing. Its times are in the bot's zone.
type Overview struct {
	Version string
	Uptime  time.Duration
	// Faults are the reasons to look, none when the bot is healthy.
	Faults []string
	Marks  []Mark
	// Model is the default model, "" for none; Calls, Tokens and CostUSD are what the
	// models took today, of at most BudgetUSD when that is not 0. Unpriced counts the
	// calls without a price.
	Model              string
	Calls, Tokens      int
	CostUSD, BudgetUSD float64
	Unpriced           int
	Queues
	BackupAt      time.Time
	BackupFault   string
	Database      string
	DatabaseBytes int64
	// Next is what is planned next, with Next[0].Next[0] as its time; empty for nothing.
	Next []Schedule
	// Knocked counts the unknown senders about whom nothing is decided.
	Knocked int
	Muted   []string
}

// Queues are how many turns run, and what waits; Waiting is since when a message does.
type Queues struct {
	Running, Inbox, Outbox int
	Waiting                time.Time
}

// Mark says how a part of the bot is.
type Mark struct {
	// State is "ok", "off", "limited" or "broken".
	State, Name, Text string
	// Fix is the next step, empty for a part that works.
	Fix string
}

// StatusDesk says how the bot is.
type StatusDesk interface {
	Overview(ctx context.Context) (Overview, error)
}

var statusPage = control{
	pattern: "/status", file: "status",
	show: func(q *Request) (any, error) {
		o, err := q.Desk.Overview(q.HTTP.Context())
		return statusView{o, worst(o.Marks)}, err
	},
}

type statusView struct {
	Overview
	Worst summary
}

// summary is how many parts need a look, and how bad the worst is.
type summary struct {
	State string
	Todo  int
}

// worst sums up marks. A part that is off needs nothing.
func worst(marks []Mark) summary {
	s := summary{State: "ok"}
	for _, m := range marks {
		if m.State == "limited" || m.State == "broken" {
			s.Todo++
			if s.State != "broken" {
				s.State = m.State
			}
		}
	}
	return s
}
