package store

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
