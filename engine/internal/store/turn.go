package store

import (
	"time"

	"klawbot/engine/internal/llm"
)

// TurnState is how far a turn is.
type TurnState string

// The states of a turn.
const (
	TurnRunning TurnState = "running"
	TurnDone    TurnState = "done"
	TurnFailed  TurnState = "failed"
	TurnStopped TurnState = "stopped"
)

// Turn is one run of the model loop.
type Turn struct {
	ID      TurnID
	Session SessionID
	Address Address
	// Origin is "person", "schedule" or "subagent".
	Origin string
	State  TurnState
	// Placeholder and PlaceholderID are the engine's (see engine's package
	// comment): the state as text and the message's id.
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

// AddTurn stores a turn that starts.
func (tx *Tx) AddTurn(t Turn) (TurnID, error) { panic("not yet") }

// Turn returns a turn, or ErrNotFound.
func (tx *Tx) Turn(id TurnID) (Turn, error) { panic("not yet") }

// RunningTurns lists the turns that have not ended, oldest first.
func (tx *Tx) RunningTurns() ([]Turn, error) { panic("not yet") }

// SetPlaceholder writes the placeholder's state down.
func (tx *Tx) SetPlaceholder(id TurnID, state string, message int64) error { panic("not yet") }

// EndTurn writes State, Placeholder, PlaceholderID, Model, InputTokens,
// OutputTokens, Note and EndedAt of a turn and drops its journal.
func (tx *Tx) EndTurn(t Turn) error { panic("not yet") }

// AddAnswer journals a model's answer before anybody acts on it. Rounds count
// from 0.
func (tx *Tx) AddAnswer(t TurnID, round int, m llm.Message, u llm.Usage) error { panic("not yet") }

// Answers returns the journaled answers of a turn by round.
func (tx *Tx) Answers(t TurnID) ([]llm.Message, error) { panic("not yet") }

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

// StartCall journals that a call is about to have its effect.
func (tx *Tx) StartCall(c Call) error { panic("not yet") }

// FinishCall stores the result of a call.
func (tx *Tx) FinishCall(id string, result []byte) error { panic("not yet") }

// Calls returns the journaled calls of a turn by id.
func (tx *Tx) Calls(t TurnID) (map[string]Call, error) { panic("not yet") }
