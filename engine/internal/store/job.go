package store

import "time"

// JobChannel is the channel of the sessions of jobs, which are no chats.
const JobChannel = "job"

// The row ids of jobs and their runs.
type (
	JobID int64
	RunID int64
)

// JobKind says what a job is.
type JobKind string

// The kinds of jobs.
const (
	// JobSchedule jobs run a turn, at each time of a cron or once.
	JobSchedule JobKind = "schedule"
	// JobReminder jobs deliver their message as it is, without a model.
	JobReminder JobKind = "reminder"
	// JobSpawn jobs run a turn once, at once: subagents.
	JobSpawn JobKind = "spawn"
	// JobHeartbeat jobs run a turn as schedules do; they stand in HEARTBEAT.md.
	JobHeartbeat JobKind = "heartbeat"
)

// JobState is whether a job runs.
type JobState string

// The states of a job.
const (
	JobOn JobState = "on"
	// JobPaused jobs do not run until they are resumed; Note says why.
	JobPaused JobState = "paused"
	// JobDone jobs had one time, which has come.
	JobDone JobState = "done"
	// JobRemoved jobs are gone but for their runs.
	JobRemoved JobState = "removed"
)

// Job is something that runs by itself.
type Job struct {
	ID   JobID
	Kind JobKind
	// Name is unique among the schedules and reminders that are on or paused.
	Name string
	// Cron is empty for a job with one time, At then is that time.
	Cron string
	At   time.Time
	// Zone is the IANA name of the time zone of Cron.
	Zone string
	// Misfire is "run_once" or "skip": what becomes of times that were missed.
	Misfire string
	// Model is the configured name of a model, empty for the default.
	Model   string
	Message string
	// Home is the chat that the job belongs to, zero for the command line;
	// Creator is the person, 0 for none.
	Home    Address
	Creator int64
	// Target is the chat that gets what the job says, zero for none.
	Target Address
	// Policy is JSON of the engine's: what the job's runs may do beyond the usual.
	Policy string
	// Budget is how many tokens a run may take, 0 for no bound of its own.
	Budget int
	// Origin is who caused the job: "person", "command", "workspace", "subagent", or
	// "others" for an owner who may have used the words of someone else.
	Origin string
	// Parent is the turn that spawned the job, 0 for none.
	Parent TurnID
	State  JobState
	Note   string
	// Failures counts the failed runs since the last good one.
	Failures int
	// NextRun is when the job is due, zero for never again.
	NextRun time.Time
	// Settled is what NextRun was before the clock was set back, zero when that is
	// over: times before it are not missed when the clock is set on again.
	Settled              time.Time
	CreatedAt, ChangedAt time.Time
}

const jobColumns = `j.id, j.kind, j.name, j.cron, j.at, j.zone, j.misfire, j.model, j.message, j.home_channel, j.home_chat,
	j.home_thread, j.creator, j.channel, j.chat, j.thread, j.policy, j.budget, j.origin, j.parent, j.state, j.note, j.failures,
	j.next_run, j.settled, j.created_at, j.changed_at`

const (
	jobSQL      = `SELECT ` + jobColumns + ` FROM jobs j WHERE j.id = ?`
	jobNamedSQL = `SELECT ` + jobColumns + ` FROM jobs j WHERE j.name = ? AND j.kind <> 'spawn' AND j.state IN ('on', 'paused')`
	jobEverSQL  = `SELECT ` + jobColumns + ` FROM jobs j WHERE j.name = ? AND j.kind <> 'spawn' AND j.state <> 'removed' ORDER BY j.id DESC LIMIT 1`
	jobsOnSQL   = `SELECT ` + jobColumns + ` FROM jobs j WHERE j.state = 'on' ORDER BY j.id`
	jobsSQL     = `SELECT ` + jobColumns + ` FROM jobs j WHERE j.state IN ('on', 'paused') ORDER BY j.id`

	heartbeatsSQL = `SELECT ` + jobColumns + ` FROM jobs j WHERE j.kind = 'heartbeat' AND (j.state <> 'removed' OR j.changed_at >= ?) ORDER BY j.id DESC`

	countJobsSQL = `SELECT count(*), coalesce(sum(home_channel = ? AND home_chat = ?), 0) FROM jobs WHERE state IN ('on', 'paused')`
)

func (j *Job) fields() []any {
	return []any{&j.ID, &j.Kind, &j.Name, &j.Cron, millis{&j.At}, &j.Zone, &j.Misfire, &j.Model, &j.Message,
		&j.Home.Chat.Channel, &j.Home.Chat.ID, &j.Home.Thread, &j.Creator, &j.Target.Chat.Channel, &j.Target.Chat.ID, &j.Target.Thread,
		&j.Policy, &j.Budget, &j.Origin, &j.Parent, &j.State, &j.Note, &j.Failures, millis{&j.NextRun}, millis{&j.Settled},
		millis{&j.CreatedAt}, millis{&j.ChangedAt}}
}

func scanJob(r row) (j Job, err error) {
	err = r.Scan(j.fields()...)
	return j, err
}

// AddJob stores a job, on unless State says otherwise.
func (tx JobsTx) AddJob(j Job) (JobID, error) {
	if j.State == "" {
		j.State = JobOn
	}
	id, err := tx.insert(`INSERT INTO jobs (kind, name, cron, at, zone, misfire, model, message, home_channel, home_chat, home_thread,
			creator, channel, chat, thread, policy, budget, origin, parent, state, note, failures, next_run, created_at, changed_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)`,
		j.Kind, j.Name, j.Cron, toMillis(j.At), j.Zone, j.Misfire, j.Model, tx.order(j), j.Home.Chat.Channel, j.Home.Chat.ID, j.Home.Thread,
		j.Creator, j.Target.Chat.Channel, j.Target.Chat.ID, j.Target.Thread, j.Policy, j.Budget, j.Origin, j.Parent, j.State, j.Note,
		toMillis(j.NextRun), tx.orNow(j.CreatedAt), toMillis(tx.now))
	tx.changes.Jobs = true
	return JobID(id), wrap(err, "add job %s", j.Name)
}

// order is what a job does. It has to be done as it was given, so only known secrets
// are taken out of it and not what has the shape of one.
func (tx JobsTx) order(j Job) exact { return exact(tx.secrets.KnownJSON([]byte(j.Message))) }

// Job returns a job, or ErrNotFound.
func (tx JobsTx) Job(id JobID) (Job, error) {
	j, err := scanJob(tx.tx.QueryRow(jobSQL, id))
	return j, wrap(err, "job %d", id)
}

// JobNamed returns the schedule or reminder of a name that is on or paused, or
// ErrNotFound.
func (tx JobsTx) JobNamed(name string) (Job, error) {
	j, err := scanJob(tx.tx.QueryRow(jobNamedSQL, name))
	return j, wrap(err, "job %s", name)
}

// JobEver is JobNamed that also finds one whose only time has come.
func (tx JobsTx) JobEver(name string) (Job, error) {
	j, err := tx.JobNamed(name)
	if err == nil {
		return j, nil
	}
	j, err = scanJob(tx.tx.QueryRow(jobEverSQL, name))
	return j, wrap(err, "job %s", name)
}

// Jobs lists what is on or paused, oldest first; with onlyOn only what is on.
func (tx JobsTx) Jobs(onlyOn bool) ([]Job, error) {
	statement := jobsSQL
	if onlyOn {
		statement = jobsOnSQL
	}
	all, err := query(tx, scanJob, statement)
	return all, wrap(err, "list jobs")
}

// Heartbeats lists the tasks of the heartbeat, also those that were removed since a
// time, the newest first.
func (tx JobsTx) Heartbeats(since time.Time) ([]Job, error) {
	all, err := query(tx, scanJob, heartbeatsSQL, toMillis(since))
	return all, wrap(err, "list heartbeats")
}

// CountJobs counts what is on or paused, all of it and what a chat has made.
func (tx JobsTx) CountJobs(home Address) (all, own int, err error) {
	err = tx.tx.QueryRow(countJobsSQL, home.Chat.Channel, home.Chat.ID).Scan(&all, &own)
	return all, own, wrap(err, "count jobs")
}

// UpdateJob writes back everything of a job but its kind and the turn that spawned it.
func (tx JobsTx) UpdateJob(j Job) error {
	err := tx.change(`UPDATE jobs SET name = ?, cron = ?, at = ?, zone = ?, misfire = ?, model = ?, message = ?, home_channel = ?, home_chat = ?,
			home_thread = ?, creator = ?, channel = ?, chat = ?, thread = ?, policy = ?, budget = ?, origin = ?, state = ?, note = ?, failures = ?, next_run = ?, settled = ?, changed_at = ? WHERE id = ?`,
		j.Name, j.Cron, toMillis(j.At), j.Zone, j.Misfire, j.Model, tx.order(j), j.Home.Chat.Channel, j.Home.Chat.ID,
		j.Home.Thread, j.Creator, j.Target.Chat.Channel, j.Target.Chat.ID, j.Target.Thread, j.Policy, j.Budget, j.Origin, j.State, j.Note, j.Failures, toMillis(j.NextRun), toMillis(j.Settled), toMillis(tx.now), j.ID)
	tx.changes.Jobs = true
	return wrap(err, "update job %d", j.ID)
}

// PauseJobsFor pauses the jobs that report to a chat, and returns their names.
func (tx JobsTx) PauseJobsFor(channel string, chat int64, note string) ([]string, error) {
	names, err := query(tx, single[string],
		`UPDATE jobs SET state = 'paused', note = ?, changed_at = ? WHERE state = 'on' AND kind <> 'spawn' AND channel = ? AND chat = ? RETURNING name`,
		tx.secrets.Text(note), toMillis(tx.now), channel, chat)
	tx.changed = tx.changed || len(names) > 0
	tx.changes.Jobs = tx.changes.Jobs || len(names) > 0
	return names, wrap(err, "pause the jobs for %s %d", channel, chat)
}

// heartbeatTokensSQL sums up the runs that were due since a time, and those of
// their subagents.
const heartbeatTokensSQL = `SELECT coalesce(sum(r.input_tokens + r.output_tokens
		+ (SELECT coalesce(sum(c.input_tokens + c.output_tokens), 0) FROM jobs s JOIN runs c ON c.job = s.id WHERE s.parent <> 0 AND s.parent = r.turn)), 0)
	FROM runs r JOIN jobs j ON j.id = r.job WHERE r.scheduled_at >= ? AND j.kind = 'heartbeat'`

// HeartbeatTokens is what the runs of the heartbeat have taken since a time.
func (tx RunsTx) HeartbeatTokens(since time.Time) (tokens int, err error) {
	err = tx.tx.QueryRow(heartbeatTokensSQL, toMillis(since)).Scan(&tokens)
	return tokens, wrap(err, "sum up the heartbeat")
}

// Spawned is a subagent: its job and the one run that it has.
type Spawned struct {
	Job Job
	Run Run
}

const (
	spawnColumns = jobColumns + `, ` + runColumns
	spawnedSQL   = `SELECT ` + spawnColumns + ` FROM runs r JOIN jobs j ON j.id = r.job WHERE r.id = ? AND j.kind = 'spawn'`
	// The rows that have not ended are few and have an index of their own.
	openSpawnsSQL  = `SELECT ` + spawnColumns + ` FROM runs r JOIN jobs j ON j.id = r.job WHERE r.state IN ('claimed', 'running', 'retry') AND j.kind = 'spawn' ORDER BY r.id DESC`
	endedSpawnsSQL = `SELECT ` + spawnColumns + ` FROM jobs j INDEXED BY jobs_spawned CROSS JOIN runs r ON r.job = j.id
		WHERE r.state NOT IN ('claimed', 'running', 'retry') AND j.kind = 'spawn'
		AND (? = '' OR j.home_channel = ? AND j.home_chat = ?) ORDER BY j.id DESC LIMIT ?`
)

func scanSpawned(r row) (s Spawned, err error) {
	err = r.Scan(append(s.Job.fields(), s.Run.fields()...)...)
	return s, err
}

// Spawned returns a subagent by its run, or ErrNotFound.
func (tx JobsTx) Spawned(id RunID) (Spawned, error) {
	s, err := scanSpawned(tx.tx.QueryRow(spawnedSQL, id))
	return s, wrap(err, "subagent %d", id)
}

// OpenSpawns lists the subagents that have not ended, the latest first.
func (tx JobsTx) OpenSpawns() ([]Spawned, error) {
	all, err := query(tx, scanSpawned, openSpawnsSQL)
	return all, wrap(err, "list open subagents")
}

// EndedSpawns lists subagents of a chat, or of all for the zero address, that have
// ended, the latest first, at most limit.
func (tx JobsTx) EndedSpawns(home Address, limit int) ([]Spawned, error) {
	all, err := query(tx, scanSpawned, endedSpawnsSQL, home.Chat.Channel, home.Chat.Channel, home.Chat.ID, limit)
	return all, wrap(err, "list subagents")
}
