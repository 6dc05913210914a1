package tools

import "context"

// Asker is an Approver that can also ask a person a question during a call, one at a
// time. It may be used from several goroutines.
type Asker interface {
	Approver
	// Ask returns when the person has answered. No answer in time is Cancelled, and so
	// is a question with an id that was asked before. A background run declines.
	// The error ends the turn.
	Ask(ctx context.Context, q Question) (Reply, error)
	// Refuse tells the person that a program asked for something that is never
	// given to one in this way, and was declined.
	Refuse(ctx context.Context, c Call, from, what string)
}

// Question is a question of a program to a person. All texts are the program's: they are
// safe to show and untrusted.
type Question struct {
	// Call is the call for whose sake it asks, with an id of the question's own.
	Call Call
	// From is the name of the MCP server that asks.
	From string
	// Text is what it says, Field what it wants to know: a name, what it is about
	// and how an answer must look, a line for each.
	Text, Field string
	// Step and Steps number questions that belong together; zero for a single one.
	Step, Steps int
	// Options are answers to choose from. Typed: the person may also write the answer.
	Options []Option
	Typed   bool
	// Begins is how a written answer must begin. Empty: every text is an answer.
	Begins string
	// Usual is the option for an owner who agreed to everything before, -1 for none.
	Usual int
	// Flaw says what was wrong with the answer before, Bound which bound it broke.
	Flaw  Flaw
	Bound string
	// Page is a page for the person to open. It is shown to an owner, whole and with
	// its host. klawbot never opens it.
	Page string
}

// Option is an answer to choose.
type Option struct {
	// Word is one of the usual words; empty: Text is the answer.
	Word Word
	Text string
}

// Word is an option that has a name in every language.
type Word string

// The usual words. Keep stands before the Text that is kept.
const (
	WordYes    Word = "yes"
	WordNo     Word = "no"
	WordSkip   Word = "skip"
	WordKeep   Word = "keep"
	WordAsIs   Word = "as it is"
	WordChange Word = "change"
	WordOpened Word = "opened"
)

// Flaw is what is wrong with an answer.
type Flaw string

// The flaws. Those with a bound break Question.Bound.
const (
	FlawNumber  Flaw = "number"
	FlawInteger Flaw = "integer"
	FlawShort   Flaw = "short"
	FlawLong    Flaw = "long"
	FlawSmall   Flaw = "small"
	FlawLarge   Flaw = "large"
	FlawFew     Flaw = "few"
	FlawMany    Flaw = "many"
	FlawForm    Flaw = "form"
	FlawOption  Flaw = "option"
)

// Outcome is how an question ended.
type Outcome string

// The outcomes.
const (
	Answered  Outcome = "answered"
	Declined  Outcome = "declined"
	Cancelled Outcome = "cancelled"
)

// Reply is what a person answered.
type Reply struct {
	Outcome Outcome
	// Option is the index of the chosen option, -1 when Text was written.
	Option int
	Text   string
}

var _ Asker = Always{}

// Ask chooses the usual option.
func (Always) Ask(_ context.Context, q Question) (Reply, error) {
	if q.Usual < 0 {
		return Reply{Outcome: Declined}, nil
	}
	return Reply{Outcome: Answered, Option: q.Usual}, nil
}

// Refuse does nothing: there is no one to tell.
func (Always) Refuse(context.Context, Call, string, string) {}
