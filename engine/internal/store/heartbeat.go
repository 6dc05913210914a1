package store

import (
	"time"
)

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
