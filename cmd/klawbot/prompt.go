package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// prompter asks a person questions. Secrets are not echoed in a terminal.
type prompter struct {
	in     *bufio.Reader
	out    io.Writer
	secret *os.File // the terminal, nil when standard input is none
	// pending is a line that was asked for and has not come yet.
	pending chan reply
}

type reply struct {
	text string
	err  error
}

// errEnded means that the answers ended before the questions.
var errEnded = errors.New("the answers ended; run klawbot init in a terminal, or with --yes and flags")

func (a *app) prompter() *prompter {
	p := &prompter{in: bufio.NewReader(a.stdin), out: a.stdout}
	if f, ok := a.stdin.(*os.File); ok && isTerminal(a.stdin) {
		p.secret = f
	}
	return p
}

// line is where the next line arrives. A line that nobody waited for any more
// answers the next question.
func (p *prompter) line(read func() (string, error)) <-chan reply {
	if p.pending == nil {
		p.pending = make(chan reply, 1)
		go func(to chan<- reply) {
			text, err := read()
			to <- reply{strings.TrimSpace(text), err}
		}(p.pending)
	}
	return p.pending
}

func (p *prompter) readLine() (string, error) {
	text, err := p.in.ReadString('\n')
	if errors.Is(err, io.EOF) && text != "" {
		err = nil
	}
	return text, err
}

func (p *prompter) await(ctx context.Context, read func() (string, error)) (string, error) {
	select {
	case r := <-p.line(read):
		p.pending = nil
		if errors.Is(r.err, io.EOF) {
			return "", errEnded
		}
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// ask asks for a text; an empty answer is the usual one.
func (p *prompter) ask(ctx context.Context, question, usual string) (string, error) {
	if usual != "" {
		question += " [" + usual + "]"
	}
	fmt.Fprint(p.out, question+": ")
	text, err := p.await(ctx, p.readLine)
	if text == "" {
		text = usual
	}
	return text, err
}

// askSecret asks for a secret.
func (p *prompter) askSecret(ctx context.Context, question string) (string, error) {
	if p.secret == nil {
		return p.ask(ctx, question, "")
	}
	fmt.Fprint(p.out, question+" (not shown): ")
	state, err := term.GetState(int(p.secret.Fd()))
	if err != nil {
		return "", err
	}
	text, err := p.await(ctx, func() (string, error) {
		secret, err := term.ReadPassword(int(p.secret.Fd()))
		return string(secret), err
	})
	fmt.Fprintln(p.out)
	if ctx.Err() != nil {
		err = errors.Join(err, term.Restore(int(p.secret.Fd()), state))
	}
	return text, err
}

// confirm asks yes or no; an empty answer is yes.
func (p *prompter) confirm(ctx context.Context, question string) (bool, error) {
	return p.choose(ctx, question+" [Y/n]", true)
}

// confirmed is confirm for what must be said: Enter alone means no.
func (p *prompter) confirmed(ctx context.Context, question string) (bool, error) {
	return p.choose(ctx, question+" [y/N]", false)
}

func (p *prompter) choose(ctx context.Context, question string, otherwise bool) (bool, error) {
	for {
		text, err := p.ask(ctx, question, "")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(text) {
		case "":
			return otherwise, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}
