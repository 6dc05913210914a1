package telegramtest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"klawbot/internal/telegramtest"
)

// The library's client is an independent check: it decodes with its own types
// and sends every call as multipart form.
func TestLibrary(t *testing.T) {
	s, _ := start(t, telegramtest.Config{Bot: telegramtest.User{Username: "mybot"}})
	b, err := bot.New(s.Token(), bot.WithServerURL(s.URL()))
	if err != nil {
		t.Fatal(err)
	}
	ctx := deadline(t)
	if me, err := b.GetMe(ctx); err != nil || me.Username != "mybot" {
		t.Errorf("%+v, %v", me, err)
	}
	asked := s.User(alice).Send("hello")
	m, err := b.SendMessage(ctx, &bot.SendMessageParams{
		ChatID: alice, Text: "x 😀 y",
		Entities:        []models.MessageEntity{{Type: models.MessageEntityTypeBold, Offset: 2, Length: 2}},
		ReplyParameters: &models.ReplyParameters{MessageID: int(asked), AllowSendingWithoutReply: true},
		ReplyMarkup: &models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{
			{{Text: "Yes", CallbackData: "y"}},
		}},
	})
	if err != nil || m.ReplyToMessage == nil || m.ReplyToMessage.Text != "hello" || len(m.Entities) != 1 || m.ReplyMarkup == nil {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err = b.EditMessageText(ctx, &bot.EditMessageTextParams{ChatID: alice, MessageID: m.ID, Text: "done"}); err != nil {
		t.Error(err)
	}
	doc, err := b.SendDocument(ctx, &bot.SendDocumentParams{
		ChatID: alice, Document: &models.InputFileUpload{Filename: "a.txt", Data: strings.NewReader("content")},
	})
	if err != nil || doc.Document == nil || doc.Document.FileName != "a.txt" || doc.Document.FileSize != 7 {
		t.Errorf("%+v, %v", doc, err)
	}
	if ok, err := b.SendChatAction(ctx, &bot.SendChatActionParams{ChatID: alice, Action: models.ChatActionTyping}); err != nil || !ok {
		t.Error(ok, err)
	}
	libraryErrors(t, s, b)
}

func libraryErrors(t *testing.T, s *telegramtest.Server, b *bot.Bot) {
	ctx := deadline(t)
	send := func(chat int64) error {
		_, err := b.SendMessage(ctx, &bot.SendMessageParams{ChatID: chat, Text: "x"})
		return err
	}
	s.Fault(telegramtest.Fault{Method: "sendMessage", Kind: telegramtest.FaultError, RetryAfter: 9})
	var flood *bot.TooManyRequestsError
	if err := send(alice); !errors.As(err, &flood) || flood.RetryAfter != 9 {
		t.Error(err)
	}
	s.Migrate(group, super)
	var moved *bot.MigrateError
	if err := send(group); !errors.As(err, &moved) || int64(moved.MigrateToChatID) != super {
		t.Error(err)
	}
	s.User(alice).Block()
	if err := send(alice); !errors.Is(err, bot.ErrorForbidden) || !strings.Contains(err.Error(), "bot was blocked by the user") {
		t.Error(err)
	}
	if err := send(999); !errors.Is(err, bot.ErrorBadRequest) {
		t.Error(err)
	}
}
