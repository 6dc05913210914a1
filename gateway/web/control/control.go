// Package control is the pages of the web page beside the chat: what they read and do, and
// their texts. Package web serves them in its frame.
package control

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"klawbot/gateway/web/html"
	"klawbot/internal/advice"
)

// Desk is what the pages beside the chat read and do. The times of what it returns
// are in the zone in which they are to be shown. Of an error that is no *SaidError the
// page shows nothing.
type Desk interface {
	StatusDesk
	TalksDesk
	SchedulesDesk
	MemoryDesk
	ApprovalsDesk
	ToolsDesk
	PeopleDesk
	ModelsDesk
	SettingsDesk
	LogsDesk
}

// ErrNotFound means that what was asked for is not there, ErrForm that a form is none of
// these pages.
var (
	ErrNotFound = errors.New("not found")
	ErrForm     = errors.New("a form that this page does not have")
)

// Request is a request to a page.
type Request struct {
	HTTP     *http.Request
	Desk     Desk
	Language string
	// Show answers with a page, Back with another address. Markdown is Markdown as HTML.
	Show     func(code int, p Shown) error
	Back     func(to string) error
	Markdown func(text string) html.HTML
}

// Shown is a page: a name for its style, a title, and the rest.
type Shown struct {
	Name, Title string
	Body        html.HTML
}

// say is a text in a language.
func say(language, key string, args ...any) string {
	text := Texts[key][0]
	if language == "ru" {
		text = Texts[key][1]
	}
	text = advised(text)
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// advised is a text whose commands are named as the program was started.
func advised(text string) string {
	if strings.Contains(text, "klawbot ") {
		return advice.Text(text)
	}
	return text
}

// Page answers requests.
type Page struct {
	Pattern string
	Serve   func(*Request) error
}

// SaidError is an error for people: a text, or the key of one of Texts.
type SaidError struct{ Text string }

func (e *SaidError) Error() string { return e.Text }

// Say returns an error whose text the page shows, in its language if it is a key of Texts.
func Say(text string) error { return &SaidError{text} }

// control is a page beside the chat: what it shows and what its forms do.
type control struct {
	// pattern is its address, name the one of its style and its title.
	pattern, name string
	// show writes what is below the title.
	show func(q *Request, f *filled) (html.HTML, error)
	acts []act
}

// act is a form of a page.
type act struct {
	pattern string
	// do returns where to go; see done.
	do func(q *Request) (to string, err error)
}

// languages are those of the texts.
var languages = []string{"en", "ru"}

// Pages are all of them.
func Pages() []Page {
	return slices.Concat(
		statusPage.pages(), talksPage.pages(), talkPage.pages(), schedulesPage.pages(), schedulePage.pages(), memoryPage.pages(),
		approvalsPage.pages(), toolsPage.pages(), peoplePage.pages(), modelsPage.pages(), settingsPage.pages(), logsPage.pages(),
	)
}

// pages are the page and its forms, for the router.
func (c control) pages() []Page {
	all := []Page{{Pattern: "GET " + c.pattern, Serve: func(q *Request) error {
		f := filled{}
		if what := q.HTTP.URL.Query().Get("done"); known("done." + what) {
			f.Done = what
		}
		f.Undo, _ = strconv.ParseInt(q.HTTP.URL.Query().Get("undo"), 10, 64) // none is 0
		return c.fill(q, http.StatusOK, f)
	}}}
	for _, a := range c.acts {
		all = append(all, Page{Pattern: "POST " + a.pattern, Serve: func(q *Request) error { return c.act(q, a) }})
	}
	return all
}

// act does what a form asks for. A form that is refused comes back with the reason.
func (c control) act(q *Request, a act) error {
	if err := q.HTTP.ParseForm(); err != nil {
		return errors.Join(err, ErrForm) // a body that is too long has a page of its own
	}
	to, err := a.do(q)
	var refused *SaidError
	switch {
	case err == nil:
		return q.Back(to)
	case errors.As(err, &refused):
		return c.fill(q, http.StatusUnprocessableEntity, filled{Fault: q.words(refused.Text), Form: q.HTTP.PostForm})
	case errors.Is(err, ErrNotFound):
		return c.fill(q, http.StatusUnprocessableEntity, filled{Fault: q.t("error.gone")})
	}
	return err
}

// filled is what a page shows besides what it reads.
type filled struct {
	// Title is that of the page, if it has one of its own; Up is a link above it.
	Title string
	Up    html.HTML
	// Done is the word for what the last form did, Undo the change that it made.
	Done string
	Undo int64
	// Fault is why a form did nothing.
	Fault string
	// Form is what was sent with it, to be sent again.
	Form url.Values
}

// fill answers with the page.
func (c control) fill(q *Request, code int, f filled) error {
	body, err := c.show(q, &f)
	if err != nil {
		return err
	}
	if f.Title == "" {
		f.Title = q.t(c.name + ".title")
	}
	return q.Show(code, Shown{c.name, f.Title, html.F("%s<h1>%s</h1>%s%s", f.Up, f.Title, q.notice(f), body)})
}

// known reports whether there is a text.
func known(key string) bool { _, is := Texts[key]; return is }

// done is an address with what was done.
func done(path, what string) string {
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	return path + mark + "done=" + url.QueryEscape(what)
}

// numbered reads a number from the path of a request.
func numbered(r *http.Request, name string) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || n <= 0 {
		return 0, ErrNotFound
	}
	return n, nil
}

// When is a time for people: today's on the clock, others with their day.
func When(language string, at time.Time) string {
	if at.IsZero() {
		return "–"
	}
	now := time.Now().In(at.Location())
	clock := at.Format("15:04")
	switch at.Format(time.DateOnly) {
	case now.Format(time.DateOnly):
		return say(language, "time.today", clock)
	case now.AddDate(0, 0, 1).Format(time.DateOnly):
		return say(language, "time.tomorrow", clock)
	case now.AddDate(0, 0, -1).Format(time.DateOnly):
		return say(language, "time.yesterday", clock)
	}
	return at.Format("2006-01-02 15:04")
}

// took is a time that something took, with one unit.
func took(language string, d time.Duration) string {
	switch {
	case d < time.Second:
		return say(language, "time.ms", d.Milliseconds())
	case d < time.Minute:
		return say(language, "time.s", int(d.Seconds()))
	case d < time.Hour:
		return say(language, "time.min", int(d.Minutes()))
	case d < 48*time.Hour:
		return say(language, "time.h", int(d.Hours()))
	}
	return say(language, "time.d", int(d.Hours()/24))
}

// mostBrief is how long a text may be that stands for a longer one.
const mostBrief = 140

// brief is the first sentence of a text, or what fits of it.
func brief(text string) string {
	first, _, cut := strings.Cut(strings.TrimSpace(text), "\n")
	if sentence, _, more := strings.Cut(first, ". "); more {
		first, cut = sentence+".", true
	}
	if runes := []rune(first); len(runes) > mostBrief {
		return string(runes[:mostBrief]) + "…"
	}
	if cut {
		return first
	}
	return text
}

func usd(amount float64) string {
	if amount >= 1 || amount == 0 {
		return fmt.Sprintf("$%.2f", amount)
	}
	return fmt.Sprintf("$%.4f", amount)
}

// number writes a number with thin spaces between thousands.
func number(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && n >= 10000; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}
