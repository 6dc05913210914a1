package store

// The statements of the hot paths, for the test of their plans.
var HotStatements = map[string]string{
	"NewUpdates":   newUpdatesSQL,
	"TurnUpdates":  turnUpdatesSQL,
	"InboxDepth":   inboxDepthSQL,
	"PruneInbox":   string(AgedInbox),
	"PendingOut":   pendingOutSQL,
	"PendingOutAt": pendingOutAtSQL,
	"OutboxDepth":  outboxDepthSQL,
	"PruneOutbox":  string(AgedOutbox),
	"Turn":         turnSQL,
	"RunningTurns": runningTurnsSQL,
	"Answers":      answersSQL,
	"Calls":        callsSQL,
	"Session":      sessionSQL,
	"sessionAt":    sessionAtSQL,
	"History":      historySQL,
	"unlogged":     unloggedSQL,
	"Summary":      summarySQL,
	"historyAfter": historyAfterSQL,
	"historyFrom":  historyFromSQL,
	"countAfter":   countAfterSQL,
	"UsageOn":      usageOnSQL,
	"PruneUsage":   string(AgedUsage),
	"whereabouts":  whereaboutsSQL,
	"chatGone":     chatGoneSQL,
	"endOutOfChat": endOutOfChatSQL,

	"OutNamed":       outNamedSQL,
	"OutsSince":      outsSinceSQL,
	"putOutBehind":   putOutBehindSQL,
	"Approval":       approvalByTokenSQL,
	"ApprovalOf":     approvalByCallSQL,
	"PruneApprovals": string(AgedApprovals),

	"Job":        jobSQL,
	"JobNamed":   jobNamedSQL,
	"JobEver":    jobEverSQL,
	"Jobs":       jobsSQL,
	"JobsOn":     jobsOnSQL,
	"CountJobs":  countJobsSQL,
	"PruneJobs":  string(AgedJobs),
	"Run":        runSQL,
	"OpenRuns":   openRunsSQL,
	"OpenRunOf":  openRunOfSQL,
	"Runs":       runsSQL,
	"RunAt":      runAtSQL,
	"LatestRuns": latestRunsSQL,
	"Spent":      spentSQL,
	"CostOf":     costOfSQL,

	"Spawned":     spawnedSQL,
	"OpenSpawns":  openSpawnsSQL,
	"EndedSpawns": endedSpawnsSQL,

	"HeartbeatTokens": heartbeatTokensSQL,

	"PendingApproval":  pendingApprovalSQL,
	"UnreachApprovals": awayApprovalsSQL,
	"stopApprovals":    stopApprovalsSQL,
	"openQuestions":    openQuestionsSQL,
}

// Exec runs any statement.
func (tx *Tx) Exec(statement string, args ...any) error {
	_, err := tx.exec(statement, args...)
	return err
}

// Text returns the first column of the first row as text.
func (tx *Tx) Text(statement string, args ...any) (string, error) {
	var s string
	err := tx.tx.QueryRow(statement, args...).Scan(&s)
	return s, err
}

// Plan returns the steps of a statement's plan.
func (tx *Tx) Plan(statement string) ([]string, error) {
	var args []any
	for _, c := range statement {
		if c == '?' {
			args = append(args, 1)
		}
	}
	return query(tx, func(r row) (detail string, err error) {
		var ignored int
		err = r.Scan(&ignored, &ignored, &ignored, &detail)
		return detail, err
	}, "EXPLAIN QUERY PLAN "+statement, args...)
}

// Each calls do with each row of a statement.
func (tx *Tx) Each(statement string, do func()) error {
	return tx.each(statement, nil, func(row) error { do(); return nil })
}

// Slowly runs a statement that may take long.
func (tx *Tx) Slowly(statement string) error {
	_, err := query(tx.slowly(), single[int], statement)
	return err
}

// Waiting is how many writes wait for another one.
func (s *Store) Waiting() int {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return len(s.writer.waiting)
}
