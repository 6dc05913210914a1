package telegram

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"klawbot/gateway"
)

// The descriptions by which refusals are told apart; the API has no codes for them.
var (
	deadChats = []string{
		"bot was blocked by the user", "user is deactivated", "bot was kicked from the", "bot is not a member of the",
		"the group chat was deleted", "bot can't initiate conversation", "chat not found",
	}
	goneMessages = []string{"message to edit not found", "message can't be edited", "message_id_invalid"}
	mutedChats   = []string{
		"not enough rights to send text messages", "have no rights to send a message", "chat_write_forbidden", "chat_restricted",
		"chat_send_plain_forbidden", "chat_guest_send_forbidden", "need administrator rights in the channel",
	}
	closedTopics = []string{"topic_closed", "topic is closed"}
	badFormats   = []string{
		"entities", "entity", "text is too long", "message is too long", "message text is empty",
	}
)

// says reports whether err is a refusal whose description holds one of the words.
func says(err error, words ...string) bool {
	e, ok := errors.AsType[*apiError](err)
	if !ok {
		return false
	}
	text := strings.ToLower(e.description)
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// formatting says that the same text without entities may be taken.
func formatting(err error) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && e.code == http.StatusBadRequest && says(err, badFormats...)
}

// failure turns what became of a delivery into what the sender does about it. A
// chat that is told to wait is held back for everybody.
func (c *Channel) failure(chat int64, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*gateway.SendError](err); ok {
		return known
	}
	if refusal, ok := errors.AsType[*apiError](err); ok {
		return c.refused(chat, refusal)
	}
	if unclear, ok := errors.AsType[*unclearError](err); ok {
		return &gateway.SendError{Kind: gateway.Ambiguous, Server: unclear.server, Err: c.redact.Error(err)}
	}
	if _, unsent := errors.AsType[*unsentError](err); !unsent {
		return &gateway.SendError{Kind: gateway.Ambiguous, Err: c.redact.Error(err)}
	}
	return &gateway.SendError{Kind: gateway.Retry, RetryAfter: max(0, c.pace.blocked(chat)), Err: c.redact.Error(err)}
}

func (c *Channel) refused(chat int64, e *apiError) error {
	failed := &gateway.SendError{Kind: gateway.Rejected, Err: e}
	switch {
	case e.code == http.StatusTooManyRequests:
		failed.Kind = gateway.Retry
		failed.RetryAfter = max(e.retryAfter, time.Second) + rand.N(time.Second)
		c.pace.block(chat, failed.RetryAfter)
	case e.code >= http.StatusInternalServerError:
		failed.Kind, failed.Server = gateway.Ambiguous, true
	case e.migrateTo != 0:
		failed.Kind, failed.MigrateTo = gateway.Moved, e.migrateTo
	case denied(e):
		failed.Kind = gateway.Stopped
	case says(e, closedTopics...):
		failed.Kind, failed.Topic = gateway.Muted, true
	case says(e, mutedChats...):
		failed.Kind = gateway.Muted
	case says(e, "slowmode_wait"):
		failed.Kind, failed.RetryAfter = gateway.Retry, slowMode(e.description)
		c.pace.block(chat, failed.RetryAfter)
	case says(e, deadChats...):
		failed.Kind = gateway.Dead
	case says(e, goneMessages...):
		failed.Kind = gateway.NotFound
	}
	return failed
}

// slowMode is how long a chat in slow mode wants the bot to wait.
func slowMode(description string) time.Duration {
	_, seconds, _ := strings.Cut(strings.ToLower(description), "slowmode_wait_")
	n, err := strconv.Atoi(strings.TrimRight(seconds, ". "))
	if err != nil || n <= 0 {
		n = 30
	}
	return time.Duration(min(n, maxRetryAfter)) * time.Second
}

// courtesy is the error of a call that only is polite: a refusal is none.
func (c *Channel) courtesy(err error) error {
	if _, refused := errors.AsType[*apiError](err); refused || err == nil {
		return nil
	}
	return c.redact.Error(err)
}
