// Package command takes a command line apart, to say what it would run: as
// plain programs with their arguments, or that it is more than that; whether it
// is so destructive that it must never run; and whether a pattern of the owner
// allows it. It reads no files and runs nothing.
//
// A parser of shell text is not a shell. What this package calls plain is meant to
// be run as written here, program by program, and never as text in a shell.
package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"klawbot/tools/budget"
)

// MaxBytes is the longest command line. A parser can be brought to the end of
// its stack by a longer one.
const MaxBytes = 4096

// Line is a command line, taken apart.
type Line struct {
	// Text is the line as it was written.
	Text string
	// Plain is what the line runs when it is plain, else nil.
	Plain []Pipeline
	// More says in words what the line is more than plain programs; it is
	// empty when the line is plain.
	More string
	// Blocked says in words why the line must never run; empty: it may.
	Blocked string
	// Programs are the programs of the line as far as they are written out,
	// with their arguments.
	Programs [][]string
	// Scripts are the names of files that the line may run, or that say what it
	// runs: its programs, and the arguments of those that run others. Each is named as
	// written and relative to the cd before it.
	Scripts []string
	// RunsOthers says that the line may run files that it does not name, such as
	// what a script runs or imports; Vague, that only a shell knows what these are
	// called, so that they may have any name.
	RunsOthers, Vague bool
	// Looks says that the line is plain and that none of its programs can change
	// anything.
	Looks bool
	// TooComplex says that the check was given up: what is found is not all, and
	// the line is not plain.
	TooComplex bool
}

// Pipeline is a part of a plain line: programs joined by pipes.
type Pipeline struct {
	// When says when it runs, by how the one before it ended.
	When     When
	Programs []Program
}

// When says when a pipeline runs.
type When string

// The conditions, as they are written.
const (
	Always   When = ";"
	IfOK     When = "&&"
	IfFailed When = "||"
)

// Program is one program of a pipeline with its arguments.
type Program struct {
	Argv []string
	// NoInput has the program read nothing.
	NoInput bool
	// Out and Err are where its two streams go.
	Out, Err Stream
}

// Stream is where the output of a program goes.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
	Null   Stream = "null"
)

// Faults of command lines.
var (
	ErrEmpty  = errors.New("the command is empty")
	ErrTooBig = fmt.Errorf("the command is longer than %d bytes; write a script with file_write and run that", MaxBytes)
)

// Parse takes a command line apart. An error says why it cannot be one.
func Parse(text string) (Line, error) { return parseWithin(text, budget.For(len(text))) }

func parseWithin(text string, steps *budget.Budget) (Line, error) {
	if err := check(text); err != nil {
		return Line{}, err
	}
	file, err := parse(text)
	if err != nil {
		return Line{}, err
	}
	if len(file.Stmts) == 0 {
		return Line{}, ErrEmpty
	}
	l := Line{Text: text}
	l.Plain, l.More = plain(text, file)
	l.runs(file)
	f := findings{led: map[string]string{}, budget: steps}
	f.text(text)
	l.Blocked, l.Programs, l.Scripts = f.blocked, f.programs, f.scripts()
	if l.TooComplex = steps.Spent(); l.TooComplex {
		l.Plain, l.More = nil, "it is "+budget.ErrTooComplex.Error()
	}
	l.Looks = l.Plain != nil && !slices.ContainsFunc(l.Plain, func(p Pipeline) bool { return slices.ContainsFunc(p.Programs, Program.changes) })
	return l, nil
}

// check refuses what no command line needs and what would look to a person like
// another one.
func check(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return ErrEmpty
	case len(text) > MaxBytes:
		return ErrTooBig
	case !utf8.ValidString(text):
		return errors.New("the command is not valid UTF-8")
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || misleading(r)) {
			return fmt.Errorf("the command holds the character U+%04X, which is not shown as it is; leave it out", r)
		}
	}
	return nil
}

// misleading reports whether a character makes text look like another one: it
// turns the direction, or ends a line for some.
func misleading(r rune) bool {
	switch {
	case r == '\u200e', r == '\u200f', r == '\u061c', r == '\u2028', r == '\u2029', r == '\ufeff':
		return true
	}
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// parse parses shell text that passed check.
func parse(text string) (*syntax.File, error) {
	p := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
	file, err := p.Parse(strings.NewReader(text), "")
	if err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("the command is not valid shell: %s", reason)
	}
	return file, nil
}
