// Package usage holds the errors that are up to the person who typed a command, so
// that the program can end with an exit code of their own.
package usage

import "fmt"

// Error is such an error.
type Error struct{ err error }

func (e Error) Error() string { return e.err.Error() }

func (e Error) Unwrap() error { return e.err }

// Errorf makes one, in the form of fmt.Errorf.
func Errorf(format string, args ...any) error { return Error{fmt.Errorf(format, args...)} }

// Wrap makes one of another error.
func Wrap(err error) error { return Error{err} }
