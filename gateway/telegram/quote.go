package telegram

import (
	"github.com/go-telegram/bot/models"

	"klawbot/gateway"
)

// quote is what a message answers. In a topic every message answers the service
// message that made the topic, which is no answer to anybody.
func (c *Channel) quote(m *models.Message) *gateway.Quote {
	switch {
	case m.ReplyToMessage != nil && m.ReplyToMessage.ForumTopicCreated == nil:
		return c.quoteMessage(m)
	case m.ExternalReply != nil:
		return quoteExternal(m)
	case m.ReplyToStory != nil:
		return &gateway.Quote{Author: m.ReplyToStory.Chat.Title, Text: "[story]"}
	}
	return nil
}

func (c *Channel) quoteMessage(m *models.Message) *gateway.Quote {
	r := m.ReplyToMessage
	words := wordsOf(r)
	q := &gateway.Quote{Author: authorName(r), Text: joinLines(describe(r), words.markdown(0, nil))}
	if q.Own = r.From != nil && r.From.ID == c.id; q.Own {
		q.ID = int64(r.ID)
	}
	// The files of an author who cannot be named are left alone.
	if r.From != nil && r.SenderChat == nil && (q.Own || !r.From.IsBot) {
		q.From, q.Attachments = r.From.ID, attachments(r)
	}
	if m.Quote != nil && m.Quote.Text != "" {
		q.Text = newPassage(m.Quote.Text, m.Quote.Entities).markdown(0, nil)
	}
	return q
}

// quoteExternal is a quote from another chat. Its files belong to that chat and are left
// there.
func quoteExternal(m *models.Message) *gateway.Quote {
	r := m.ExternalReply
	q := &gateway.Quote{Author: originName(&r.Origin)}
	q.Text = describe(&models.Message{
		Animation: r.Animation, Audio: r.Audio, Document: r.Document, PaidMedia: r.PaidMedia, Photo: r.Photo,
		Sticker: r.Sticker, Story: r.Story, Video: r.Video, VideoNote: r.VideoNote, Voice: r.Voice,
		Checklist: r.Checklist, Contact: r.Contact, Dice: r.Dice, Game: r.Game, Location: r.Location,
		Poll: r.Poll, Venue: r.Venue, LivePhoto: r.LivePhoto,
	})
	if m.Quote != nil {
		q.Text = joinLines(q.Text, newPassage(m.Quote.Text, m.Quote.Entities).markdown(0, nil))
	}
	return q
}

// authorName is who speaks in a message: the chat in whose name it is, or the person.
func authorName(m *models.Message) string {
	if m.SenderChat != nil {
		return chatName(m.SenderChat)
	}
	return userName(m.From)
}

func chatName(c *models.Chat) string {
	if c.Title != "" {
		return c.Title
	}
	return c.Username
}

// originName is where a forwarded message comes from, empty for none.
func originName(o *models.MessageOrigin) string {
	name := ""
	switch {
	case o == nil:
		return ""
	case o.MessageOriginUser != nil:
		name = userName(&o.MessageOriginUser.SenderUser)
	case o.MessageOriginHiddenUser != nil:
		name = o.MessageOriginHiddenUser.SenderUserName
	case o.MessageOriginChat != nil:
		name = chatName(&o.MessageOriginChat.SenderChat)
	case o.MessageOriginChannel != nil:
		name = chatName(&o.MessageOriginChannel.Chat)
	}
	if name == "" {
		return "unknown"
	}
	return name
}
