package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"klawbot/internal/redact"
	"klawbot/internal/wait"
)

// unknownToken is what people read when Telegram refuses the token.
const unknownToken = "Telegram does not know this token: copy channels.telegram.token again from @BotFather"

// privacyHint is what people read when groups.respond cannot work.
const privacyHint = "groups.respond is all, but Telegram shows this bot only mentions, replies and commands: " +
	"send @BotFather /setprivacy, choose the bot and Disable, then remove it from its groups and add it again"

// Bot is what Telegram says about the bot itself.
type Bot struct {
	ID int64 `json:"id"`
	// Username is without the @.
	Username string `json:"username"`
	Name     string `json:"first_name"`
	// ReadsGroups says that the bot sees every message of its groups.
	ReadsGroups bool `json:"can_read_all_group_messages"`
}

// Probe asks Telegram once who the bot with this token is. An empty apiURL is
// DefaultAPIURL. The error is one line for people and does not hold the token.
func Probe(ctx context.Context, token, apiURL string) (Bot, error) {
	_, base, err := check(token, apiURL)
	if err != nil {
		return Bot{}, err
	}
	secrets := new(redact.Set)
	secrets.Add(token)
	a := newAPI(base, token, newTransport, secrets)
	defer a.client().CloseIdleConnections()
	bot, err := getMe(ctx, a)
	if err == nil {
		return bot, nil
	}
	refusal, _ := errors.AsType[*apiError](err)
	switch {
	case denied(err) && base == DefaultAPIURL, refusal != nil && refusal.code == http.StatusUnauthorized:
		return Bot{}, fmt.Errorf("%s (%w)", unknownToken, err)
	case denied(err):
		return Bot{}, fmt.Errorf("%s; or channels.telegram.apiURL %s is no Bot API server", unknownToken, base)
	case refusal != nil:
		return Bot{}, fmt.Errorf("getMe was refused, try again later: %s", refusal.description)
	}
	return Bot{}, fmt.Errorf("no answer from %s: check the network and channels.telegram.apiURL (%w)", host(base), err)
}

func host(base string) string {
	if u, err := url.Parse(base); err == nil {
		return u.Host
	}
	return base
}

func getMe(ctx context.Context, a *api) (Bot, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var bot Bot
	if err := a.post(ctx, "getMe", struct{}{}, &bot); err != nil {
		return Bot{}, err
	}
	return bot, nil
}

// identify learns who the bot is, however long it takes. What a refused token means is
// decided where updates are received.
func (c *Channel) identify(ctx context.Context) {
	if c.me.Load() != nil {
		return // of an earlier Serve
	}
	var bot Bot
	err := insist(ctx, func(ctx context.Context) (err error) {
		if bot, err = getMe(ctx, c.send); err != nil && ctx.Err() == nil {
			c.log.Warn("bot not identified yet: mentions in groups wait", "err", err)
		}
		return err
	})
	if err != nil {
		return
	}
	c.me.Store(&bot)
	close(c.known)
	c.log.Info("bot identified", "name", "@"+bot.Username, "id", bot.ID)
	if c.respondAll != nil && c.respondAll() && !bot.ReadsGroups {
		c.log.Warn(privacyHint)
	}
}

// insist repeats a call until Telegram takes it, refuses the request, or
// ctx ends.
func insist(ctx context.Context, call func(context.Context) error) error {
	var retry backoff
	for {
		err := call(ctx)
		refusal, refused := errors.AsType[*apiError](err)
		if err == nil || refused && refusal.code == http.StatusBadRequest {
			return err
		}
		pause := retry.next()
		if refused {
			pause = max(pause, refusal.retryAfter)
		}
		if !wait.For(ctx, pause) {
			return err
		}
	}
}
