// Package wording says what people read of approvals and forms, and on their buttons.
// It derives all of it from the call, and never from what a model says about the call.
package wording

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
	"klawbot/engine/settings"
	"klawbot/gateway"
	"klawbot/internal/clip"
	"klawbot/internal/redact"
	"klawbot/tools"
)

// Words write for people, in the language of the bot.
type Words struct {
	Gateway  *gateway.Gateway
	Redact   *redact.Set
	Settings func() settings.Settings
}

// Say returns one of the bot's own sentences in its language.
func (w Words) Say(p locale.Phrase, args ...any) string {
	return locale.Say(w.Settings().Language, p, args...)
}

// until says how long an answer is waited for.
func (w Words) until(p locale.Phrase, a store.Approval) string {
	return w.Say(p, locale.Span(w.Settings().Language, time.Until(a.ExpiresAt)))
}

// Rows are the rows of the outbox for a text.
func (w Words) Rows(to gateway.Address, text, key string) []store.Out {
	return outbox.Rows(to, w.Gateway.Render(to.Chat.Channel, text), key, 0)
}

// Replacement is an edit that gives a message another text and no buttons; for
// message 0 it is a new message.
func (w Words) Replacement(to gateway.Address, message int64, text, key string) []store.Out {
	return outbox.Replacement(to, message, w.Gateway.Render(to.Chat.Channel, text), key)
}

// Approval is the message that asks for an approval, with its buttons: nil when the call does not
// fit into one, so that a person could not read all of what would run. origin says who wants
// it, "" when that is plain.
func (w Words) Approval(a store.Approval, asked tools.ApprovalRequest, origin string) []gateway.Part {
	if clip.UTF16Len(a.Shown) > outbox.MaxUnits {
		return nil
	}
	lines := []string{w.effect(a.Tool, asked.Call.Arguments)}
	if origin != "" {
		lines = append(lines, origin)
	}
	if a.Shown != "" {
		lines = append(lines, locale.CodeBlock(a.Shown))
	}
	switch asked.OnceOnly {
	case "":
	case tools.TooManyFiles:
		lines = append(lines, w.Say(locale.ManyFiles))
	default:
		lines = append(lines, w.Say(locale.OtherFiles))
	}
	until := w.until(locale.ApproveUntil, a)
	if asked.Dangerous {
		until = w.Say(locale.Dangerous) + " " + until
	}
	lines = append(lines, until)
	if !w.Gateway.Buttons(a.Address.Chat) {
		words := locale.ApproveWords
		if a.Once {
			words = locale.ApproveOnceWords
		}
		lines = append(lines, w.Say(words))
	}
	parts := w.Gateway.Render(a.Address.Chat.Channel, strings.Join(lines, "\n"))
	if len(parts) != 1 || parts[0].Document != nil {
		return nil
	}
	allow := []gateway.Button{{Text: w.Say(locale.ButtonOnce), Data: ButtonData(a.Token, Once)}}
	if !a.Once {
		allow = append(allow, gateway.Button{Text: w.Say(locale.ButtonHour), Data: ButtonData(a.Token, Hour)})
	}
	parts[0].Buttons = [][]gateway.Button{allow, {{Text: w.Say(locale.ButtonNo), Data: ButtonData(a.Token, Deny)}}}
	return parts
}

// Requester says who wants a call, and in which chat.
func (w Words) Requester(home gateway.Address, user int64, name, chat string) string {
	who := fmt.Sprint(user)
	if name != "" {
		who = locale.Ticks(clip.Name(name)) + " (" + who + ")"
	}
	switch {
	case user == 0:
		return w.Say(locale.AskedByNobody)
	case home.Chat.ID == user || home.Chat.Local():
		return w.Say(locale.AskedPrivately, who)
	}
	where := home.String()
	if chat != "" {
		where = locale.Ticks(clip.Name(chat)) + " (" + where + ")"
	}
	return w.Say(locale.AskedIn, who, where)
}

// OutcomeText says how an approval or a form ended: by whom, and with which option of a
// form; both may be "".
func (w Words) OutcomeText(a store.Approval, by, chosen string) string {
	text := w.Say(OutcomePhrase(a))
	if chosen != "" && a.State == store.ApprovalAnswered {
		text += ": " + locale.Ticks(chosen)
	}
	if by != "" {
		text = w.Say(locale.OutcomeBy, text, clip.Name(by))
	}
	return text
}

// OutcomePhrase is the sentence for the end of an approval or a form.
func OutcomePhrase(a store.Approval) locale.Phrase {
	switch {
	case a.State == store.ApprovalOnce || a.State == store.ApprovalGranted:
		return locale.OutcomeOnce
	case a.State == store.ApprovalHour:
		return locale.OutcomeHour
	case a.State == store.ApprovalAnswered:
		return locale.OutcomeAnswered
	case a.State == store.ApprovalCancelled:
		return locale.OutcomeCancelled
	case a.State == store.ApprovalDenied && a.Question:
		return locale.OutcomeDeclined
	case a.State == store.ApprovalDenied:
		return locale.OutcomeDenied
	case a.State == store.ApprovalExpired:
		return locale.OutcomeExpired
	case a.Question && a.AnsweredBy != 0:
		return locale.OutcomeLost
	}
	return locale.OutcomeStopped
}

// maxShown bounds what is shown of a form, in UTF-16 units; the lines around
// it must find room in the same message.
const maxShown = 3000

// Shown is what a person reads of a form: the words of the program.
func (w Words) Shown(asked tools.Question) string {
	text := strings.TrimSpace(asked.Text + "\n\n" + asked.Field)
	if asked.Page != "" {
		text = strings.TrimSpace(asked.Text + "\n\n" + asked.Page)
	} else {
		text = w.Redact.Text(text)
	}
	for clip.UTF16Len(text) > maxShown {
		text = clip.Runes(text, utf8.RuneCountInString(text)*9/10)
	}
	return text
}

// Form is the message that asks for what a program wants to know, with its buttons.
func (w Words) Form(a store.Approval, asked tools.Question) []gateway.Part {
	parts := w.Gateway.Render(a.Address.Chat.Channel, w.formText(a, asked))
	if len(parts) == 0 {
		return nil
	}
	parts = parts[:1] // what is shown is short enough for one
	parts[0].Buttons = w.formButtons(a.Token, asked)
	return parts
}

// formText is the text around the words of the program.
func (w Words) formText(a store.Approval, asked tools.Question) string {
	head := w.Say(locale.Asks, asked.From)
	switch {
	case asked.Page != "":
		head = w.Say(locale.AskPage, asked.From, hostOf(asked.Page))
	case asked.Steps > 1:
		head = w.Say(locale.AsksStep, asked.From, asked.Step, asked.Steps)
	}
	lines := []string{head}
	if asked.Flaw != "" {
		lines = append(lines, "⚠️ "+w.flawText(asked))
	}
	if a.Shown != "" {
		lines = append(lines, locale.CodeBlock(a.Shown))
	}
	switch {
	case asked.Begins != "":
		lines = append(lines, w.Say(locale.AskPaste, asked.Begins))
	case asked.Page != "":
		lines = append(lines, w.Say(locale.AskCare))
	case asked.Typed:
		lines = append(lines, w.Say(locale.AskWrite), w.Say(locale.AskGoes))
	default:
		lines = append(lines, w.Say(locale.AskGoes))
	}
	if !w.Gateway.Buttons(a.Address.Chat) {
		lines = append(lines, w.localOptions(asked)...)
	}
	return strings.Join(append(lines, w.until(locale.ApproveUntil, a)), "\n")
}

// localOptions are the options where there are no buttons.
func (w Words) localOptions(asked tools.Question) []string {
	var lines []string
	for n, o := range asked.Options {
		lines = append(lines, OptionWord(n)+" "+w.OptionText(o))
	}
	return append(lines, w.Say(locale.AskWords))
}

// OptionText is what an option is called.
func (w Words) OptionText(o tools.Option) string {
	p, ok := map[tools.Word]locale.Phrase{
		tools.WordYes: locale.WordYes, tools.WordNo: locale.WordNo, tools.WordSkip: locale.WordSkip, tools.WordAsIs: locale.WordAsIs,
		tools.WordChange: locale.WordChange, tools.WordOpened: locale.WordOpened,
	}[o.Word]
	switch {
	case ok:
		return w.Say(p)
	case o.Word == tools.WordKeep:
		return w.Say(locale.WordKeep, w.Redact.Text(o.Text))
	}
	return w.Redact.Text(o.Text)
}

// flawText says what was wrong with an answer.
func (w Words) flawText(asked tools.Question) string {
	p := map[tools.Flaw]locale.Phrase{
		tools.FlawNumber: locale.FlawNumber, tools.FlawInteger: locale.FlawInteger, tools.FlawOption: locale.FlawOption,
		tools.FlawShort: locale.FlawShort, tools.FlawLong: locale.FlawLong, tools.FlawSmall: locale.FlawSmall, tools.FlawLarge: locale.FlawLarge,
		tools.FlawFew: locale.FlawFew, tools.FlawMany: locale.FlawMany, tools.FlawForm: locale.FlawForm,
	}[asked.Flaw]
	if asked.Bound == "" {
		return w.Say(p)
	}
	return w.Say(p, locale.Ticks(asked.Bound))
}

// hostOf is where a page is.
func hostOf(page string) string {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(u.Host, "`", "'")
}

// formButtons are the buttons of a form.
func (w Words) formButtons(token string, asked tools.Question) [][]gateway.Button {
	var rows [][]gateway.Button
	if strings.HasPrefix(asked.Page, "https://") { // messengers take no addresses of this machine
		rows = append(rows, []gateway.Button{{Text: w.Say(locale.WordOpen), URL: asked.Page}})
	}
	for n, o := range asked.Options {
		b := gateway.Button{Text: w.OptionText(o), Data: ButtonData(token, strconv.Itoa(n))}
		if last := len(rows) - 1; n > 0 && len(rows[last]) < 3 && narrow(b) && narrow(rows[last][0]) {
			rows[last] = append(rows[last], b)
			continue
		}
		rows = append(rows, []gateway.Button{b})
	}
	return append(rows, []gateway.Button{
		{Text: w.Say(locale.WordDecline), Data: ButtonData(token, Decline)}, {Text: w.Say(locale.WordCancel), Data: ButtonData(token, Cancel)},
	})
}

// narrow reports whether a button leaves room for others beside it.
func narrow(b gateway.Button) bool { return clip.UTF16Len(b.Text) <= 16 && b.URL == "" }
