package desk

import (
	"cmp"
	"context"
	"strings"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway/web/control"
	"klawbot/tools/job"
)

// runsShown is how many runs of a schedule the page shows.
const runsShown = 20

// ListSchedules lists what is planned, by name.
func (d *Desk) ListSchedules(ctx context.Context) ([]control.Schedule, error) {
	list, err := d.Schedules.List(ctx, owner())
	all := make([]control.Schedule, len(list))
	for i, s := range list {
		all[i] = d.schedule(s)
	}
	return all, err
}

// schedule is a schedule in its own zone.
func (d *Desk) schedule(s job.Schedule) control.Schedule {
	zone, err := time.LoadLocation(s.TZ)
	if err != nil || s.TZ == "" {
		zone = d.Zone()
	}
	one := control.Schedule{
		Name: s.Name, Kind: s.Kind, When: s.When, State: s.State, Note: d.mask(s.Note), Message: d.mask(s.Message), To: s.InjectInto, Model: s.Model,
		LastState: s.PrevState, CostUSD: s.CostUSD, Once: s.Cron == "", Fixed: s.Kind == string(store.JobHeartbeat),
	}
	for _, t := range s.Next {
		one.Next = append(one.Next, t.In(zone))
	}
	if !s.Prev.IsZero() {
		one.Last = s.Prev.In(zone)
	}
	return one
}

// Runs are the latest runs of a schedule.
func (d *Desk) Runs(ctx context.Context, name string) ([]control.Run, error) {
	runs, err := d.Schedules.Logs(ctx, owner(), name, runsShown)
	all := make([]control.Run, len(runs))
	for i, r := range runs {
		all[i] = control.Run{
			At: d.in(r.ScheduledAt), State: r.State, Cause: r.Cause, Tokens: r.InputTokens + r.OutputTokens, CostUSD: r.CostUSD,
			Delivered: r.Delivered, Delivery: r.Delivery, Text: d.mask(cmp.Or(r.Note, strings.TrimSpace(r.Result))),
		}
		if !r.StartedAt.IsZero() && !r.EndedAt.IsZero() {
			all[i].Took = r.EndedAt.Sub(r.StartedAt)
		}
	}
	return all, said(err)
}

// ActOnSchedule does what the commands and buttons of /schedule do.
func (d *Desk) ActOnSchedule(ctx context.Context, name, verb string) (err error) {
	switch verb {
	case "run":
		err = d.Schedules.Run(ctx, owner(), name)
	case "pause", "resume":
		_, err = d.Schedules.Switch(ctx, owner(), name, verb == "resume")
	case "skip":
		err = d.Schedules.Skip(ctx, owner(), name)
	case "delete":
		err = d.Schedules.Remove(ctx, owner(), name)
	default:
		err = control.ErrNotFound
	}
	return said(err)
}
