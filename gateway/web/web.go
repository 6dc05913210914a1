// Package web makes a page in the browser a channel, whose one chat is web_default, with
// pages beside it that show and control the bot.
//
// It stores nothing itself: Desk, which the engine fulfils, keeps the messages. What comes
// and goes while an answer grows stays in memory. Signed-in browsers act as the owner.
package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"klawbot/gateway"
)

// Name is the channel's name in ids.
const Name = "web"

// User is the id of the person at the page: an owner.
const User = 1

// Config is what New needs.
type Config struct {
	// Desk is the engine's side, nil while the bot starts. Required.
	Desk func() Desk
	// Listen is the address, host:port.
	Listen string
	// SignIn is how long a browser stays signed in.
	SignIn time.Duration
	// MaxUpload is how long a file may be that a person sends, in bytes.
	MaxUpload int64
	// Public is the address behind a reverse proxy, nil for none; only what comes from
	// Proxies may speak for others, and a browser there is signed out after Idle.
	Public  *url.URL
	Proxies []netip.Prefix
	Idle    time.Duration
	// Log is required.
	Log *slog.Logger
}

// Channel is the web page. It implements gateway.Channel.
type Channel struct {
	config  Config
	serving chan struct{} // closed when accept is set
	tried   chan struct{} // closed when it was tried to listen
	codes   codes
	hub     *hub
	site    *site

	// saying is held while a message is stored, so that two are stored in the order of
	// their ids.
	saying sync.Mutex

	mu     sync.Mutex
	accept gateway.Accept // guarded by mu
	last   int64          // guarded by mu; the last id given out
	fault  string         // guarded by mu; why it does not listen
	once   bool           // guarded by mu; that tried is closed
}

var (
	_ gateway.Channel  = (*Channel)(nil)
	_ gateway.Answerer = (*Channel)(nil)
	_ gateway.Fetcher  = (*Channel)(nil)
	_ gateway.Keyed    = (*Channel)(nil)
	_ gateway.Worker   = (*Channel)(nil)
)

// New returns a page that does not listen yet.
func New(c Config) *Channel {
	ch := &Channel{config: c, serving: make(chan struct{}), tried: make(chan struct{}), hub: newHub()}
	ch.site = newSite(ch)
	return ch
}

// Name returns "web".
func (c *Channel) Name() string { return Name }

// Keyed marks the channel as one that shows a part with a key once.
func (c *Channel) Keyed() {}

// home is the one address there is.
func home() gateway.Address { return gateway.Address{Chat: gateway.ChatID{Channel: Name}} }

// nextID grows across restarts, because the clock does. Scripts can count so far.
func (c *Channel) nextID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = max(c.last+1, time.Now().UnixMicro())
	return c.last
}

// The kinds of updates.
const (
	kindMessage = "message"
	kindPress   = "press"
	kindStop    = "stop"
)

// body is the raw form of an update.
type body struct {
	Text string    `json:"text,omitempty"`
	File *File     `json:"file,omitempty"`
	Time time.Time `json:"time"`
	// Message and Data are those of a button.
	Message int64  `json:"message,omitempty"`
	Data    string `json:"data,omitempty"`
}

// update stores what the person did.
func (c *Channel) update(ctx context.Context, id int64, kind string, b body) error {
	select {
	case <-c.serving:
	case <-ctx.Done():
		return ctx.Err()
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	c.mu.Lock()
	accept := c.accept
	c.mu.Unlock()
	return accept(ctx, []gateway.Update{{Channel: Name, ID: id, Kind: kind, Address: home(), Message: id, From: User, Raw: raw}})
}

// say keeps what a person wrote under its key, so that it is said once, and hands it over.
func (c *Channel) say(ctx context.Context, d Desk, key, text string, file *File) (Message, error) {
	c.saying.Lock()
	defer c.saying.Unlock()
	m, err := d.Add(ctx, Message{ID: c.nextID(), Key: "said/" + key, Said: true, Text: text, File: file, At: time.Now()})
	if err != nil {
		return m, err
	}
	c.hub.changed()
	return m, c.hand(ctx, m)
}

func (c *Channel) hand(ctx context.Context, m Message) error {
	return c.update(ctx, m.ID, kindMessage, body{Text: m.Text, File: m.File, Time: m.At})
}

// handedWithin is how far back messages are handed over again at the start: the inbox
// knows those that it has for longer.
const handedWithin = 24 * time.Hour

// handAgain hands over what was said just before the process ended. The inbox knows what
// it has.
func (c *Channel) handAgain(ctx context.Context) error {
	d := c.config.Desk()
	if d == nil {
		return nil
	}
	said, err := d.SaidSince(ctx, time.Now().Add(-handedWithin))
	for _, m := range said {
		if err == nil {
			err = c.hand(ctx, m)
		}
	}
	return err
}

// Decode reads an update.
func (c *Channel) Decode(u gateway.Update) (gateway.Message, error) {
	var b body
	if err := json.Unmarshal(u.Raw, &b); err != nil {
		return gateway.Message{}, err
	}
	var file *gateway.Attachment
	if b.File != nil {
		a := b.File.attachment()
		file = &a
	}
	m := u.Typed(b.Time, b.Text, file)
	switch u.Kind {
	case kindStop:
		m.Kind, m.Command = gateway.KindStop, ""
	case kindPress:
		m.Kind, m.Callback = gateway.KindCallback, &gateway.Callback{Query: fmt.Sprint(u.ID), Data: b.Data, Message: b.Message}
	}
	return m, nil
}

// Render makes one part: a page has no limit, and the Markdown becomes HTML when it is
// shown.
func (c *Channel) Render(markdown string) []gateway.Part {
	if strings.TrimSpace(markdown) == "" {
		return nil
	}
	return []gateway.Part{{Text: markdown}}
}

// retryAfter is how soon a message is tried again that could not be kept.
const retryAfter = time.Second

func unsent(err error) error {
	if err == nil {
		return nil
	}
	return &gateway.SendError{Kind: gateway.Retry, RetryAfter: retryAfter, Err: err}
}

var errStarting = errors.New("the bot is starting")

// desk is the engine's side for the one chat there is.
func (c *Channel) desk(to gateway.Address) (Desk, error) {
	if to != home() {
		return nil, &gateway.SendError{Kind: gateway.Dead, Err: errors.New("there is no such chat: " + to.String())}
	}
	d := c.config.Desk()
	if d == nil {
		return nil, unsent(errStarting)
	}
	return d, nil
}

// Send keeps the part, once for its key. One that yields is only shown: what becomes of
// it is an edit.
func (c *Channel) Send(ctx context.Context, to gateway.Address, p gateway.Part) (int64, error) {
	if len(p.Album) > 0 {
		return c.sendEach(ctx, to, p)
	}
	d, err := c.desk(to)
	if err != nil {
		return 0, err
	}
	id := c.nextID()
	if p.Yield {
		c.hub.preview(id, p)
		return id, nil
	}
	m, err := c.message(ctx, d, id, p)
	if err == nil {
		m.Key = cmp.Or(p.Key, fmt.Sprintf("sent/%d", id))
		m, err = d.Add(ctx, m)
	}
	c.hub.changed()
	return m.ID, unsent(err)
}

// sendEach keeps each file of an album as a message; the first has the text.
func (c *Channel) sendEach(ctx context.Context, to gateway.Address, p gateway.Part) (first int64, err error) {
	for i, d := range p.Album {
		one := gateway.Part{Document: d, ReplyTo: p.ReplyTo, Answers: p.Answers}
		if i == 0 {
			one.Text = p.Text
		}
		if p.Key != "" {
			one.Key = fmt.Sprintf("%s/%d", p.Key, i)
		}
		id, err := c.Send(ctx, to, one)
		if err != nil {
			return first, err
		}
		first = cmp.Or(first, id)
	}
	return first, nil
}

// Edit keeps the new text of a message, or shows it when it yields.
func (c *Channel) Edit(ctx context.Context, to gateway.Address, id int64, p gateway.Part) error {
	d, err := c.desk(to)
	if err != nil {
		return err
	}
	if p.Yield {
		c.hub.preview(id, p)
		return nil
	}
	m, err := c.message(ctx, d, id, p)
	if err == nil {
		err = d.Put(ctx, m)
	}
	if err == nil {
		c.hub.settle(id)
	}
	return unsent(err)
}

// message is a part as a message, with its file kept.
func (c *Channel) message(ctx context.Context, d Desk, id int64, p gateway.Part) (Message, error) {
	m := Message{ID: id, Text: p.Text, ReplyTo: cmp.Or(p.ReplyTo, p.Answers), Buttons: p.Buttons, At: time.Now()}
	if p.Document == nil {
		return m, nil
	}
	from, size, err := p.Document.Open()
	if err != nil {
		return m, err
	}
	defer func() { _ = from.Close() }() // it was only read
	sum, size, err := d.Keep(ctx, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(from, 0, size))
		return err
	})
	m.File = &File{Sum: sum, Name: cleanName(p.Document.Name), Size: size}
	m.File.Kind = kindOf(m.File.Name, p.Document.As == gateway.AsVoice)
	return m, err
}

// Delete takes a message back.
func (c *Channel) Delete(ctx context.Context, to gateway.Address, id int64) error {
	d, err := c.desk(to)
	if err != nil {
		return err
	}
	if err = d.Remove(ctx, id); err == nil {
		c.hub.settle(id)
	}
	return unsent(err)
}

// Work shows what the bot is doing, on the pages that are open.
func (c *Channel) Work(_ context.Context, to gateway.Address, w gateway.Work) error {
	if _, err := c.desk(to); err != nil {
		return err
	}
	c.hub.at(w)
	return nil
}

// Answer does nothing: what a button did is seen in its message.
func (c *Channel) Answer(context.Context, string, string) error { return nil }

// Fetch reads a file that a person sent.
func (c *Channel) Fetch(_ context.Context, a gateway.Attachment, most int64, w io.Writer) error {
	d := c.config.Desk()
	if d == nil {
		return &gateway.FetchError{Kind: gateway.FetchRetry, RetryAfter: retryAfter, Err: errStarting}
	}
	f, err := d.Open(a.File)
	if err != nil {
		return &gateway.FetchError{Kind: gateway.FetchGone, Err: err}
	}
	defer func() { _ = f.Close() }() // it was only read
	n, err := io.Copy(w, io.LimitReader(f, most+1))
	if err == nil && n > most {
		return &gateway.FetchError{Kind: gateway.FetchTooBig, Err: fmt.Errorf("more than %d bytes", most)}
	}
	return err
}

// Health says whether the page listens.
func (c *Channel) Health() gateway.Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := gateway.Health{Channel: Name, State: gateway.StateConnecting, Fault: c.fault}
	if c.accept != nil && c.once && c.fault == "" {
		h.State, h.Name = gateway.StateOK, "http://"+c.config.Listen
		if c.config.Public != nil {
			h.Name = c.config.Public.String()
		}
	}
	return h
}
