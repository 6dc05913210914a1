// Package console makes terminals a channel. Its one chat is console_default;
// terminals attach to it over HTTP (Channel.ServeHTTP, Client), which a bot
// serves on the socket of its data directory. It does not listen and does not
// draw: where it is reachable and how a terminal looks is the command's matter.
package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"klawbot/gateway"
)

// Name is the channel's name in ids.
const Name = "console"

// User is the id of the person at a terminal: the owner of the data directory.
const User = 1

// Config is what New needs.
type Config struct {
	// Log is required.
	Log *slog.Logger
}

// Channel is the console. It implements gateway.Channel, gateway.Typer and
// gateway.Worker.
type Channel struct {
	log     *slog.Logger
	serving chan struct{} // closed when accept is set

	// saying is held while a message is stored, so that two are stored in the
	// order of their ids. Nothing that leaves waits for it.
	saying sync.Mutex

	mu        sync.Mutex
	accept    gateway.Accept    // guarded by mu
	last      int64             // guarded by mu; the last id given out
	terminals map[terminal]bool // guarded by mu
}

var (
	_ gateway.Channel = (*Channel)(nil)
	_ gateway.Typer   = (*Channel)(nil)
	_ gateway.Worker  = (*Channel)(nil)
)

// New returns a console that no terminal is attached to.
func New(c Config) *Channel {
	return &Channel{log: c.Log, serving: make(chan struct{}), terminals: map[terminal]bool{}}
}

// Name returns "console".
func (c *Channel) Name() string { return Name }

// chat is the one address there is.
func chat() gateway.Address { return gateway.Address{Chat: gateway.ChatID{Channel: Name}} }

// Serve takes messages from terminals until ctx ends. It is called once.
func (c *Channel) Serve(ctx context.Context, accept gateway.Accept) error {
	c.mu.Lock()
	c.accept = accept
	c.mu.Unlock()
	close(c.serving)
	<-ctx.Done()
	return nil
}

// body is the raw form of an update.
type body struct {
	said
	Time time.Time `json:"time"`
}

// say stores what a terminal wrote and returns the message's id.
func (c *Channel) say(ctx context.Context, m said) (int64, error) {
	select {
	case <-c.serving:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	raw, err := json.Marshal(body{m, time.Now().UTC()})
	if err != nil {
		return 0, err
	}
	c.saying.Lock()
	defer c.saying.Unlock()
	c.mu.Lock()
	id, accept := c.nextID(), c.accept
	c.mu.Unlock()
	return id, accept(ctx, []gateway.Update{{
		Channel: Name, ID: id, Kind: "message", Address: chat(), Message: id, From: User, Raw: raw,
	}})
}

// nextID grows across restarts, because the clock does. The caller holds mu.
func (c *Channel) nextID() int64 {
	c.last = max(c.last+1, time.Now().UnixNano())
	return c.last
}

// Decode reads an update.
func (c *Channel) Decode(u gateway.Update) (gateway.Message, error) {
	var b body
	if err := json.Unmarshal(u.Raw, &b); err != nil {
		return gateway.Message{}, err
	}
	if b.File == nil {
		return u.Typed(b.Time, b.Text, nil), nil
	}
	a := b.File.attachment()
	return u.Typed(b.Time, b.Text, &a), nil
}

// Render makes one part: a terminal has no limit and shows Markdown as it is.
func (c *Channel) Render(markdown string) []gateway.Part {
	if strings.TrimSpace(markdown) == "" {
		return nil
	}
	return []gateway.Part{{Text: markdown}}
}

// retryAfter is how soon a message is tried again that no terminal could take.
const retryAfter = time.Second

var errNoTerminal = errors.New("no terminal is attached")

// Send shows the part on every attached terminal. With none it is a
// gateway.Retry, so that the message waits for the next one.
func (c *Channel) Send(ctx context.Context, to gateway.Address, p gateway.Part) (int64, error) {
	c.mu.Lock()
	id := c.nextID()
	c.mu.Unlock()
	return id, c.show(ctx, to, Event{Type: TypeMessage, ID: id, Text: shown(p), ReplyTo: cmp.Or(p.ReplyTo, p.Answers), Last: p.Last, Refusal: refusalOf(p), Failed: p.Failed})
}

// Edit shows the new text of a message.
func (c *Channel) Edit(ctx context.Context, to gateway.Address, id int64, p gateway.Part) error {
	return c.show(ctx, to, Event{Type: TypeEdit, ID: id, Text: shown(p), ReplyTo: cmp.Or(p.ReplyTo, p.Answers), Last: p.Last, Failed: p.Failed})
}

// refusalOf is the word for the button of a question that refuses. A call takes n, a
// form, whose fields may take any word, has one of its own.
func refusalOf(p gateway.Part) string {
	for _, b := range slices.Concat(p.Buttons...) {
		switch {
		case !strings.HasPrefix(b.Data, "ask/"):
		case strings.HasSuffix(b.Data, "/no"):
			return "n"
		case strings.HasSuffix(b.Data, "/decline"):
			return "decline"
		}
	}
	return ""
}

// shown is what a terminal shows of a part: of a file its name, its size and, if
// it has one, where it lies. A terminal is on the bot's own machine.
func shown(p gateway.Part) string {
	text := p.Text
	for _, d := range p.Files() {
		about := fmt.Sprintf("file %s, %d bytes", d.Name, len(d.Content))
		if d.Sum != "" {
			about = fmt.Sprintf("file %s, %d bytes: %s", d.Name, d.Size, d.Path)
		}
		text = strings.TrimSpace(text + "\n[" + about + "]")
	}
	return text
}

// Delete takes a message back. Without a terminal there is nothing to take back.
func (c *Channel) Delete(ctx context.Context, to gateway.Address, id int64) error {
	return c.showIfAttached(ctx, to, Event{Type: TypeDelete, ID: id})
}

// Typing shows that the bot is at work, if anybody looks.
func (c *Channel) Typing(ctx context.Context, to gateway.Address) error {
	return c.showIfAttached(ctx, to, Event{Type: TypeTyping})
}

// Work shows what the bot does on every terminal that reads.
func (c *Channel) Work(_ context.Context, to gateway.Address, w gateway.Work) error {
	if to == chat() {
		c.hand(Event{Type: TypeWork, Work: &w})
	}
	return nil
}

func (c *Channel) showIfAttached(ctx context.Context, to gateway.Address, e Event) error {
	if err := c.show(ctx, to, e); !errors.Is(err, errNoTerminal) {
		return err
	}
	return nil
}

// show gives the event to all terminals and waits until one of them has written
// it out: a terminal that went away has not read it.
func (c *Channel) show(ctx context.Context, to gateway.Address, e Event) error {
	if to != chat() {
		return &gateway.SendError{Kind: gateway.Dead, Err: errors.New("there is no such chat: " + to.String())}
	}
	waiting, written := c.hand(e)
	for range waiting {
		select {
		case ok := <-written:
			if ok {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &gateway.SendError{Kind: gateway.Retry, RetryAfter: retryAfter, Err: errNoTerminal}
}

// hand gives the event to the terminals that read: how many, and what becomes of it.
func (c *Channel) hand(e Event) (waiting int, written <-chan bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	told := make(chan bool, len(c.terminals))
	for t := range c.terminals {
		select {
		case t <- delivery{e, told}:
			waiting++
		default: // it does not read; it is told when it does
		}
	}
	return waiting, told
}

// Health is always well: there is nothing to lose the connection to.
func (c *Channel) Health() gateway.Health {
	state := gateway.StateConnecting
	select {
	case <-c.serving:
		state = gateway.StateOK
	default:
	}
	return gateway.Health{Channel: Name, State: state}
}
