// Package locale holds the bot's own sentences in English and Russian. It knows
// texts only: who reads them and when is up to its callers.
package locale

import (
	"fmt"
	"strings"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/internal/advice"
)

// Say returns a sentence in the language, with its blanks filled. Commands in it are named
// as the program was started.
func Say(language string, p Phrase, args ...any) string {
	text := english[p]
	if language == "ru" {
		text = russian[p]
	}
	text = advice.Text(text)
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// ModelError is the sentence that a person reads when a call of a model failed now.
func ModelError(language string, err *llm.Error, model string, zone *time.Location, owner bool) string {
	switch err.Kind {
	case llm.RateLimit, llm.Overloaded:
		until := Moment(language, time.Now().Add(err.RetryAfter), zone)
		switch {
		case err.Daily && err.RetryAfter <= 0:
			return Say(language, ModelDailyUnknown)
		case err.Daily:
			return Say(language, ModelDaily, until)
		case err.RetryAfter > llm.LongestWait:
			return Say(language, ModelUntil, until)
		}
		return Say(language, ModelBusy)
	case llm.Exhausted:
		return Say(language, ModelThought.For(owner))
	case llm.Network:
		return Say(language, ModelUnreachable)
	case llm.Stall, llm.Truncated:
		return Say(language, ModelStalled)
	case llm.Quota:
		return Say(language, ModelQuota.For(owner))
	case llm.Auth:
		return Say(language, ModelAuth.For(owner))
	case llm.ContextOverflow:
		return Say(language, ModelTooLong)
	case llm.Refused:
		return Say(language, ModelRefused)
	case llm.Local:
		return Say(language, ModelLocal, err.Message)
	case llm.NotFound:
		return Say(language, ModelNotFound, model)
	case llm.BadRequest, llm.Unsupported:
		return Say(language, ModelBadRequest.For(owner))
	}
	return Say(language, Internal)
}

// owned are the sentences that send a person to the owner, as the owner reads them.
var owned = map[Phrase]Phrase{
	NoModelHere: NoModel, FileNotSent: FileNotSentOwned, Undeliverable: UndeliverableOwned, ModelQuota: ModelQuotaOwned,
	ModelAuth: ModelAuthOwned, ModelBadRequest: ModelBadRequestOwned, ModelThought: ModelThoughtOwned,
}

// For is the sentence for an owner, or for anyone else.
func (p Phrase) For(owner bool) Phrase {
	if other, ok := owned[p]; ok && owner {
		return other
	}
	return p
}

// Moment is a time that is near, on the clock of its reader.
func Moment(language string, at time.Time, zone *time.Location) string {
	at = at.In(zone)
	clock, now := at.Format("15:04"), time.Now().In(zone)
	switch at.Format(time.DateOnly) {
	case now.Format(time.DateOnly):
		return Say(language, TodayAt, clock)
	case now.AddDate(0, 0, 1).Format(time.DateOnly):
		return Say(language, TomorrowAt, clock)
	}
	return Say(language, DayAt, at.Format(time.DateOnly), clock)
}

// CodeBlock sets text as a block of code that holds whatever it is.
func CodeBlock(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// Ticks sets a short text as code.
func Ticks(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }

// Span is a time in words: to the second, from an hour on to the minute, from a
// day on to the hour.
func Span(language string, d time.Duration) string {
	d = max(d.Round(time.Second), 0)
	large, many, small, few := Minutes, d/time.Minute, Seconds, d%time.Minute/time.Second
	switch {
	case d >= 24*time.Hour:
		large, many, small, few = Days, d/(24*time.Hour), Hours, d%(24*time.Hour)/time.Hour
	case d >= time.Hour:
		large, many, small, few = Hours, d/time.Hour, Minutes, d%time.Hour/time.Minute
	}
	switch {
	case many <= 0:
		return Say(language, small, few)
	case few == 0:
		return Say(language, large, many)
	}
	return Say(language, large, many) + " " + Say(language, small, few)
}

// Dollars is money: cents, and parts of them while it is little.
func Dollars(usd float64) string {
	if usd >= 1 || usd == 0 {
		return fmt.Sprintf("$%.2f", usd)
	}
	return fmt.Sprintf("$%.4f", usd)
}
