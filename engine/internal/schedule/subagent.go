package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/tools"
	"klawbot/tools/job"
)

const (
	// maxSpawned is the default for how many subagents may work at one time.
	maxSpawned = 5
	// spawnedShown is how many ended subagents the list shows.
	spawnedShown = 10
)

var _ job.Subagents = (*Editor)(nil)

// Spawn starts a subagent, a job with one run that is due now. It does not wait for it.
func (s *Editor) Spawn(ctx context.Context, c tools.Call, t job.Task) (job.Subagent, error) {
	who, err := s.who(c)
	if err != nil {
		return job.Subagent{}, err
	}
	now := time.Now().Truncate(time.Millisecond)
	j := store.Job{
		Kind: store.JobSpawn, Name: strings.TrimSpace(t.Name), Home: who.home, Creator: who.user, At: now, Zone: s.Settings().Zone().String(),
		// Its only time has come; only its run is left.
		State: store.JobDone, Origin: cmp.Or(string(c.Origin), "command"), Parent: store.TurnID(c.Turn),
	}
	if who.line {
		j.Origin = "command"
	}
	wrote(&j, c, who)
	if err := checkJobName(j.Name); err != nil {
		return job.Subagent{}, err
	}
	if strings.TrimSpace(t.Message) == "" {
		return job.Subagent{}, tools.Refuse(tools.Validation, "the message is empty; say what the subagent must do")
	}
	if err := s.change(ctx, &j, job.New{Message: t.Message, Model: t.Model, InjectInto: t.InjectInto}, c, who); err != nil {
		return job.Subagent{}, err
	}
	run := store.Run{ScheduledAt: now, State: store.RunClaimed, Cause: store.CauseSpawned}
	err = s.write(ctx, func(tx *store.Tx) error {
		open, err := tx.Jobs().OpenSpawns()
		if err != nil {
			return err
		}
		if err := twice(tx, j, open); err != nil {
			return err
		}
		if most := cmp.Or(s.Settings().Scheduler.MaxSubagents, maxSpawned); len(open) >= most {
			return tools.Refuse(tools.Execution, "%d subagents are working, which is the limit. Wait for a report, or cancel one with subagent_manage", len(open))
		}
		if run.Job, err = tx.Jobs().AddJob(j); err != nil {
			return err
		}
		run.ID, err = tx.Runs().ClaimRun(run)
		return err
	})
	return shownSpawned(nil, store.Spawned{Job: j, Run: run}), err
}

// twice refuses a subagent that does the same as one that works, or that the same turn
// has started before: models repeat calls.
func twice(tx *store.Tx, j store.Job, open []store.Spawned) error {
	ended, err := tx.Jobs().EndedSpawns(j.Home, spawnedShown)
	if err != nil {
		return err
	}
	for i, one := range append(open, ended...) {
		was := one.Job
		if was.Name != j.Name || was.Message != j.Message || was.Home != j.Home || was.Target != j.Target || was.State == store.JobRemoved {
			continue
		}
		if i < len(open) {
			return tools.Refuse(tools.Execution, "subagent '%s' already works on this (run %d); do not start it again, its result arrives by itself", j.Name, one.Run.ID)
		}
		if j.Parent != 0 && was.Parent == j.Parent && one.Run.State != store.RunFailed && one.Run.State != store.RunLost {
			return tools.Refuse(tools.Execution, "subagent '%s' has done this already (run %d); subagent_manage shows the result", j.Name, one.Run.ID)
		}
	}
	return nil
}

// runsSubagent reports whether the caller may see a subagent.
func (a planner) runsSubagent(j store.Job) bool { return a.all || a.home.Chat == j.Home.Chat }

// Spawned lists the subagents that the caller may see, the latest first.
func (s *Editor) Spawned(ctx context.Context, c tools.Call) ([]job.Subagent, error) {
	who, err := s.who(c)
	if err != nil {
		return nil, err
	}
	home := who.home
	if who.all {
		home = gateway.Address{}
	}
	var list []job.Subagent
	err = s.read(ctx, func(tx *store.Tx) error {
		list = nil
		open, err := tx.Jobs().OpenSpawns()
		if err != nil {
			return err
		}
		ended, err := tx.Jobs().EndedSpawns(home, spawnedShown)
		for _, one := range append(open, ended...) {
			if who.runsSubagent(one.Job) {
				list = append(list, shownSpawned(tx, one))
			}
		}
		return err
	})
	return list, err
}

// Subagent returns one by its run.
func (s *Editor) Subagent(ctx context.Context, c tools.Call, id int64) (one job.Subagent, err error) {
	who, err := s.who(c)
	if err != nil {
		return one, err
	}
	err = s.read(ctx, func(tx *store.Tx) error {
		found, err := spawnedFor(tx, who, id)
		if err == nil {
			one = shownSpawned(tx, found)
		}
		return err
	})
	return one, err
}

// Cancel stops a subagent.
func (s *Editor) Cancel(ctx context.Context, c tools.Call, id int64) (one job.Subagent, err error) {
	who, err := s.who(c)
	if err != nil {
		return one, err
	}
	err = s.write(ctx, func(tx *store.Tx) error {
		found, err := spawnedFor(tx, who, id)
		if err != nil {
			return err
		}
		if !found.Run.Open() {
			return tools.Refuse(tools.Execution, "subagent %d has ended already (%s)", id, found.Run.State)
		}
		if found, err = cancelSpawned(tx, found); err == nil {
			one = shownSpawned(tx, found)
		}
		return err
	})
	return one, err
}

// spawnedFor finds a subagent that the planner may see.
func spawnedFor(tx *store.Tx, who planner, id int64) (store.Spawned, error) {
	one, err := tx.Jobs().Spawned(store.RunID(id))
	if errors.Is(err, store.ErrNotFound) || err == nil && !who.runsSubagent(one.Job) {
		return one, tools.Refuse(tools.NotFound, "subagent %d not found; list shows the ids", id)
	}
	return one, err
}

// cancelSpawned marks a subagent as cancelled. A running one ends when its turn notices.
func cancelSpawned(tx *store.Tx, one store.Spawned) (store.Spawned, error) {
	if one.Run.State != store.RunRunning {
		one.Run.State, one.Run.Note, one.Run.EndedAt = store.RunStopped, NoteCancelled, time.Now()
		if err := tx.Runs().UpdateRun(one.Run); err != nil {
			return one, err
		}
	}
	removeJob(&one.Job)
	return one, tx.Jobs().UpdateJob(one.Job)
}

// NoteCancelled is the note in the run history of a cancelled subagent.
const NoteCancelled = "cancelled"

// shownSpawned is a subagent as tools and commands print it.
func shownSpawned(tx *store.Tx, s store.Spawned) job.Subagent {
	one := job.Subagent{
		ID: int64(s.Run.ID), Name: s.Job.Name, Message: s.Job.Message, Model: s.Job.Model, State: string(s.Run.State),
		SpawnedAt: s.Run.ScheduledAt, StartedAt: s.Run.StartedAt, EndedAt: s.Run.EndedAt, InputTokens: s.Run.InputTokens,
		OutputTokens: s.Run.OutputTokens, CostUSD: float64(s.Run.Cost) / store.Dollar, Delivered: s.Run.Delivered, Result: s.Run.Result, Note: s.Run.Note,
	}
	switch {
	case s.Run.State == store.RunClaimed:
		one.State = "waiting"
	case s.Run.State == store.RunRunning && s.Job.State == store.JobRemoved:
		one.State = "stopping"
	}
	if s.Job.Target.Chat.Channel != "" {
		one.InjectInto = s.Job.Target.Chat.String()
	}
	if tx != nil && s.Run.Delivered != "" {
		if o, err := tx.Outbox().OutNamed(OutKey(s.Run.ID) + "/0"); err == nil {
			one.Delivery = string(o.State)
		}
	}
	return one
}

// CancelSpawnedBy cancels the subagents of a chat, waiting and running, and returns how
// many.
func CancelSpawnedBy(tx *store.Tx, home gateway.Address) (n int, err error) {
	open, err := tx.Jobs().OpenSpawns()
	for _, one := range open {
		if err == nil && one.Job.Home == home && one.Job.State != store.JobRemoved {
			n++
			_, err = cancelSpawned(tx, one)
		}
	}
	return n, err
}

// OutKey is the key of a run's rows in the outbox, followed by the number of the
// segment.
func OutKey(id store.RunID) string { return fmt.Sprintf("run/%d", id) }
