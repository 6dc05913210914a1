package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"klawbot/gateway/console"
)

// talk is a conversation in a terminal.
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

// placeholder is what the bot shows while it has nothing to say yet.
const placeholder = "…"

// prompt stands before what the person writes.
const prompt = "> "

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

// converse is the talk with a person.
func (t *talk) converse(ctx context.Context, lines <-chan string, events <-chan console.Event) error {
	if err := ready(ctx, events); err != nil {
		return err
	}
	fmt.Fprint(t.out, prompt)
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
				fmt.Fprint(t.out, prompt)
			}
		}
	}
}

// say says a line to the bot. One that it cannot take is said not to have
// arrived; the talk goes on.
func (t *talk) say(ctx context.Context, line string) error {
	_, err := t.client.Say(ctx, line)
	if refused, ok := errors.AsType[*console.RefusedError](err); ok {
		_, err = fmt.Fprintf(t.out, "✗ %s\n%s", visible(refused.Why), prompt)
	}
	return err
}

// recite says line after line, each when the one before is answered. It ends
// with errSilent when a turn failed, with errEnd when none did.
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
					t.forget() // the answer to what was said before this talk
					continue
				}
				if answered = t.show(e); e.Failed {
					end = errSilent
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// next waits for a line. What the bot says meanwhile, such as a reminder or the
// answer to a line after which it has asked something, is shown. first is the first
// line of the talk, 0 before it.
func (t *talk) next(ctx context.Context, lines <-chan string, events <-chan console.Event, first int64) (line string, more bool, err error) {
	for {
		select {
		case line, more = <-lines:
			return line, more, nil
		case e := <-events:
			if e.Last && e.ReplyTo != 0 && (first == 0 || e.ReplyTo < first) {
				t.forget() // the answer to what was said before this talk
				continue
			}
			t.show(e)
		case <-ctx.Done():
			return "", false, ctx.Err()
		}
	}
}

// show prints the event and reports whether an answer has ended with it.
func (t *talk) show(e console.Event) bool {
	e.Text = visible(e.Text)
	switch e.Type {
	case console.TypeMessage, console.TypeEdit:
		if t.live {
			t.grow(e)
		} else {
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

// forget drops what was kept of an answer that nobody here waits for.
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

// visible takes out of foreign text what could command the terminal or show its
// words in another order.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
