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
	// live shows answers while they grow; else they are shown when complete.
	live bool

	// order and texts are the messages that are not complete yet.
	order []int64
	texts map[int64]string
	// open is the message whose text the cursor stands behind, shown what of
	// it is printed.
	open  int64
	shown string
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
		if line = strings.TrimSpace(line); line != "" {
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
// with errFailed when a turn failed, with errEnd when none did.
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
				if e.Last && e.ReplyTo != 0 && e.ReplyTo < first {
					t.forget() // the answer to an older message
					continue
				}
				// A reminder or a notice is shown, but answers nothing.
				if answered = t.show(e) && !isNotice(e); answered && e.Failed {
					end = ErrFailed
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
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
			if e.Last && e.ReplyTo != 0 && (first == 0 || e.ReplyTo < first) {
				t.forget() // the answer to an older message
				continue
			}
			t.show(e)
		case <-ctx.Done():
			return "", false, ctx.Err()
		}
	}
}

// isNotice reports whether a message is neither an answer nor a question.
func isNotice(e console.Event) bool { return e.Last && e.ReplyTo == 0 && !e.Asks }

// show prints the event and reports whether an answer has ended with it.
func (t *talk) show(e console.Event) bool {
	e.Text = Visible(e.Text)
	switch e.Type {
	case console.TypeMessage, console.TypeEdit:
		switch {
		case t.live:
			t.grow(e)
		case isNotice(e):
			fmt.Fprintln(t.out, e.Text) // an answer that grows is kept
		default:
			t.keep(e)
		}
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

// forget drops what was kept of an answer to an older message.
func (t *talk) forget() { t.order, t.texts = nil, nil }

// grow prints what is new of a message. A text that changed in its middle is
// printed again as a whole.
func (t *talk) grow(e console.Event) {
	text := strings.TrimSuffix(e.Text, placeholder)
	if e.Last {
		text = e.Text
	}
	if e.ID != t.open {
		t.endLine()
		t.open = e.ID
	}
	if rest, ok := strings.CutPrefix(text, t.shown); ok {
		if t.shown == "" && rest != "" {
			fmt.Fprint(t.out, "\r") // over the prompt
		}
		fmt.Fprint(t.out, rest)
	} else {
		fmt.Fprint(t.out, "\n"+text)
	}
	t.shown = text
	if e.Last {
		t.endLine()
	}
}

func (t *talk) endLine() {
	if t.shown != "" {
		fmt.Fprintln(t.out)
	}
	t.open, t.shown = 0, ""
}

// errEnd ends a talk without being an error.
var errEnd = errors.New("end")

// ErrFailed ends a talk in which the bot could not answer.
var ErrFailed = errors.New("the bot could not answer")

// Converse is a talk with a person, to whom answers are shown while they grow.
func Converse(ctx context.Context, bot *console.Client, in io.Reader, out io.Writer) error {
	t := &talk{client: bot, out: out, live: true}
	return t.run(ctx, in, true)
}

// Recite says the lines, each when the one before is answered, and shows the
// answers when they are complete. It returns errFailed when the bot could not
// answer one.
func Recite(ctx context.Context, bot *console.Client, in io.Reader, out io.Writer) error {
	return NewTalk(bot, out).run(ctx, in, false)
}

// run says the lines and shows what comes. With a prompt it continues after each
// line; without one it waits for the answer before it says the next.
func (t *talk) run(ctx context.Context, in io.Reader, prompt bool) error {
	events := make(chan console.Event)
	lines := make(chan string)
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
	go readLines(ctx, in, lines) // a read of the terminal cannot be ended; the process ends it
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
