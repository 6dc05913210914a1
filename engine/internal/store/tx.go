package store

import (
	"time"

	"klawbot/engine/internal/sqlite"
	"klawbot/internal/redact"
)

// Tx is a transaction. It is valid only inside the function that got it. What it
// does with the rows is grouped by table: tx.Inbox().AddUpdate.
type Tx struct{ *conn }

// conn runs the statements of a transaction. Tx and the types of its tables share it.
type conn struct {
	tx      *sqlite.Transaction
	secrets *redact.Set
	now     time.Time
	write   bool
	// changed says that a statement changed something.
	changed bool
	// changes are what others wait for.
	changes Changes
	// long says that statements may take long, and end with their context.
	long bool
	// rebuilt says that statements are about the tables that are being rebuilt.
	rebuilt bool
}

// newTx is a transaction that writes, or only reads.
func newTx(tx *sqlite.Transaction, secrets *redact.Set, write bool) *Tx {
	return &Tx{&conn{tx: tx, secrets: secrets, now: now(), write: write}}
}

// all is the transaction with all its tables, for a table that needs another one.
func (c *conn) all() *Tx { return &Tx{c} }

// slowly is for statements that may take long.
func (c conn) slowly() *conn {
	c.long = true
	return &c
}

// The tables of a transaction.
type (
	// InboxTx is the inbox: updates that came in.
	InboxTx struct{ *conn }
	// OutboxTx is the outbox: what has to be delivered.
	OutboxTx struct{ *conn }
	// TurnsTx is the turns with their journal: answers of models, calls of tools.
	TurnsTx struct{ *conn }
	// ApprovalsTx is what people are asked, and the grants that they gave for good.
	ApprovalsTx struct{ *conn }
	// ChatsTx is what is known of chats.
	ChatsTx struct{ *conn }
	// SessionsTx is the sessions, with their messages and summaries.
	SessionsTx struct{ *conn }
	// JobsTx is the jobs: what is planned, the heartbeat, the subagents.
	JobsTx struct{ *conn }
	// RunsTx is the runs of jobs.
	RunsTx struct{ *conn }
	// MemoriesTx is the memories, and the changes of them that wait.
	MemoriesTx struct{ *conn }
	// IndexTx is the chunks of text with their terms, and what is indexed already.
	IndexTx struct{ *conn }
	// VectorsTx is the vectors of the chunks.
	VectorsTx struct{ *conn }
	// UsageTx is the tokens and the cost of each day.
	UsageTx struct{ *conn }
	// ChangesTx is the changes of the configuration that can be undone.
	ChangesTx struct{ *conn }
	// ServersTx is the MCP servers: their accepted tools, their tokens.
	ServersTx struct{ *conn }
	// MediaTx is the kept files, and those of the messages of turns that run.
	MediaTx struct{ *conn }
	// WebTx is the chat of the web page, and the browsers that are signed in.
	WebTx struct{ *conn }
	// ArchiveTx is what export, import, the conversation logs and a rebuild need.
	ArchiveTx struct{ *conn }
)

// Inbox has the methods for the inbox.
func (tx *Tx) Inbox() InboxTx { return InboxTx{tx.conn} }

// Outbox has the methods for the outbox.
func (tx *Tx) Outbox() OutboxTx { return OutboxTx{tx.conn} }

// Turns has the methods for turns.
func (tx *Tx) Turns() TurnsTx { return TurnsTx{tx.conn} }

// Approvals has the methods for approvals.
func (tx *Tx) Approvals() ApprovalsTx { return ApprovalsTx{tx.conn} }

// Chats has the methods for chats.
func (tx *Tx) Chats() ChatsTx { return ChatsTx{tx.conn} }

// Sessions has the methods for sessions.
func (tx *Tx) Sessions() SessionsTx { return SessionsTx{tx.conn} }

// Jobs has the methods for jobs.
func (tx *Tx) Jobs() JobsTx { return JobsTx{tx.conn} }

// Runs has the methods for runs.
func (tx *Tx) Runs() RunsTx { return RunsTx{tx.conn} }

// Memories has the methods for memories.
func (tx *Tx) Memories() MemoriesTx { return MemoriesTx{tx.conn} }

// Index has the methods for the search index.
func (tx *Tx) Index() IndexTx { return IndexTx{tx.conn} }

// Vectors has the methods for vectors.
func (tx *Tx) Vectors() VectorsTx { return VectorsTx{tx.conn} }

// Usage has the methods for usage.
func (tx *Tx) Usage() UsageTx { return UsageTx{tx.conn} }

// Changes has the methods for changes.
func (tx *Tx) Changes() ChangesTx { return ChangesTx{tx.conn} }

// Servers has the methods for MCP servers.
func (tx *Tx) Servers() ServersTx { return ServersTx{tx.conn} }

// Media has the methods for files.
func (tx *Tx) Media() MediaTx { return MediaTx{tx.conn} }

// Web has the methods for the web page.
func (tx *Tx) Web() WebTx { return WebTx{tx.conn} }

// Archive has the methods for archives.
func (tx *Tx) Archive() ArchiveTx { return ArchiveTx{tx.conn} }

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
	// The newest messages of the web page stay, however old.
	AgedWeb Aged = `DELETE FROM web_messages WHERE at < ?
		AND id NOT IN (SELECT id FROM web_messages ORDER BY id DESC LIMIT 200)`
	AgedBrowsers Aged = `DELETE FROM web_browsers WHERE seen_at < ?`
)

// Prune deletes the rows of a table from before a time and returns how many.
func (tx *Tx) Prune(a Aged, before time.Time) (int64, error) {
	n, err := tx.exec(string(a), toMillis(before))
	return n, wrap(err, "delete old rows")
}
