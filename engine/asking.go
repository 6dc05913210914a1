package engine

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"klawbot/engine/internal/locale"
	"klawbot/engine/internal/outbox"
	"klawbot/engine/internal/store"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/tools"
)

// maxAsked bounds what is shown of a question, in UTF-16 units; the lines around
// it must find room in the same message.
const maxAsked = 3000

// asked is what a person reads of a question: the words of the program.
func (e *Engine) asked(q tools.Inquiry) string {
	text := strings.TrimSpace(q.Text + "\n\n" + q.Field)
	if q.Page != "" {
		text = strings.TrimSpace(q.Text + "\n\n" + q.Page)
	} else {
		text = e.redact.Text(text)
	}
	for clip.UTF16Len(text) > maxAsked {
		text = clip.Runes(text, utf8.RuneCountInString(text)*9/10)
	}
	return text
}

// inquiryParts is the message that asks, with its buttons.
func (e *Engine) inquiryParts(a store.Approval, q tools.Inquiry) []store.Out {
	to := a.Address
	parts := e.gateway.Render(to.Chat.Channel, e.inquiryText(a, q))
	if len(parts) == 0 {
		return nil
	}
	parts = parts[:1] // what is shown is short enough for one
	parts[0].Buttons = e.inquiryButtons(a.Token, q)
	return outbox.Rows(to, parts, questionKey(a), 0)
}

// inquiryText is the text around the words of the program.
func (e *Engine) inquiryText(a store.Approval, q tools.Inquiry) string {
	head := e.say(locale.Asks, q.From)
	switch {
	case q.Page != "":
		head = e.say(locale.AskPage, q.From, hostOf(q.Page))
	case q.Steps > 1:
		head = e.say(locale.AsksStep, q.From, q.Step, q.Steps)
	}
	lines := []string{head}
	if q.Flaw != "" {
		lines = append(lines, "⚠️ "+e.flawText(q))
	}
	if a.Shown != "" {
		lines = append(lines, locale.CodeBlock(a.Shown))
	}
	switch {
	case q.Begins != "":
		lines = append(lines, e.say(locale.AskPaste, q.Begins))
	case q.Page != "":
		lines = append(lines, e.say(locale.AskCare))
	case q.Typed:
		lines = append(lines, e.say(locale.AskWrite), e.say(locale.AskGoes))
	default:
		lines = append(lines, e.say(locale.AskGoes))
	}
	if a.Address.Chat.Local() {
		lines = append(lines, e.localOptions(q)...)
	}
	return strings.Join(append(lines, e.say(locale.AskUntil, e.span(time.Until(a.ExpiresAt)))), "\n")
}

// localOptions are the options where there are no buttons.
func (e *Engine) localOptions(q tools.Inquiry) []string {
	var lines []string
	for n, o := range q.Options {
		lines = append(lines, fmt.Sprintf("(%d) %s", n+1, e.optionText(o)))
	}
	return append(lines, e.say(locale.AskWords))
}

// wordsAt are the words that stand for buttons at an address: none where there
// are buttons.
func (e *Engine) wordsAt(a gateway.Address) answerWords {
	if !a.Chat.Local() {
		return answerWords{}
	}
	w := answerWords{decline: []string{"decline", "отклонить"}, cancel: []string{"cancel", "отмена"}}
	for n := range maxLocalOptions {
		w.options = append(w.options, fmt.Sprintf("(%d)", n+1))
	}
	return w
}

// maxLocalOptions is how many options a question has at most.
const maxLocalOptions = 60

// optionText is what an option is called.
func (e *Engine) optionText(o tools.Option) string {
	p, ok := map[tools.Word]locale.Phrase{
		tools.WordYes: locale.WordYes, tools.WordNo: locale.WordNo, tools.WordSkip: locale.WordSkip, tools.WordAsIs: locale.WordAsIs,
		tools.WordChange: locale.WordChange, tools.WordOpened: locale.WordOpened,
	}[o.Word]
	switch {
	case ok:
		return e.say(p)
	case o.Word == tools.WordKeep:
		return e.say(locale.WordKeep, e.redact.Text(o.Text))
	}
	return e.redact.Text(o.Text)
}

// flawText says what was wrong with an answer.
func (e *Engine) flawText(q tools.Inquiry) string {
	p := map[tools.Flaw]locale.Phrase{
		tools.FlawNumber: locale.FlawNumber, tools.FlawInteger: locale.FlawInteger, tools.FlawOption: locale.FlawOption,
		tools.FlawShort: locale.FlawShort, tools.FlawLong: locale.FlawLong, tools.FlawSmall: locale.FlawSmall, tools.FlawLarge: locale.FlawLarge,
		tools.FlawFew: locale.FlawFew, tools.FlawMany: locale.FlawMany, tools.FlawForm: locale.FlawForm,
	}[q.Flaw]
	if q.Bound == "" {
		return e.say(p)
	}
	return e.say(p, locale.Ticks(q.Bound))
}

// hostOf is where a page is.
func hostOf(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(u.Host, "`", "'")
}

// linkable is the page if a button can lead to it: messengers take no addresses
// of this machine.
func linkable(page string) string {
	if strings.HasPrefix(page, "https://") {
		return page
	}
	return ""
}

// optionChoice is the choice of an option on a button.
func optionChoice(n int) string { return "/" + strconv.Itoa(n) }
