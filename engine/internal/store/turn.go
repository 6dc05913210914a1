package store

import "time"

// TurnState is how far a turn is.
type TurnState string

// The states of a turn.
const (
	// TurnRunning turns have not ended, perhaps because the process did.
	TurnRunning TurnState = "running"
	TurnDone    TurnState = "done"
	TurnFailed  TurnState = "failed"
	TurnStopped TurnState = "stopped"
)

// The states of a turn's placeholder; the comment of package progress has the table.
const (
	PlaceholderNone      = "none"
	PlaceholderSending   = "sending"
	PlaceholderShown     = "shown"
	PlaceholderFinal     = "final"
	PlaceholderForgotten = "forgotten"
)

// Turn is one run of the model loop.
type Turn struct {
	ID      TurnID
	Session SessionID
	Address Address
	// Origin is "person", "schedule" or "subagent".
	Origin string
	State  TurnState
	// Placeholder is the state of the placeholder, PlaceholderID its message.
	Placeholder   string
	PlaceholderID int64
	// ReplyTo is the message that the answer refers to, 0 for none.
	ReplyTo int64
	// Model is the name of the configured model that answered last.
	Model                     string
	InputTokens, OutputTokens int
	Note                      string
	StartedAt, EndedAt        time.Time
}

const turnColumns = `id, session, channel, chat, thread, origin, state, placeholder, placeholder_id,
	reply_to, model, input_tokens, output_tokens, note, started_at, ended_at`

const (
	turnSQL         = `SELECT ` + turnColumns + ` FROM turns WHERE id = ?`
	runningTurnsSQL = `SELECT ` + turnColumns + ` FROM turns WHERE state = 'running' ORDER BY id`
)

func scanTurn(r row) (t Turn, err error) {
	err = r.Scan(&t.ID, &t.Session, &t.Address.Chat.Channel, &t.Address.Chat.ID, &t.Address.Thread, &t.Origin, &t.State,
		&t.Placeholder, &t.PlaceholderID, &t.ReplyTo, &t.Model, &t.InputTokens, &t.OutputTokens, &t.Note,
		millis{&t.StartedAt}, millis{&t.EndedAt})
	return t, err
}

// AddTurn stores a turn that starts: running unless State says otherwise, now
// unless StartedAt does.
func (tx TurnsTx) AddTurn(t Turn) (TurnID, error) {
	if t.State == "" {
		t.State = TurnRunning
	}
	id, err := tx.insert(`INSERT INTO turns (session, channel, chat, thread, origin, state, placeholder,
			placeholder_id, reply_to, model, input_tokens, output_tokens, note, started_at, ended_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.Session, t.Address.Chat.Channel, t.Address.Chat.ID, t.Address.Thread, t.Origin, t.State, t.Placeholder,
		t.PlaceholderID, t.ReplyTo, t.Model, t.InputTokens, t.OutputTokens, t.Note, tx.orNow(t.StartedAt), toMillis(t.EndedAt))
	return TurnID(id), wrap(err, "add turn")
}

// Turn returns a turn, or ErrNotFound.
func (tx TurnsTx) Turn(id TurnID) (Turn, error) {
	t, err := scanTurn(tx.tx.QueryRow(turnSQL, id))
	return t, wrap(err, "turn %d", id)
}

// RunningTurns lists the turns that have not ended, oldest first.
func (tx TurnsTx) RunningTurns() ([]Turn, error) {
	all, err := query(tx, scanTurn, runningTurnsSQL)
	return all, wrap(err, "list running turns")
}

// SetPlaceholder writes the placeholder's state down.
func (tx TurnsTx) SetPlaceholder(id TurnID, state string, message int64) error {
	err := tx.change(`UPDATE turns SET placeholder = ?, placeholder_id = ? WHERE id = ?`, state, message, id)
	return wrap(err, "set placeholder of turn %d", id)
}

// EndTurn writes State, Placeholder, PlaceholderID, Model, InputTokens,
// OutputTokens, Note and EndedAt (now when it is zero) of a turn, drops its
// journal and stops the approvals that it still waits for.
func (tx TurnsTx) EndTurn(t Turn) error {
	err := tx.change(`UPDATE turns SET state = ?, placeholder = ?, placeholder_id = ?, model = ?,
			input_tokens = ?, output_tokens = ?, note = ?, ended_at = ? WHERE id = ?`,
		t.State, t.Placeholder, t.PlaceholderID, t.Model, t.InputTokens, t.OutputTokens, t.Note, tx.orNow(t.EndedAt), t.ID)
	if err == nil {
		err = tx.dropJournal(t.ID)
	}
	if err == nil {
		err = tx.all().Approvals().stopApprovals(t.ID)
	}
	return wrap(err, "end turn %d", t.ID)
}
