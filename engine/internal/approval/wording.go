package approval

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

// wording is what people read of questions, in the language of the bot.
type wording struct {
	gateway  *gateway.Gateway
	redact   *redact.Set
	settings func() settings.Settings
}

// say returns one of the bot's own sentences in its language.
func (w wording) say(p locale.Phrase, args ...any) string {
	return locale.Say(w.settings().Language, p, args...)
}

// until says how long an answer is waited for.
func (w wording) until(p locale.Phrase, a store.Approval) string {
	return w.say(p, locale.Span(w.settings().Language, time.Until(a.ExpiresAt)))
}

// rows are the rows of the outbox for a text.
func (w wording) rows(to gateway.Address, text, key string) []store.Out {
	return outbox.Rows(to, w.gateway.Render(to.Chat.Channel, text), key, 0)
}

// replacement is an edit that gives a message another text and no buttons; for
// message 0 it is a new message.
func (w wording) replacement(to gateway.Address, message int64, text, key string) []store.Out {
	return outbox.Replacement(to, message, w.gateway.Render(to.Chat.Channel, text), key)
}

// message is the message that asks, with its buttons: nil when the call does not
// fit into one, and nobody could read all of what would run. origin says who wants
// it, "" when that is plain.
func (w wording) message(a store.Approval, asked tools.Question, origin string) []gateway.Part {
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
		lines = append(lines, w.say(locale.ManyFiles))
	default:
		lines = append(lines, w.say(locale.OtherFiles))
	}
	until := w.until(locale.ApproveUntil, a)
	if asked.Dangerous {
		until = w.say(locale.Dangerous) + " " + until
	}
	lines = append(lines, until)
	if a.Address.Chat.Local() {
		words := locale.ApproveWords
		if a.Once {
			words = locale.ApproveOnceWords
		}
		lines = append(lines, w.say(words))
	}
	parts := w.gateway.Render(a.Address.Chat.Channel, strings.Join(lines, "\n"))
	if len(parts) != 1 || parts[0].Document != nil {
		return nil
	}
	allow := []gateway.Button{{Text: w.say(locale.ButtonOnce), Data: buttonData(a.Token, choiceOnce)}}
	if !a.Once {
		allow = append(allow, gateway.Button{Text: w.say(locale.ButtonHour), Data: buttonData(a.Token, choiceHour)})
	}
	parts[0].Buttons = [][]gateway.Button{allow, {{Text: w.say(locale.ButtonNo), Data: buttonData(a.Token, choiceNo)}}}
	return parts
}

// requester says who wants a call, and in which chat.
func (w wording) requester(home gateway.Address, user int64, name, chat string) string {
	who := fmt.Sprint(user)
	if name != "" {
		who = locale.Ticks(clip.Name(name)) + " (" + who + ")"
	}
	switch {
	case user == 0:
		return w.say(locale.AskedByNobody)
	case home.Chat.ID == user || home.Chat.Local():
		return w.say(locale.AskedPrivately, who)
	}
	where := home.String()
	if chat != "" {
		where = locale.Ticks(clip.Name(chat)) + " (" + where + ")"
	}
	return w.say(locale.AskedIn, who, where)
}

// outcomeText says in the bot's language how an approval or a form ended.
func (w wording) outcomeText(a store.Approval, d decision) string {
	text := w.say(outcomePhrase(a))
	if d.chosen != "" && a.State == store.ApprovalAnswered {
		text += ": " + locale.Ticks(d.chosen)
	}
	if d.name != "" {
		text = w.say(locale.OutcomeBy, text, clip.Name(d.name))
	}
	return text
}

// outcomePhrase is the sentence for the end of an approval or a form.
func outcomePhrase(a store.Approval) locale.Phrase {
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

// shown is what a person reads of a form: the words of the program.
func (w wording) shown(asked tools.Inquiry) string {
	text := strings.TrimSpace(asked.Text + "\n\n" + asked.Field)
	if asked.Page != "" {
		text = strings.TrimSpace(asked.Text + "\n\n" + asked.Page)
	} else {
		text = w.redact.Text(text)
	}
	for clip.UTF16Len(text) > maxShown {
		text = clip.Runes(text, utf8.RuneCountInString(text)*9/10)
	}
	return text
}

// formRows are the row of the message that asks, with its buttons.
func (w wording) formRows(a store.Approval, asked tools.Inquiry) []store.Out {
	parts := w.gateway.Render(a.Address.Chat.Channel, w.formText(a, asked))
	if len(parts) == 0 {
		return nil
	}
	parts = parts[:1] // what is shown is short enough for one
	parts[0].Buttons = w.formButtons(a.Token, asked)
	return outbox.Rows(a.Address, parts, questionKey(a), 0)
}

// formText is the text around the words of the program.
func (w wording) formText(a store.Approval, asked tools.Inquiry) string {
	head := w.say(locale.Asks, asked.From)
	switch {
	case asked.Page != "":
		head = w.say(locale.AskPage, asked.From, hostOf(asked.Page))
	case asked.Steps > 1:
		head = w.say(locale.AsksStep, asked.From, asked.Step, asked.Steps)
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
		lines = append(lines, w.say(locale.AskPaste, asked.Begins))
	case asked.Page != "":
		lines = append(lines, w.say(locale.AskCare))
	case asked.Typed:
		lines = append(lines, w.say(locale.AskWrite), w.say(locale.AskGoes))
	default:
		lines = append(lines, w.say(locale.AskGoes))
	}
	if a.Address.Chat.Local() {
		lines = append(lines, w.localOptions(asked)...)
	}
	return strings.Join(append(lines, w.until(locale.ApproveUntil, a)), "\n")
}

// localOptions are the options where there are no buttons.
func (w wording) localOptions(asked tools.Inquiry) []string {
	var lines []string
	for n, o := range asked.Options {
		lines = append(lines, optionWord(n)+" "+w.optionText(o))
	}
	return append(lines, w.say(locale.AskWords))
}

// optionText is what an option is called.
func (w wording) optionText(o tools.Option) string {
	p, ok := map[tools.Word]locale.Phrase{
		tools.WordYes: locale.WordYes, tools.WordNo: locale.WordNo, tools.WordSkip: locale.WordSkip, tools.WordAsIs: locale.WordAsIs,
		tools.WordChange: locale.WordChange, tools.WordOpened: locale.WordOpened,
	}[o.Word]
	switch {
	case ok:
		return w.say(p)
	case o.Word == tools.WordKeep:
		return w.say(locale.WordKeep, w.redact.Text(o.Text))
	}
	return w.redact.Text(o.Text)
}

// flawText says what was wrong with an answer.
func (w wording) flawText(asked tools.Inquiry) string {
	p := map[tools.Flaw]locale.Phrase{
		tools.FlawNumber: locale.FlawNumber, tools.FlawInteger: locale.FlawInteger, tools.FlawOption: locale.FlawOption,
		tools.FlawShort: locale.FlawShort, tools.FlawLong: locale.FlawLong, tools.FlawSmall: locale.FlawSmall, tools.FlawLarge: locale.FlawLarge,
		tools.FlawFew: locale.FlawFew, tools.FlawMany: locale.FlawMany, tools.FlawForm: locale.FlawForm,
	}[asked.Flaw]
	if asked.Bound == "" {
		return w.say(p)
	}
	return w.say(p, locale.Ticks(asked.Bound))
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
func (w wording) formButtons(token string, asked tools.Inquiry) [][]gateway.Button {
	var rows [][]gateway.Button
	if strings.HasPrefix(asked.Page, "https://") { // messengers take no addresses of this machine
		rows = append(rows, []gateway.Button{{Text: w.say(locale.WordOpen), URL: asked.Page}})
	}
	for n, o := range asked.Options {
		b := gateway.Button{Text: w.optionText(o), Data: buttonData(token, "/"+strconv.Itoa(n))}
		if last := len(rows) - 1; n > 0 && len(rows[last]) < 3 && narrow(b) && narrow(rows[last][0]) {
			rows[last] = append(rows[last], b)
			continue
		}
		rows = append(rows, []gateway.Button{b})
	}
	return append(rows, []gateway.Button{
		{Text: w.say(locale.WordDecline), Data: buttonData(token, choiceDecline)}, {Text: w.say(locale.WordCancel), Data: buttonData(token, choiceCancel)},
	})
}

// narrow reports whether a button leaves room for others beside it.
func narrow(b gateway.Button) bool { return clip.UTF16Len(b.Text) <= 16 && b.URL == "" }
