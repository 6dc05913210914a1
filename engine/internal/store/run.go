package store

import "time"

// RunState is how far a run of a job is.
type RunState string

// The states of a run.
const (
	// RunClaimed runs are due and have not begun.
	RunClaimed RunState = "claimed"
	RunRunning RunState = "running"
	// RunRetry runs have failed and are tried once more at RetryAt.
	RunRetry RunState = "retry"
	RunDone  RunState = "done"
	// RunSilent runs had nothing to report.
	RunSilent RunState = "silent"
	RunFailed RunState = "failed"
	// RunMissed runs did not happen: the bot was off, or the clock jumped.
	RunMissed RunState = "missed"
	// RunSkipped runs did not happen because a person said so, or because the
	// one before them still ran.
	RunSkipped RunState = "skipped"
	// RunStopped runs were stopped by a person.
	RunStopped RunState = "stopped"
	// RunLost runs are subagents whose progress is unknown.
	RunLost RunState = "lost"
)

// The causes of a run.
const (
	CauseDue  = "due"
	CauseLate = "late"
	CauseHand = "by hand"
	// CauseSpawned runs are subagents.
	CauseSpawned = "spawned"
)

// Run is one run of a job.
type Run struct {
	ID  RunID
	Job JobID
	// ScheduledAt is when it was due; a job has one run for each such time.
	ScheduledAt time.Time
	State       RunState
	// Cause is CauseDue, CauseLate for one that catches up on missed times,
	// CauseHand or CauseSpawned.
	Cause    string
	Attempts int
	// Missed is how many missed times a row with RunMissed stands for, from
	// ScheduledAt on.
	Missed int
	// Turn is the turn of the last attempt, 0 for none.
	Turn                      TurnID
	InputTokens, OutputTokens int
	// Cost is in billionths of a dollar, over the calls that have prices.
	Cost int64
	// Delivered is the chat that got the result, empty for none.
	Delivered string
	// Result is what the run said, cut.
	Result string
	// Note says why it failed, was silent, missed or skipped.
	Note                        string
	RetryAt, StartedAt, EndedAt time.Time
}

const runColumns = `r.id, r.job, r.scheduled_at, r.state, r.cause, r.attempts, r.missed, r.turn, r.input_tokens, r.output_tokens, r.cost,
	r.delivered, r.result, r.note, r.retry_at, r.started_at, r.ended_at`

const (
	runSQL      = `SELECT ` + runColumns + ` FROM runs r WHERE r.id = ?`
	openRunsSQL = `SELECT ` + runColumns + ` FROM runs r WHERE r.state IN ('claimed', 'running', 'retry') ORDER BY r.id`
	runsSQL     = `SELECT ` + runColumns + ` FROM runs r WHERE r.job = ? ORDER BY r.scheduled_at DESC LIMIT ?`
	runsOfSQL   = `SELECT j.message, ` + runColumns + ` FROM jobs j CROSS JOIN runs r ON r.job = j.id
		WHERE j.name = ? AND j.kind = ? AND j.home_channel = ? AND j.home_chat = ? AND r.state IN ('done', 'silent') AND r.id < ?
		ORDER BY r.id DESC LIMIT ?`
	latestRunsSQL = `SELECT ` + runColumns + ` FROM jobs j JOIN runs r ON r.id = (SELECT l.id FROM runs l WHERE l.job = j.id ORDER BY l.scheduled_at DESC LIMIT 1)
		WHERE j.state IN ('on', 'paused') ORDER BY j.id`
	openRunOfSQL = `SELECT count(*) FROM runs WHERE job = ? AND state IN ('claimed', 'running', 'retry')`
	// A mark of a run that did not happen, made at a time that has not come: the
	// clock was wrong. A person who skips a run leaves no cause.
	voidSQL          = `(state = 'missed' OR state = 'skipped' AND cause <> '') AND ended_at > ?`
	runAtSQL         = `SELECT count(*) FROM runs WHERE job = ? AND scheduled_at = ? AND NOT (` + voidSQL + `)`
	firstVoidSQL     = `SELECT coalesce(min(scheduled_at), 0) FROM runs WHERE job = ? AND ` + voidSQL
	madeUpSQL        = `SELECT EXISTS (SELECT 1 FROM runs WHERE job = ? AND scheduled_at > ? AND cause = ? AND state NOT IN ('missed', 'skipped'))`
	spawnedTokensSQL = `SELECT coalesce(sum(r.input_tokens + r.output_tokens), 0) FROM jobs j JOIN runs r ON r.job = j.id
		WHERE j.parent <> 0 AND j.parent = ?`

	spentSQL = `SELECT coalesce(sum(max(input_tokens, 0) + estimated_input), 0), coalesce(sum(max(output_tokens, 0) + estimated_output), 0), coalesce(sum(max(cost, 0)), 0) FROM usage WHERE turn = ?`
	// What a run's subagents cost counts as the run's.
	costOfSQL = `SELECT coalesce(sum(r.cost + (SELECT coalesce(sum(c.cost), 0) FROM jobs s JOIN runs c ON c.job = s.id WHERE s.parent <> 0 AND s.parent = r.turn)), 0)
		FROM runs r WHERE r.job = ?`
)

func (r *Run) fields() []any {
	return []any{&r.ID, &r.Job, millis{&r.ScheduledAt}, &r.State, &r.Cause, &r.Attempts, &r.Missed, &r.Turn, &r.InputTokens, &r.OutputTokens,
		&r.Cost, &r.Delivered, &r.Result, &r.Note, millis{&r.RetryAt}, millis{&r.StartedAt}, millis{&r.EndedAt}}
}

func scanRun(r row) (n Run, err error) {
	err = r.Scan(n.fields()...)
	return n, err
}

// Open reports whether the run has not ended.
func (r Run) Open() bool {
	return r.State == RunClaimed || r.State == RunRunning || r.State == RunRetry
}

// ClaimRun stores a run, claimed unless State says otherwise. It returns 0 when
// the job has a run for that time already, which stays as it is; a void mark is
// replaced.
func (tx RunsTx) ClaimRun(r Run) (RunID, error) {
	if r.State == "" {
		r.State = RunClaimed
	}
	taken, err := tx.RunAt(r.Job, r.ScheduledAt)
	if err != nil || taken {
		return 0, err
	}
	if _, err := tx.exec(`DELETE FROM runs WHERE job = ? AND scheduled_at = ?`, r.Job, toMillis(r.ScheduledAt)); err != nil {
		return 0, wrap(err, "claim run of job %d", r.Job)
	}
	id, err := tx.insert(`INSERT INTO runs (job, scheduled_at, state, cause, attempts, missed, turn, input_tokens, output_tokens, cost,
			delivered, result, note, retry_at, started_at, ended_at)
		VALUES (?, ?, ?, ?, 0, ?, 0, 0, 0, 0, '', '', ?, 0, 0, ?)`,
		r.Job, toMillis(r.ScheduledAt), r.State, r.Cause, r.Missed, r.Note, toMillis(r.EndedAt))
	tx.changes.Jobs = true
	return RunID(id), wrap(err, "claim run of job %d", r.Job)
}

// At has the transaction take another time for the present, until the function that
// it returns is called.
func (tx *Tx) At(now time.Time) (back func()) {
	was := tx.now
	tx.now = now
	return func() { tx.now = was }
}

// RunAt reports whether a job has a run for a time. Void marks do not count: they
// say that a run did not happen, and were made by a clock that was ahead.
func (tx RunsTx) RunAt(job JobID, at time.Time) (bool, error) {
	var n int
	err := tx.tx.QueryRow(runAtSQL, job, toMillis(at), toMillis(tx.now)).Scan(&n)
	return n > 0, wrap(err, "run of job %d", job)
}

// FirstVoid is the earliest time of a job that has a void mark, zero for none.
func (tx RunsTx) FirstVoid(job JobID) (at time.Time, err error) {
	err = tx.tx.QueryRow(firstVoidSQL, job, toMillis(tx.now)).Scan(millis{&at})
	return at, wrap(err, "void marks of job %d", job)
}

// MadeUpAfter reports whether a job has a late run for a time after another one.
func (tx RunsTx) MadeUpAfter(job JobID, at time.Time) (is bool, err error) {
	err = tx.tx.QueryRow(madeUpSQL, job, toMillis(at), CauseLate).Scan(&is)
	return is, wrap(err, "late runs of job %d", job)
}

// ReviveJobs turns on the jobs whose only time has a void mark.
func (tx RunsTx) ReviveJobs() (int64, error) {
	n, err := tx.exec(`UPDATE OR IGNORE jobs SET state = 'on', next_run = at WHERE state = 'done' AND cron = '' AND kind <> 'spawn'
		AND EXISTS (SELECT 1 FROM runs WHERE job = jobs.id AND scheduled_at = jobs.at AND note <> '`+NoteRestored+`' AND `+voidSQL+`)`, toMillis(tx.now))
	return n, wrap(err, "revive jobs")
}

// DropVoidRuns deletes the void marks and returns how many.
func (tx RunsTx) DropVoidRuns() (int64, error) {
	n, err := tx.exec(`DELETE FROM runs WHERE `+voidSQL, toMillis(tx.now))
	return n, wrap(err, "drop void runs")
}

// NoteRestored is the note of what ended because a backup was restored.
const NoteRestored = "a backup was restored"

// OpenRunOf reports whether a run of a job has not ended.
func (tx RunsTx) OpenRunOf(job JobID) (bool, error) {
	var n int
	err := tx.tx.QueryRow(openRunOfSQL, job).Scan(&n)
	return n > 0, wrap(err, "open run of job %d", job)
}

// Run returns a run, or ErrNotFound.
func (tx RunsTx) Run(id RunID) (Run, error) {
	r, err := scanRun(tx.tx.QueryRow(runSQL, id))
	return r, wrap(err, "run %d", id)
}

// UpdateRun writes back everything of a run but its job, time and cause.
func (tx RunsTx) UpdateRun(r Run) error {
	err := tx.change(`UPDATE runs SET state = ?, attempts = ?, turn = ?, input_tokens = ?, output_tokens = ?, cost = ?, delivered = ?,
			result = ?, note = ?, retry_at = ?, started_at = ?, ended_at = ? WHERE id = ?`,
		r.State, r.Attempts, r.Turn, r.InputTokens, r.OutputTokens, r.Cost, r.Delivered, r.Result, r.Note,
		toMillis(r.RetryAt), toMillis(r.StartedAt), toMillis(r.EndedAt), r.ID)
	return wrap(err, "update run %d", r.ID)
}

// OpenRuns lists the runs that have not ended, oldest first.
func (tx RunsTx) OpenRuns() ([]Run, error) {
	all, err := query(tx, scanRun, openRunsSQL)
	return all, wrap(err, "list open runs")
}

// Runs lists the runs of a job, the latest first, at most limit.
func (tx RunsTx) Runs(job JobID, limit int) ([]Run, error) {
	all, err := query(tx, scanRun, runsSQL, job, limit)
	return all, wrap(err, "list runs of job %d", job)
}

// PastRun is a completed run with the task that it had.
type PastRun struct {
	Run
	Message string
}

// RunsOf lists the completed runs that began before a run, of all jobs that have
// the kind, the name and the home of its job, the latest first, at most limit.
func (tx RunsTx) RunsOf(j Job, before RunID, limit int) ([]PastRun, error) {
	all, err := query(tx, func(r row) (p PastRun, err error) {
		err = r.Scan(append([]any{&p.Message}, p.Run.fields()...)...)
		return p, err
	}, runsOfSQL, j.Name, j.Kind, j.Home.Chat.Channel, j.Home.Chat.ID, before, limit)
	return all, wrap(err, "list runs of %s", j.Name)
}

// LatestRuns is the latest run of each job that is on or paused and has one.
func (tx RunsTx) LatestRuns() (map[JobID]Run, error) {
	all, err := query(tx, scanRun, latestRunsSQL)
	byJob := map[JobID]Run{}
	for _, r := range all {
		byJob[r.Job] = r
	}
	return byJob, wrap(err, "list the latest runs")
}

// Spent is what the model calls of a turn took: tokens in and out, and the cost
// in billionths of a dollar.
func (tx RunsTx) Spent(turn TurnID) (input, output int, cost int64, err error) {
	err = tx.tx.QueryRow(spentSQL, turn).Scan(&input, &output, &cost)
	return input, output, cost, wrap(err, "sum up the usage of turn %d", turn)
}

// SpawnedTokens is what the subagents took that a turn started, as far as they
// have ended.
func (tx RunsTx) SpawnedTokens(turn TurnID) (tokens int, err error) {
	err = tx.tx.QueryRow(spawnedTokensSQL, turn).Scan(&tokens)
	return tokens, wrap(err, "sum up the subagents of turn %d", turn)
}

// CostOf is what the runs of a job and their subagents have cost, in billionths
// of a dollar.
func (tx RunsTx) CostOf(job JobID) (cost int64, err error) {
	err = tx.tx.QueryRow(costOfSQL, job).Scan(&cost)
	return cost, wrap(err, "sum up the runs of job %d", job)
}
