// Package telegram speaks with Telegram: it polls, decodes, paces and sends; how a
// text looks is markdown's job. It decides neither who may speak nor what is answered, and it stores
// nothing: Telegram keeps an update until Accept has taken it over.
package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	tg "github.com/go-telegram/bot"

	"klawbot/gateway"
	"klawbot/gateway/telegram/markdown"
	"klawbot/internal/redact"
)

// channelName is the name in ids: "telegram_123456".
const channelName = "telegram"

// DefaultAPIURL is Telegram's own Bot API server.
const DefaultAPIURL = "https://api.telegram.org"

// Config is what New needs.
type Config struct {
	// Token is the bot's token from @BotFather. Required.
	Token string
	// APIURL is the Bot API server; empty is DefaultAPIURL.
	APIURL string
	// Limits is asked for the pace of sending as it is now; nil means none.
	Limits func() Limits
	// RespondAll says whether every message of a group is meant for the bot;
	// nil means that only mentions, replies and commands are.
	RespondAll func() bool
	// Commands are shown in the menu of the chat, in this order. Only the
	// first 30 are; none leaves the menu as it is.
	Commands []Command
	// Webhook, if not nil, has Telegram bring the updates; nil polls.
	Webhook *Webhook
	// FilesRoot is where an own Bot API server on this machine keeps its files; empty
	// for a server that gives them away itself.
	FilesRoot string
	// Transport makes a new pool of connections; it is called for the sender,
	// for the poller, and again when the poller's connection is dead. Nil
	// makes pools that notice dead connections.
	Transport func() http.RoundTripper
	// Log is required.
	Log *slog.Logger
	// Redact learns the token and cleans every error. Nil means an own set.
	Redact *redact.Set
}

// Command is an entry of the menu: a name without slash of a-z, 0-9 and _, and
// one short line about it.
type Command struct{ Name, Description string }

// Channel is Telegram. It is made by New.
type Channel struct {
	id         int64
	poll       *api // for the poller alone: a dead long poll must not harm the rest
	send       *api
	bot        *tg.Bot // the typed calls of send
	pace       *pacer
	respondAll func() bool
	commands   []Command
	log        *slog.Logger
	redact     *redact.Set

	filesRoot string

	webhook *Webhook
	hooked  bool // the webhook was set; Serve alone uses it
	denials denials

	serving  atomic.Bool
	noDrafts atomic.Bool         // the server does not know them
	me       atomic.Pointer[Bot] // nil until Telegram has told
	known    chan struct{}       // closed when me is set
	health   health
}

var (
	_ gateway.Channel  = (*Channel)(nil)
	_ gateway.Typer    = (*Channel)(nil)
	_ gateway.Answerer = (*Channel)(nil)
	_ gateway.Starter  = (*Channel)(nil)
	_ gateway.Drafter  = (*Channel)(nil)
	_ gateway.Pacer    = (*Channel)(nil)
	_ gateway.Fetcher  = (*Channel)(nil)
)

// New returns a Channel. It does no I/O; a token that Telegram does not know is
// found by Serve, or by Probe.
func New(c Config) (*Channel, error) {
	if c.Redact == nil {
		c.Redact = new(redact.Set)
	}
	id, base, err := check(c.Token, c.APIURL)
	if err != nil {
		return nil, err
	}
	// The secret half alone is enough to be kept out of texts, too.
	_, secret, _ := strings.Cut(c.Token, ":")
	c.Redact.Add(c.Token, secret)
	if c.Webhook != nil {
		if err := c.Webhook.Check(); err != nil {
			return nil, fmt.Errorf("channels.telegram.%w", err)
		}
		c.Redact.Add(c.Webhook.Secret)
	}
	if c.Transport == nil {
		c.Transport = newTransport
	}
	t := &Channel{
		id: id, pace: newPacer(c.Limits), respondAll: c.RespondAll, commands: c.Commands,
		poll: newAPI(base, c.Token, c.Transport, c.Redact), send: newAPI(base, c.Token, c.Transport, c.Redact),
		filesRoot: c.FilesRoot, webhook: c.Webhook, log: c.Log.With("channel", channelName), redact: c.Redact, known: make(chan struct{}),
	}
	t.bot, err = tg.New(c.Token, tg.WithServerURL(base), tg.WithSkipGetMe(),
		tg.WithHTTPClient(callTimeout, t.send), tg.WithErrorsHandler(func(err error) {
			t.log.Debug("telegram library", "err", c.Redact.Text(err.Error()))
		}))
	if err != nil {
		return nil, c.Redact.Error(fmt.Errorf("telegram client: %w", err))
	}
	return t, nil
}

// check reads the bot's id out of the token and cleans the server's address.
func check(token, apiURL string) (id int64, base string, err error) {
	number, secret, _ := strings.Cut(token, ":")
	id, err = strconv.ParseInt(number, 10, 64)
	if err != nil || id <= 0 || secret == "" || strings.ContainsAny(token, "/?#% \t\r\n") {
		return 0, "", errors.New("channels.telegram.token is no bot token: it looks like 123456789:AAE…, copy it again from @BotFather")
	}
	if apiURL == "" {
		apiURL = DefaultAPIURL
	}
	u, err := url.Parse(apiURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return 0, "", fmt.Errorf("channels.telegram.apiURL %q is no http or https address, such as %s", apiURL, DefaultAPIURL)
	}
	return id, strings.TrimRight(apiURL, "/"), nil
}

// Name is "telegram".
func (c *Channel) Name() string { return channelName }

// Ready is closed when the bot's own name is known, without which a mention in
// a group cannot be told from anybody else's.
func (c *Channel) Ready() <-chan struct{} { return c.known }

// Render turns Markdown into messages that Telegram takes; a very long text
// becomes a summary and a file.
func (c *Channel) Render(text string) []gateway.Part { return markdown.Render(text) }

// Serve polls, or takes what the webhook brings, until ctx ends. It returns an
// error only when Telegram refuses the token or the webhook has no place to listen. Beside the polling it learns the bot's name and publishes the menu,
// which may fail and be repeated without harm to anything else.
func (c *Channel) Serve(ctx context.Context, accept gateway.Accept) error {
	if !c.serving.CompareAndSwap(false, true) {
		return errors.New("telegram is polled already")
	}
	defer c.serving.Store(false)
	var beside sync.WaitGroup
	defer beside.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	beside.Go(func() { c.identify(ctx) })
	beside.Go(func() { c.publish(ctx) })
	if c.webhook != nil {
		return c.serveWebhook(ctx, accept)
	}
	return newPoller(c, accept).run(ctx)
}

// report notes and logs a fault when it is another one than before.
func (c *Channel) report(state, fault string) {
	fault = c.redact.Text(fault)
	if c.health.set(state, fault) {
		c.log.Warn("updates do not come in, trying on", "state", state, "err", fault)
	}
}

// Health reports how the polling fares.
func (c *Channel) Health() gateway.Health {
	h := c.health.report()
	if me := c.me.Load(); me != nil {
		h.Name = "@" + me.Username
	}
	return h
}
