package store

import (
	"encoding/json"

	"klawbot/engine/internal/llm"
)

// Call is a journaled tool call.
type Call struct {
	// ID is the engine's id of the call.
	ID   string
	Turn TurnID
	Name string
	// Result is the tool's result as JSON, nil while the call is in doubt:
	// started, and no result stored.
	Result []byte
}

const (
	answersSQL = `SELECT body FROM answers WHERE turn = ? ORDER BY round`
	callsSQL   = `SELECT call, turn, name, result FROM calls WHERE turn = ? ORDER BY id`

	callResultsSQL = `SELECT result FROM calls WHERE result IS NOT NULL`
)

// AddAnswer journals a model's answer before anybody acts on it. Rounds count
// from 0; a round that is journaled already is an error. Its calls may have to run
// after a crash, so only known secrets are taken out of it until the turn ends.
func (tx TurnsTx) AddAnswer(t TurnID, round int, m llm.Message, u llm.Usage) error {
	body, err := json.Marshal(m)
	if err == nil {
		_, err = tx.exec(`INSERT INTO answers (turn, round, body, input_tokens, output_tokens, cached_tokens, at)
			VALUES (?, ?, ?, ?, ?, ?, ?)`, t, round, exact(tx.secrets.KnownJSON(body)), u.Input, u.Output, u.Cached, toMillis(tx.now))
	}
	return wrap(err, "journal answer %d of turn %d", round, t)
}

// Answers returns the journaled answers of a turn by round.
func (tx TurnsTx) Answers(t TurnID) ([]llm.Message, error) {
	all, err := query(tx, func(r row) (m llm.Message, err error) {
		err = r.Scan(jsonColumn{&m})
		return m, err
	}, answersSQL, t)
	return all, wrap(err, "answers of turn %d", t)
}

// StartCall journals that a call is about to have its effect. Starting a call
// again, as a read-only one after a crash, is no error and changes nothing.
func (tx TurnsTx) StartCall(c Call) error {
	_, err := tx.exec(`INSERT INTO calls (call, turn, name, started_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (call) DO NOTHING`, c.ID, c.Turn, c.Name, toMillis(tx.now))
	return wrap(err, "journal start of call %s", c.ID)
}

// FinishCall stores the result of a call. A call that was not started is
// ErrNotFound.
func (tx TurnsTx) FinishCall(id string, result []byte) error {
	err := tx.change(`UPDATE calls SET result = ?, finished_at = ? WHERE call = ?`, blob(result), toMillis(tx.now), id)
	return wrap(err, "journal result of call %s", id)
}

// Calls returns the journaled calls of a turn by id.
func (tx TurnsTx) Calls(t TurnID) (map[string]Call, error) {
	byID := map[string]Call{}
	err := tx.each(callsSQL, []any{t}, func(r row) error {
		var c Call
		err := r.Scan(&c.ID, &c.Turn, &c.Name, &c.Result)
		byID[c.ID] = c
		return err
	})
	return byID, wrap(err, "calls of turn %d", t)
}

// CallResults returns the results, as JSON, of all calls of the turns that run.
func (tx TurnsTx) CallResults() ([][]byte, error) {
	all, err := query(tx, single[[]byte], callResultsSQL)
	return all, wrap(err, "list results of calls")
}

// dropJournal deletes what a turn has left behind. Most have left nothing: one look is
// enough for them.
func (tx TurnsTx) dropJournal(t TurnID) error {
	var any bool
	err := tx.tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM answers WHERE turn = ?1) OR EXISTS (SELECT 1 FROM calls WHERE turn = ?1)
		OR EXISTS (SELECT 1 FROM attachments WHERE turn = ?1)`, t).Scan(&any)
	for _, table := range []string{"answers", "calls", "attachments"} {
		if err == nil && any {
			_, err = tx.exec(`DELETE FROM `+table+` WHERE turn = ?`, t)
		}
	}
	return err
}
