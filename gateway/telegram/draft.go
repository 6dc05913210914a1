package telegram

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	tg "github.com/go-telegram/bot"

	"klawbot/gateway"
)

// errNoDrafts: only private chats have drafts, and only newer servers.
var errNoDrafts = errors.New("no drafts here")

// Draft shows a growing answer; see gateway.Drafter. The person can stop it, which
// comes back as a KindStop. A server that does not know drafts is not asked again.
func (c *Channel) Draft(ctx context.Context, to gateway.Address, id int64, p gateway.Part) error {
	if to.Chat.ID <= 0 || c.noDrafts.Load() {
		return &gateway.SendError{Kind: gateway.Rejected, Err: errNoDrafts}
	}
	if err := c.pace.wait(ctx, to.Chat.ID, true, true); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.bot.SendMessageDraft(ctx, &tg.SendMessageDraftParams{
		ChatID: to.Chat.ID, MessageThreadID: int(to.Thread), DraftID: strconv.FormatInt(id, 10),
		Text: clean(p.Text), Entities: entities(p), CanStop: true,
	})
	refusal, _ := errors.AsType[*apiError](err)
	switch {
	case refusal == nil, refusal.code == http.StatusTooManyRequests, refusal.code >= http.StatusInternalServerError:
		return c.failure(to.Chat.ID, err)
	case refusal.code == http.StatusNotFound:
		c.noDrafts.Store(true)
		c.log.Info("this Bot API server knows no drafts, answers are shown without")
	}
	return &gateway.SendError{Kind: gateway.Rejected, Err: refusal}
}
