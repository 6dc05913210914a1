package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/sync/errgroup"

	"klawbot/gateway/console"
)

type talk struct {
	client *console.Client
	out    io.Writer
	// notices gets what answers no line, such as reminders. Nil: out.
	notices io.Writer
	// refuses says no to what the bot asks: no line of a person follows.
	refuses bool
	// asked: a question waits for one of the next lines.
	asked bool

	// order and texts are the messages that are not complete yet.
	order []int64
	texts map[int64]string
}

// NewTalk shows answers when they are complete.
func NewTalk(bot *console.Client, out io.Writer) *talk { return &talk{client: bot, out: out} }

// placeholder is what the bot shows while it has nothing to say yet.
const placeholder = "…"

// Prompt stands before what the person writes.
const Prompt = "> "

// readLines sends what is not blank, and closes lines at the end.
func readLines(ctx context.Context, in io.Reader, lines chan<- string) {
	defer close(lines)
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		line = strings.TrimSpace(line)
		if line == "/quit" || line == "/exit" {
			return
		}
		if line != "" {
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// ready waits until nothing that is said can be missed.
func ready(ctx context.Context, events <-chan console.Event) error {
	select {
	case <-events: // the first is TypeReady
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Converse is the talk with a person.
func (t *talk) Converse(ctx context.Context, lines <-chan string, events <-chan console.Event) error {
	if err := ready(ctx, events); err != nil {
		return err
	}
	fmt.Fprint(t.out, Prompt)
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(t.out)
			return ctx.Err()
		case line, more := <-lines:
			if !more {
				fmt.Fprintln(t.out)
				return errEnd
			}
			if err := t.say(ctx, line); err != nil {
				return err
			}
		case e := <-events:
			if t.show(e) {
				fmt.Fprint(t.out, Prompt)
			}
		}
	}
}

// say says a line to the bot. One that it cannot take is said not to have
// arrived; the talk continues.
func (t *talk) say(ctx context.Context, line string) error {
	_, err := t.client.Say(ctx, line)
	if refused, ok := errors.AsType[*console.RefusedError](err); ok {
		_, err = fmt.Fprintf(t.out, "✗ %s\n%s", Visible(refused.Why), Prompt)
	}
	return err
}

// recite says line after line, each when the one before is answered. It ends
// with ErrFailed when a turn failed, with errEnd when none did.
func (t *talk) recite(ctx context.Context, lines <-chan string, events <-chan console.Event) error {
	if err := ready(ctx, events); err != nil {
		return err
	}
	var first int64 // the id of the first line
	end := errEnd
	for {
		line, more, err := t.next(ctx, lines, events, first)
		if err != nil {
			return err
		}
		if !more {
			return end
		}
		id, err := t.client.Say(ctx, line)
		if err != nil {
			return err
		}
		if first == 0 {
			first = id
		}
		for answered := false; !answered; {
			select {
			case e := <-events:
				if answered, err = t.hear(ctx, e, first); err != nil {
					return err
				}
				if answered && e.Failed {
					end = ErrFailed
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// hear takes an event and reports whether it ends the wait: the answer to a line of
// this talk, which begins with the message first, or a question that the next line
// answers. Reminders and notices are shown and answer nothing.
func (t *talk) hear(ctx context.Context, e console.Event, first int64) (answered bool, err error) {
	switch {
	case !e.Last:
		t.show(e)
	case e.ReplyTo == 0 && e.Refusal != "" && t.refuses:
		t.notice(e)
		_, err = t.client.Say(ctx, e.Refusal)
	case e.ReplyTo == 0 && e.Refusal != "":
		t.asked = true
		return t.show(e), nil
	case e.ReplyTo == 0:
		t.notice(e)
		return t.asked, nil // a line that was no answer waits for the next one, too
	case e.ReplyTo < first || first == 0: // the answer to an older message
		delete(t.texts, e.ID)
	default:
		t.asked = false
		return t.show(e), nil
	}
	return false, err
}

// notice shows what answers no line.
func (t *talk) notice(e console.Event) {
	delete(t.texts, e.ID)
	if e.Type != console.TypeMessage && e.Type != console.TypeEdit {
		return
	}
	if t.notices == nil {
		fmt.Fprintln(t.out, Visible(e.Text))
		return
	}
	fmt.Fprintln(t.notices, "ⓘ "+Visible(e.Text))
}

// next waits for a line. What the bot says until then, such as a reminder or the
// answer to a line after which it has asked something, is shown. first is the first
// line of the talk, 0 before it.
func (t *talk) next(ctx context.Context, lines <-chan string, events <-chan console.Event, first int64) (line string, more bool, err error) {
	for {
		select {
		case line, more = <-lines:
			return line, more, nil
		case e := <-events:
			if _, err := t.hear(ctx, e, first); err != nil {
				return "", false, err
			}
		case <-ctx.Done():
			return "", false, ctx.Err()
		}
	}
}

// show prints the event and reports whether an answer has ended with it.
func (t *talk) show(e console.Event) bool {
	e.Text = Visible(e.Text)
	switch e.Type {
	case console.TypeMessage, console.TypeEdit:
		t.keep(e)
	case console.TypeDelete:
		delete(t.texts, e.ID)
	}
	return e.Last
}

// keep remembers the newest text of each message and prints them at the end of
// the answer. A message that is no answer is complete at once.
func (t *talk) keep(e console.Event) {
	if t.texts == nil {
		t.texts = map[int64]string{}
	}
	if _, known := t.texts[e.ID]; !known {
		t.order = append(t.order, e.ID)
	}
	t.texts[e.ID] = e.Text
	if !e.Last {
		return
	}
	for _, id := range t.order {
		if text, there := t.texts[id]; there && text != placeholder {
			fmt.Fprintln(t.out, text)
		}
	}
	t.order, t.texts = nil, nil
}

// errEnd ends a talk without being an error.
var errEnd = errors.New("end")

// ErrFailed ends a talk in which the bot could not answer.
var ErrFailed = errors.New("the bot could not answer")

// Converse is a talk with a person at a terminal that can only print lines.
func Converse(ctx context.Context, bot *console.Client, in io.Reader, out io.Writer) error {
	return NewTalk(bot, out).run(ctx, linesOf(ctx, in), true)
}

// Say says one thing, and shows the answer when it is complete. What else the bot says
// goes to notices, and what it asks is refused: no one is there to agree. The error is
// as of Recite.
func Say(ctx context.Context, bot *console.Client, text string, out, notices io.Writer) error {
	t := &talk{client: bot, out: out, notices: notices, refuses: true}
	lines := make(chan string, 1)
	lines <- text
	close(lines)
	return t.run(ctx, lines, false)
}

// Recite says the lines, each when the one before is answered, and shows the
// answers when they are complete. It returns ErrFailed when the bot could not
// answer one.
func Recite(ctx context.Context, bot *console.Client, in io.Reader, out io.Writer) error {
	return NewTalk(bot, out).run(ctx, linesOf(ctx, in), false)
}

// linesOf are the lines of in. A read of the terminal cannot be ended; the process ends it.
func linesOf(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go readLines(ctx, in, lines)
	return lines
}

// run says the lines and shows what comes. With a prompt it continues after each
// line; without one it waits for the answer before it says the next.
func (t *talk) run(ctx context.Context, lines <-chan string, prompt bool) error {
	events := make(chan console.Event)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return t.client.Events(ctx, func(e console.Event) error {
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	group.Go(func() error {
		if prompt {
			return t.Converse(ctx, lines, events)
		}
		return t.recite(ctx, lines, events)
	})
	err := group.Wait()
	if errors.Is(err, errEnd) || errors.Is(err, context.Canceled) {
		return nil
	}
	if errors.Is(err, console.ErrOff) {
		return fmt.Errorf("%w; set channels.console.enabled: true and restart it", err)
	}
	return err
}
