package store

import "time"

// ApprovalID is the id of an Approval.
type ApprovalID int64

// ApprovalState is what came of a question.
type ApprovalState string

// The states of an approval. All but the first are final.
const (
	ApprovalPending ApprovalState = "pending"
	// ApprovalOnce and ApprovalHour were allowed by a person, the latter with a
	// Grant; ApprovalGranted was allowed by a Grant without a question.
	ApprovalOnce    ApprovalState = "once"
	ApprovalHour    ApprovalState = "hour"
	ApprovalGranted ApprovalState = "granted"
	// ApprovalDenied: a user denied it. ApprovalExpired: there was no answer in time.
	// ApprovalStopped: the turn ended first, or, for a question with AnsweredBy, before
	// it was certain that the answer had arrived.
	ApprovalDenied  ApprovalState = "denied"
	ApprovalExpired ApprovalState = "expired"
	ApprovalStopped ApprovalState = "stopped"
	// ApprovalAnswered and ApprovalCancelled: a person answered a question, or did
	// not want to (see Approval.Question).
	ApprovalAnswered  ApprovalState = "answered"
	ApprovalCancelled ApprovalState = "cancelled"
	// ApprovalUnreached: the request did not reach the owner whose chat it was for.
	ApprovalUnreached ApprovalState = "unreached"
)

// Granted reports whether the call may run.
func (s ApprovalState) Granted() bool {
	return s == ApprovalOnce || s == ApprovalHour || s == ApprovalGranted
}

// Approval is one call that a person was asked about, or that a grant allowed.
// The rows are the record of who allowed what.
type Approval struct {
	ID ApprovalID
	// Token is what a button carries. It is unique and cannot be guessed.
	Token string
	// Turn and Call say what waits for it. A call is asked about once.
	Turn TurnID
	Call string
	// Address is where the question stands, Home where the call comes from: the
	// zero Home is Address.
	Address, Home Address
	// Sender is who caused the call.
	Sender int64
	Tool   string
	// Hash is of the tool and its exact arguments; Shown is what a person reads
	// of them.
	Hash, Shown string
	State       ApprovalState
	Grant       GrantID // 0 for none
	// AnsweredBy is the user who decided, 0 for none.
	AnsweredBy                     int64
	AskedAt, ExpiresAt, AnsweredAt time.Time
	// Question says that a program asks the person something in the middle of the
	// call. Nothing is granted by the answer, and it does not outlive the process.
	Question bool
	// Owners says that only owners may decide, Once that the answer holds for this
	// call alone.
	Owners, Once bool
}

// home is where the call comes from.
func (a Approval) home() Address {
	if a.Home == (Address{}) {
		return a.Address
	}
	return a.Home
}

// Away reports whether the question stands in another chat than the call's.
func (a Approval) Away() bool { return !a.Question && a.Address != a.Home }

const approvalColumns = `id, token, turn, call, channel, chat, thread, sender, tool, hash, shown, state, grant_id,
	answered_by, asked_at, expires_at, answered_at, question, home_channel, home_chat, home_thread, owners, once`

const (
	approvalByTokenSQL = `SELECT ` + approvalColumns + ` FROM approvals WHERE token = ?`
	approvalByIDSQL    = `SELECT ` + approvalColumns + ` FROM approvals WHERE id = ?`
	approvalByCallSQL  = `SELECT ` + approvalColumns + ` FROM approvals WHERE call = ? AND turn = ?`
	pendingApprovalSQL = `SELECT ` + approvalColumns + ` FROM approvals
		WHERE state = 'pending' AND channel = ? AND chat = ? AND thread = ? ORDER BY id LIMIT 1`
	awayApprovalsSQL = `SELECT ` + approvalColumns + ` FROM approvals WHERE state = 'pending' AND channel = ? AND chat = ?
		AND (home_channel <> channel OR home_chat <> chat)`
	stopApprovalsSQL = `UPDATE approvals SET state = 'stopped', answered_at = ? WHERE state = 'pending' AND turn = ?`
	openQuestionsSQL = `SELECT ` + approvalColumns + ` FROM approvals WHERE question = 1 AND state = 'pending'
		UNION ALL SELECT ` + approvalColumns + ` FROM approvals WHERE question = 1 AND state = 'answered'
		AND asked_at >= (SELECT min(started_at) FROM turns WHERE state = 'running') AND turn IN (SELECT id FROM turns WHERE state = 'running')
		AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.turn = approvals.turn AND c.result IS NOT NULL
			AND substr(approvals.call, 1, length(c.call) + 1) = c.call || '/')`
	requestsSQL = `SELECT count(*) FILTER (WHERE state = 'pending'), count(*) FROM approvals
		WHERE asked_at >= ? AND sender = ? AND question = 0 AND state IN ('pending', 'denied', 'expired', 'stopped')
		AND (home_channel <> channel OR home_chat <> chat)`
	approvalsSQL = `SELECT ` + approvalColumns + ` FROM approvals ORDER BY id DESC LIMIT ?`
)

func scanApproval(r row) (a Approval, err error) {
	err = r.Scan(&a.ID, &a.Token, &a.Turn, &a.Call, &a.Address.Chat.Channel, &a.Address.Chat.ID, &a.Address.Thread, &a.Sender,
		&a.Tool, &a.Hash, &a.Shown, &a.State, &a.Grant, &a.AnsweredBy,
		millis{&a.AskedAt}, millis{&a.ExpiresAt}, millis{&a.AnsweredAt}, &a.Question,
		&a.Home.Chat.Channel, &a.Home.Chat.ID, &a.Home.Thread, &a.Owners, &a.Once)
	return a, err
}

// AddApproval stores a question, pending unless State says otherwise, asked now
// unless AskedAt does. A call that was asked about already is an error.
func (tx ApprovalsTx) AddApproval(a Approval) (ApprovalID, error) {
	if a.State == "" {
		a.State = ApprovalPending
	}
	a.Home = a.home()
	id, err := tx.insert(`INSERT INTO approvals (token, turn, call, channel, chat, thread, sender, tool, hash, shown, state,
			grant_id, answered_by, asked_at, expires_at, answered_at, question, home_channel, home_chat, home_thread, owners, once)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		a.Token, a.Turn, a.Call, a.Address.Chat.Channel, a.Address.Chat.ID, a.Address.Thread, a.Sender, a.Tool, a.Hash, a.Shown,
		a.State, a.Grant, a.AnsweredBy, tx.orNow(a.AskedAt), toMillis(a.ExpiresAt), toMillis(a.AnsweredAt), a.Question,
		a.Home.Chat.Channel, a.Home.Chat.ID, a.Home.Thread, a.Owners, a.Once)
	return ApprovalID(id), wrap(err, "add approval of call %s", a.Call)
}

// ApprovalOf returns the approval of a call of a turn, or ErrNotFound.
func (tx ApprovalsTx) ApprovalOf(t TurnID, call string) (Approval, error) {
	a, err := scanApproval(tx.tx.QueryRow(approvalByCallSQL, call, t))
	return a, wrap(err, "approval of call %s", call)
}

// ApprovalByID returns an approval, or ErrNotFound.
func (tx ApprovalsTx) ApprovalByID(id ApprovalID) (Approval, error) {
	a, err := scanApproval(tx.tx.QueryRow(approvalByIDSQL, id))
	return a, wrap(err, "approval %d", id)
}

// Approval returns the approval with a token, or ErrNotFound.
func (tx ApprovalsTx) Approval(token string) (Approval, error) {
	a, err := scanApproval(tx.tx.QueryRow(approvalByTokenSQL, token))
	return a, wrap(err, "approval")
}

// PendingApproval returns the approval that has waited longest at an address, or
// ErrNotFound.
func (tx ApprovalsTx) PendingApproval(at Address) (Approval, error) {
	a, err := scanApproval(tx.tx.QueryRow(pendingApprovalSQL, at.Chat.Channel, at.Chat.ID, at.Thread))
	return a, wrap(err, "pending approval")
}

// Requests counts the approval requests that owners got in their own chats because of
// a user since a time: those that are open, and all that were not allowed.
func (tx ApprovalsTx) Requests(sender int64, since time.Time) (open, vain int, err error) {
	err = tx.tx.QueryRow(requestsSQL, toMillis(since), sender).Scan(&open, &vain)
	return open, vain, wrap(err, "count the requests of %d", sender)
}

// OpenQuestions lists the questions without an answer, and those with an answer whose
// call has not ended.
func (tx ApprovalsTx) OpenQuestions() ([]Approval, error) {
	all, err := query(tx, scanApproval, openQuestionsSQL)
	return all, wrap(err, "open questions")
}

// stopApprovals ends what is pending of a turn, which waits for nothing any more.
func (tx ApprovalsTx) stopApprovals(t TurnID) error {
	_, err := tx.exec(stopApprovalsSQL, toMillis(tx.now), t)
	return err
}

// Answer ends a pending approval. won is false when it had ended before; then
// nothing changes. Of all that answer, exactly one wins.
func (tx ApprovalsTx) Answer(id ApprovalID, s ApprovalState, by int64, g GrantID) (won bool, err error) {
	n, err := tx.exec(`UPDATE approvals SET state = ?, answered_by = ?, grant_id = ?, answered_at = ?
		WHERE id = ? AND state = 'pending'`, s, by, g, toMillis(tx.now), id)
	return n == 1, wrap(err, "answer approval %d", id)
}

// UnreachApprovals ends what is pending in a chat that cannot be reached and comes
// from another one, and returns what that was.
func (tx ApprovalsTx) UnreachApprovals(channel string, chat int64) ([]Approval, error) {
	lost, err := query(tx, scanApproval, awayApprovalsSQL, channel, chat)
	if err == nil && len(lost) > 0 {
		_, err = tx.exec(`UPDATE approvals SET state = 'unreached', answered_at = ?1 WHERE state = 'pending' AND channel = ?2 AND chat = ?3
			AND (home_channel <> channel OR home_chat <> chat)`, toMillis(tx.now), channel, chat)
	}
	return lost, wrap(err, "end what is asked in %s %d", channel, chat)
}

// LoseAnswer ends a question whose answer may not have reached who asked.
func (tx ApprovalsTx) LoseAnswer(id ApprovalID) error {
	err := tx.change(`UPDATE approvals SET state = 'stopped' WHERE id = ? AND state = 'answered'`, id)
	return wrap(err, "lose the answer of approval %d", id)
}

// Approvals lists what was asked, the newest first.
func (tx ApprovalsTx) Approvals(limit int) ([]Approval, error) {
	all, err := query(tx, scanApproval, approvalsSQL, limit)
	return all, wrap(err, "list approvals")
}
