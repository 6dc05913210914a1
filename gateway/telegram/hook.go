package telegram

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"klawbot/gateway"
	"klawbot/internal/wait"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// hookCheck is how often Telegram is asked whether the webhook is as it should be.
const hookCheck = time.Minute

// keepHook sets the webhook and looks after it until ctx ends or the token is
// refused. No other failure ends it: what Telegram has set already keeps working.
func (c *Channel) keepHook(ctx context.Context) error {
	var retry backoff
	for {
		next := hookCheck
		err := c.tendHook(ctx)
		refusal, _ := errors.AsType[*apiError](err)
		switch {
		case ctx.Err() != nil:
			return nil
		case denied(err) && c.denials.giveUp():
			c.health.set(gateway.StateStopped, unknownToken)
			return fmt.Errorf("%s (%w)", unknownToken, err)
		case err == nil:
			retry.reset()
			c.denials.worked()
		case refusal != nil && refusal.code == http.StatusTooManyRequests:
			next = max(refusal.retryAfter, time.Second) + rand.N(time.Second)
			c.report(gateway.StateConnecting, err.Error())
		default:
			next = retry.next()
			c.report(gateway.StateConnecting, err.Error())
		}
		if !wait.For(ctx, next) {
			return nil
		}
	}
}

// tendHook sets the webhook when it is not ours, and takes over what Telegram
// says about it.
func (c *Channel) tendHook(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var info models.WebhookInfo
	if c.hooked {
		if err := c.poll.post(ctx, "getWebhookInfo", struct{}{}, &info); err != nil {
			return err
		}
	}
	if info.URL != c.webhook.URL {
		var done bool
		err := c.poll.post(ctx, "setWebhook", tg.SetWebhookParams{
			URL: c.webhook.URL, SecretToken: c.webhook.Secret, AllowedUpdates: allowedUpdates,
			MaxConnections: 1, // keeps the updates in order
		}, &done)
		if err != nil {
			return err
		}
		c.hooked = true
		c.log.Info("webhook set")
	}
	if info.PendingUpdateCount > 0 && info.LastErrorMessage != "" {
		c.report(gateway.StateStale, "Telegram cannot deliver to channels.telegram.webhook.url: "+info.LastErrorMessage)
		return nil
	}
	c.health.polled()
	c.health.set(gateway.StateOK, "")
	return nil
}
