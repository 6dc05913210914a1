package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"klawbot/cmd/klawbot/internal/usage"
)

// Prompter asks a person questions. Secrets are not echoed in a terminal.
type Prompter struct {
	in     *bufio.Reader
	out    io.Writer
	secret *os.File // the terminal, nil when standard input is none
	// pending is a line that was asked for and has not come yet.
	pending chan Reply
}

// Reply is a line, or why there is none.
type Reply struct {
	Text string
	Err  error
}

// errEnded means that the answers ended before the questions.
var errEnded = usage.Errorf("input ended; run the command in a terminal, or use its flags (see --help)")

// Ask asks at a terminal, or at other streams.
func Ask(in io.Reader, out io.Writer) *Prompter {
	p := &Prompter{in: bufio.NewReader(in), out: out}
	if f, ok := in.(*os.File); ok && Is(in) {
		p.secret = f
	}
	return p
}

// AtTerminal says that a person can answer.
func (p *Prompter) AtTerminal() bool { return p.secret != nil }

// Next is where the next line arrives, for who waits for something else, too. Who
// has received it calls taken.
func (p *Prompter) Next() <-chan Reply { return p.line(p.readLine) }

// Taken says that the line was received.
func (p *Prompter) Taken() { p.pending = nil }

// line is where the next line arrives. A line that nobody waited for any more
// answers the next question.
func (p *Prompter) line(read func() (string, error)) <-chan Reply {
	if p.pending == nil {
		p.pending = make(chan Reply, 1)
		go func(to chan<- Reply) {
			text, err := read()
			to <- Reply{strings.TrimSpace(text), err}
		}(p.pending)
	}
	return p.pending
}

func (p *Prompter) readLine() (string, error) {
	text, err := p.in.ReadString('\n')
	if errors.Is(err, io.EOF) && text != "" {
		err = nil
	}
	return text, err
}

func (p *Prompter) await(ctx context.Context, read func() (string, error)) (string, error) {
	select {
	case r := <-p.line(read):
		p.pending = nil
		if errors.Is(r.Err, io.EOF) {
			return "", errEnded
		}
		return r.Text, r.Err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Ask asks for a text; an empty answer is the usual one.
func (p *Prompter) Ask(ctx context.Context, question, usual string) (string, error) {
	if usual != "" {
		question += " [" + usual + "]"
	}
	fmt.Fprint(p.out, Fold(p.out, question+": ", 0))
	text, err := p.await(ctx, p.readLine)
	if errors.Is(err, errEnded) {
		fmt.Fprintln(p.out) // what comes next gets a line of its own
	}
	if text == "" {
		text = usual
	}
	return text, err
}

// AskSecret asks for a secret.
func (p *Prompter) AskSecret(ctx context.Context, question string) (string, error) {
	if p.secret == nil {
		return p.Ask(ctx, question, "")
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

// Confirm asks yes or no; an empty answer is yes.
func (p *Prompter) Confirm(ctx context.Context, question string) (bool, error) {
	return p.choose(ctx, question+" [Y/n]", true)
}

// Confirmed is confirm for what must be said: Enter alone means no.
func (p *Prompter) Confirmed(ctx context.Context, question string) (bool, error) {
	return p.choose(ctx, question+" [y/N]", false)
}

func (p *Prompter) choose(ctx context.Context, question string, otherwise bool) (bool, error) {
	for {
		text, err := p.Ask(ctx, question, "")
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
