package control

import (
	"context"
	"net/url"
	"time"
)

// Schedule is a schedule or reminder. Its times are in its own zone.
type Schedule struct {
	Name, Kind, When, State, Note, Message string
	// Next are the next times, at most three.
	Next []time.Time
	// Last and LastState are the latest run.
	Last      time.Time
	LastState string
	// To is the chat that gets the results, empty for none.
	To      string
	Model   string
	CostUSD float64
	// Once says that it is due a single time, Fixed that it comes from HEARTBEAT.md.
	Once, Fixed bool
}

// Run is one run of a schedule.
type Run struct {
	At        time.Time
	Took      time.Duration
	State     string
	Cause     string
	Tokens    int
	CostUSD   float64
	Delivered string
	Delivery  string
	// Text is the result, or a note about the run.
	Text string
}

// SchedulesDesk reads and changes what is planned.
type SchedulesDesk interface {
	ListSchedules(ctx context.Context) ([]Schedule, error)
	// Runs are the latest runs of a schedule, the latest first.
	Runs(ctx context.Context, name string) ([]Run, error)
	// ActOnSchedule does run, pause, resume, skip or delete.
	ActOnSchedule(ctx context.Context, name, verb string) error
}

var schedulesPage = control{
	pattern: "/schedules", file: "schedules",
	show: func(q *Request) (any, error) { return q.Desk.ListSchedules(q.HTTP.Context()) },
}

var schedulePage = control{
	pattern: "/schedules/{name}", file: "schedule",
	show: func(q *Request) (any, error) {
		v := scheduleView{Gone: true}
		all, err := q.Desk.ListSchedules(q.HTTP.Context())
		if err != nil {
			return nil, err
		}
		v.Name = q.HTTP.PathValue("name")
		for _, s := range all {
			if s.Name == v.Name {
				v.Schedule, v.Gone = s, false
			}
		}
		v.Runs, err = q.Desk.Runs(q.HTTP.Context(), v.Name)
		return v, err
	},
	acts: []act{{"/schedules/{name}/{verb}", func(q *Request) (string, error) {
		name, verb := q.HTTP.PathValue("name"), q.HTTP.PathValue("verb")
		to := "/schedules/" + url.PathEscape(name)
		if verb == "delete" {
			to = "/schedules"
		}
		return done(to, verb), q.Desk.ActOnSchedule(q.HTTP.Context(), name, verb)
	}}},
}

// scheduleView is a schedule with its runs. One that is gone may still have some.
type scheduleView struct {
	Schedule
	Runs []Run
	Gone bool
}
