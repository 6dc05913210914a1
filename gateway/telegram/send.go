package telegram

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	tg "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"klawbot/gateway"
	"klawbot/internal/clip"
)

// maxAlert is how long the text of Answer may be.
const maxAlert = 200

// attempt is one call that brings a part to an address.
type attempt func(ctx context.Context, to gateway.Address, p gateway.Part) error

// Pace waits for the chat's pace and takes a place in it; see gateway.Pacer.
func (c *Channel) Pace(ctx context.Context, to gateway.Address) error {
	return c.failure(to.Chat.ID, c.pace.wait(ctx, to.Chat.ID, false, false))
}

// await is Pace for a part, unless it has taken its place.
func (c *Channel) await(ctx context.Context, to gateway.Address, p gateway.Part, preview bool) error {
	if p.Paced {
		return nil
	}
	return c.pace.wait(ctx, to.Chat.ID, p.Yield, preview)
}

// Send delivers one part; see gateway.Channel. When ctx ends the error is ctx's
// and a SendError at the same time: Retry when nothing was written, else Ambiguous.
func (c *Channel) Send(ctx context.Context, to gateway.Address, p gateway.Part) (int64, error) {
	var id int64
	err := c.deliver(ctx, to, p, func(ctx context.Context, to gateway.Address, p gateway.Part) error {
		if err := c.await(ctx, to, p, false); err != nil {
			return err
		}
		sent, err := c.sendPart(ctx, to, p)
		if err == nil {
			id = int64(sent.ID)
		}
		return err
	})
	return id, err
}

func (c *Channel) sendPart(ctx context.Context, to gateway.Address, p gateway.Part) (*models.Message, error) {
	switch {
	case p.Document != nil:
		return c.sendFile(ctx, to, p)
	case len(p.Album) > 0:
		return c.sendAlbum(ctx, to, p)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.bot.SendMessage(ctx, sendParams(to, p))
}

// Edit replaces a message of the bot; see gateway.Channel. A part that yields is
// a preview: it falls when one was shown less than 1.5 s ago.
func (c *Channel) Edit(ctx context.Context, to gateway.Address, id int64, p gateway.Part) error {
	return c.deliver(ctx, to, p, func(ctx context.Context, to gateway.Address, p gateway.Part) error {
		if err := c.await(ctx, to, p, p.Yield); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		_, err := c.bot.EditMessageText(ctx, editParams(to, id, p))
		if says(err, "message is not modified") {
			return nil
		}
		return err
	})
}

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

// Delete removes a message of the bot; see gateway.Channel.
func (c *Channel) Delete(ctx context.Context, to gateway.Address, id int64) error {
	if err := c.pace.wait(ctx, to.Chat.ID, false, false); err != nil {
		return c.failure(to.Chat.ID, err)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.bot.DeleteMessage(ctx, &tg.DeleteMessageParams{ChatID: to.Chat.ID, MessageID: int(id)})
	if says(err, "message to delete not found", "message_id_invalid") {
		return nil
	}
	return c.failure(to.Chat.ID, err)
}

// Typing shows that the bot types, for about five seconds. A refusal is no error:
// the answer tells better.
func (c *Channel) Typing(ctx context.Context, to gateway.Address) error {
	if c.pace.blocked(to.Chat.ID) > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.bot.SendChatAction(ctx, &tg.SendChatActionParams{
		ChatID: to.Chat.ID, MessageThreadID: int(to.Thread), Action: models.ChatActionTyping,
	})
	return c.courtesy(err)
}

// Answer acknowledges a button press. A query that is too old is no error.
func (c *Channel) Answer(ctx context.Context, query, text string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := c.bot.AnswerCallbackQuery(ctx, &tg.AnswerCallbackQueryParams{CallbackQueryID: query, Text: clip.Within(clean(text), maxAlert)})
	return c.courtesy(err)
}

// deliver attempts again for each of the two things that a second attempt fixes:
// the topic is gone, or the formatting is refused.
func (c *Channel) deliver(ctx context.Context, to gateway.Address, p gateway.Part, try attempt) error {
	p.Text = clean(p.Text)
	if to.Thread == generalTopic {
		to.Thread = 0
	}
	err := try(ctx, to, p)
	if to.Thread != 0 && says(err, "message thread not found") {
		to.Thread = 0
		err = try(ctx, to, p)
	}
	if len(p.Entities) > 0 && formatting(err) {
		// The refusal repeats links of the text, which no log above debug may show.
		c.log.Info("sent without formatting", "chat", to.Chat.String())
		c.log.Debug("formatting refused", "err", c.redact.Error(err))
		p.Entities = nil // the text holds no markup, so it can stay
		err = try(ctx, to, p)
	}
	return c.failure(to.Chat.ID, err)
}

func sendParams(to gateway.Address, p gateway.Part) *tg.SendMessageParams {
	m := &tg.SendMessageParams{
		ChatID: to.Chat.ID, MessageThreadID: int(to.Thread), Text: p.Text, Entities: entities(p),
		LinkPreviewOptions: noPreview, DisableNotification: p.Silent, ReplyParameters: replyTo(to, p),
	}
	if len(p.Buttons) > 0 {
		m.ReplyMarkup = keyboard(p)
	}
	return m
}

// replyTo names the question in a group. In a private chat it is plain what is
// answered.
func replyTo(to gateway.Address, p gateway.Part) *models.ReplyParameters {
	if p.ReplyTo == 0 || to.Chat.ID > 0 {
		return nil
	}
	return &models.ReplyParameters{MessageID: int(p.ReplyTo), AllowSendingWithoutReply: true}
}

// editParams leaves out the keyboard of a part without buttons, which removes it.
func editParams(to gateway.Address, id int64, p gateway.Part) *tg.EditMessageTextParams {
	m := &tg.EditMessageTextParams{
		ChatID: to.Chat.ID, MessageID: int(id), Text: p.Text, Entities: entities(p), LinkPreviewOptions: noPreview,
	}
	if len(p.Buttons) > 0 {
		m.ReplyMarkup = keyboard(p)
	}
	return m
}

var noPreview = &models.LinkPreviewOptions{IsDisabled: tg.True()}

func entities(p gateway.Part) []models.MessageEntity {
	var all []models.MessageEntity
	for _, e := range p.Entities {
		all = append(all, models.MessageEntity{
			Type: models.MessageEntityType(e.Type), Offset: e.Offset, Length: e.Length, URL: e.URL, Language: e.Language,
		})
	}
	return all
}

func keyboard(p gateway.Part) models.ReplyMarkup {
	k := &models.InlineKeyboardMarkup{}
	for _, row := range p.Buttons {
		var keys []models.InlineKeyboardButton
		for _, b := range row {
			keys = append(keys, models.InlineKeyboardButton{Text: clean(b.Text), CallbackData: b.Data, URL: b.URL})
		}
		k.InlineKeyboard = append(k.InlineKeyboard, keys)
	}
	return k
}

// clean makes text that Telegram takes. Each replaced byte stays one unit, so that
// entities keep their place.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
