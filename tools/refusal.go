package tools

import (
	"errors"
	"fmt"
)

// Refusal is an error text for the model, with its kind.
type Refusal struct {
	Kind ErrorKind
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// Refuse returns a Refusal.
func Refuse(kind ErrorKind, format string, args ...any) error {
	return &Refusal{kind, fmt.Sprintf(format, args...)}
}

// Failed is the result of a call that an error has ended.
func Failed(err error) Result {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return Fail(r.Kind, r.Text)
	}
	return Fail(Execution, err.Error())
}
