package schedule

import (
	"time"

	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/store"
	"klawbot/engine/internal/times"
	"klawbot/tools/job"
)

// shown is a job as tools and commands print it.
func (s *Editor) shown(j store.Job, latest store.Run) job.Schedule {
	language := s.Settings().Language
	one := job.Schedule{
		Name: j.Name, Kind: string(j.Kind), Cron: j.Cron, At: j.At, TZ: j.Zone, State: string(j.State), Note: j.Note, Message: j.Message,
		Model: j.Model, Misfire: j.Misfire, Next: comingTimes(j, 3), When: whenInWords(j, language),
	}
	if j.Target.Chat.Channel != "" {
		one.InjectInto = j.Target.Chat.String()
	}
	if j.Home.Chat.Channel != "" {
		one.Chat = j.Home.Chat.String()
	}
	if latest.ID != 0 {
		one.Prev, one.PrevState = latest.ScheduledAt, string(latest.State)
	}
	return one
}

// comingTimes are the next times of a job that is on.
func comingTimes(j store.Job, n int) []time.Time {
	if j.State != store.JobOn || j.NextRun.IsZero() {
		return []time.Time{}
	}
	return append([]time.Time{j.NextRun}, nextTimes(j, j.NextRun, n-1)...)
}

// whenInWords says when a job is due.
func whenInWords(j store.Job, language string) string {
	zone, err := times.ParseZone(j.Zone, time.UTC)
	if err != nil {
		zone = time.UTC
	}
	if j.Cron == "" {
		return locale.Say(language, locale.Once, times.DescribeTime(j.At, zone, language))
	}
	repeat, err := times.ParseRepeat(j.Cron)
	if err != nil {
		return j.Cron
	}
	return repeat.Describe(language)
}

func shownRun(tx *store.Tx, r store.Run) job.Run {
	one := job.Run{
		ScheduledAt: r.ScheduledAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt, State: string(r.State), Cause: r.Cause, Attempts: r.Attempts,
		InputTokens: r.InputTokens, OutputTokens: r.OutputTokens, CostUSD: float64(r.Cost) / store.Dollar, Delivered: r.Delivered,
		Result: r.Result, Note: r.Note, Missed: r.Missed,
	}
	if r.Delivered != "" {
		if o, err := tx.Outbox().OutNamed(OutKey(r.ID) + "/0"); err == nil {
			one.Delivery = string(o.State)
		}
	}
	return one
}
