package control

import (
	"cmp"
	"context"
	"strings"
	"time"

	"klawbot/gateway/web/html"
)

// People are the chats that may talk to the bot, and those that knocked.
type People struct {
	Allowed          []Person
	Knocked, Ignored []Person
	// Fixed says why the list of allowed chats cannot be changed here, "" when it can.
	Fixed string
}

// Person is a chat. Its name is foreign text.
type Person struct {
	// Chat is its id in text form, "telegram_555".
	Chat string
	ID   int64
	Name string
	// Owner says that it is the private chat of an owner.
	Owner bool
	// Times counts the messages of one that is not allowed.
	Times int
	// LastAt is when it wrote last, zero for never.
	LastAt time.Time
}

// PeopleDesk changes who may talk to the bot.
type PeopleDesk interface {
	People(ctx context.Context) (People, error)
	Allow(ctx context.Context, chat string) error
	Deny(ctx context.Context, chat string) error
	Ignore(ctx context.Context, chat string) error
	Unignore(ctx context.Context, chat string) error
}

var peoplePage = control{
	pattern: "/people", name: "people",
	show: func(q *Request, _ *filled) (html.HTML, error) {
		p, err := q.Desk.People(q.HTTP.Context())
		knocked := q.list(len(p.Knocked), "people.nobody", html.Each(p.Knocked, func(k Person) html.HTML { return q.knocked(k, p.Fixed != "") }))
		if len(p.Knocked) > 0 {
			knocked = html.F(`<p class="meta">%s</p>`, q.t("people.silent")) + knocked
		}
		body := q.card("people.knocked", knocked) + q.card("people.allowed", q.list(len(p.Allowed), "people.none", html.Each(p.Allowed, func(a Person) html.HTML { return q.allowed(a, p.Fixed != "") }))+
			html.If(p.Fixed != "", `<p class="meta">%s</p>`, q.words(p.Fixed))+
			html.If(p.Fixed == "", `<form class="one" method="post" action="/people/allow"><label for="chat">%s</label><span><input id="chat" name="chat" required maxlength="40" placeholder="123456" autocomplete="off"><button class="main">%s</button></span></form>`,
				q.t("people.add"), q.t("people.allow")))
		if len(p.Ignored) > 0 {
			body += q.card("people.ignored", html.F(`<ul class="rows">%s</ul>`, html.Each(p.Ignored, func(p Person) html.HTML {
				return q.person(p, p.Chat+" · "+q.t("people.last", q.when(p.LastAt)), html.F(`<div class="acts">%s</div>`, q.chatForm("unignore", p.Chat, "")))
			})))
		}
		return body, err
	},
	acts: []act{
		{"/people/allow", aboutPerson("allow", Desk.Allow)},
		{"/people/deny", aboutPerson("deny", Desk.Deny)},
		{"/people/ignore", aboutPerson("ignore", Desk.Ignore)},
		{"/people/unignore", aboutPerson("unignore", Desk.Unignore)},
	},
}

func aboutPerson(what string, do func(Desk, context.Context, string) error) func(*Request) (string, error) {
	return func(q *Request) (string, error) {
		return done("/people", what), do(q.Desk, q.HTTP.Context(), strings.TrimSpace(q.HTTP.PostFormValue("chat")))
	}
}

// person is a chat with what may be done about it.
func (q *Request) person(p Person, about string, acts html.HTML) html.HTML {
	return html.F(`<li><div class="line"><div><p class="head"><strong>%s</strong>%s%s</p><p class="meta">%s</p></div>%s</div></li>`, cmp.Or(p.Name, p.Chat),
		html.If(p.Owner, ` <span class="tag">%s</span>`, q.t("people.owner")), html.If(p.ID < 0, ` <span class="tag">%s</span>`, q.t("people.group")), about, acts)
}

func (q *Request) knocked(p Person, fixed bool) html.HTML {
	return q.person(p, p.Chat+" · "+q.t("people.times", p.Times)+" · "+q.t("people.last", q.when(p.LastAt)),
		html.F(`<div class="acts">%s%s</div>`, html.If(!fixed, "%s", q.chatForm("allow", p.Chat, "main")), q.chatForm("ignore", p.Chat, "")))
}

func (q *Request) allowed(p Person, fixed bool) html.HTML {
	about, ask := q.t("people.never"), q.t("people.denyask")
	if !p.LastAt.IsZero() {
		about = q.t("people.last", q.when(p.LastAt))
	}
	if p.Name != "" {
		about = p.Chat + " · " + about
	}
	if p.Owner {
		ask = q.t("people.denyowner")
	}
	return q.person(p, about, html.If(!fixed, "%s", q.confirm("people.deny", ask, "/people/deny", "/people", html.F(`<input type="hidden" name="chat" value="%s">`, p.Chat))))
}

// chatForm is a button that does something about a chat.
func (q *Request) chatForm(verb, chat, class string) html.HTML {
	return html.F(`<form method="post" action="/people/%s"><input type="hidden" name="chat" value="%s"><button class="%s">%s</button></form>`, verb, chat, class, q.t("people."+verb))
}
