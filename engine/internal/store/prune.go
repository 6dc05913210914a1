package store

import "time"

// Aged is the statement that deletes the old rows of a table.
type Aged string

// The tables with old rows. Work that has not ended stays, however old it is.
const (
	// The last hundred updates stay whatever the clock says: so many may come once more,
	// because their receipt was not confirmed.
	AgedInbox Aged = `DELETE FROM inbox WHERE state IN ('done', 'dead') AND received_at < ?
		AND id <= (SELECT max(id) FROM inbox) - 100`
	AgedOutbox        Aged = `DELETE FROM outbox WHERE state IN ('sent', 'unknown', 'dead') AND created_at < ?`
	AgedUsage         Aged = `DELETE FROM usage WHERE at < ?`
	AgedApprovals     Aged = `DELETE FROM approvals WHERE asked_at < ?`
	AgedMemoryChanges Aged = `DELETE FROM memory_changes WHERE at < ?`
	AgedRuns          Aged = `DELETE FROM runs WHERE state NOT IN ('claimed', 'running', 'retry') AND scheduled_at < ?`
	AgedJobs          Aged = `DELETE FROM jobs WHERE state IN ('done', 'removed') AND changed_at < ?` // and their runs
	AgedChanges       Aged = `DELETE FROM changes WHERE at < ?`
	// Whom the owners ignore stays ignored.
	AgedStrangers Aged = `DELETE FROM strangers WHERE state <> 'ignored' AND last_at < ?`
)

// Prune deletes the rows of a table from before a time and returns how many.
func (tx *Tx) Prune(a Aged, before time.Time) (int64, error) {
	n, err := tx.exec(string(a), toMillis(before))
	return n, wrap(err, "delete old rows")
}
