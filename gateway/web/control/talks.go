package control

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"klawbot/gateway/web/html"
)

// Talk is a conversation.
type Talk struct {
	// ID is that of its current session.
	ID int64
	// Chat is the chat in text form, Name its title or person, which is foreign text.
	Chat, Name, Model string
	Messages          int
	LastAt            time.Time
}

// Said is a message of a conversation.
type Said struct {
	ID int64
	// Role is "user", "assistant", "tool" or "system".
	Role string
	// Name is who wrote it, for a user; foreign text.
	Name string
	Text string
	// Calls are the tools that were called, in short.
	Calls []string
	// Type is empty, or "session_break", "error", "stopped", "delivered".
	Type  string
	Model string
	At    time.Time
}

// Transcript is a part of a conversation, oldest first.
type Transcript struct {
	Talk
	Said []Said
	// Older says that there is more before, with the number of messages to ask for.
	Older int
	// Earlier and Later are the sessions before and after, 0 for none.
	Earlier, Later int64
}

// Found is a message that a search found.
type Found struct {
	Session, Message int64
	Chat, Name, Text string
	At               time.Time
}

// TalksDesk reads conversations.
type TalksDesk interface {
	Talks(ctx context.Context) ([]Talk, error)
	// FindSaid finds messages of all chats, the best first.
	FindSaid(ctx context.Context, text string) ([]Found, error)
	// Transcript reads the newest messages of a session, most at most, or, if at is not 0,
	// those around a message. An unknown session is ErrNotFound.
	Transcript(ctx context.Context, session, at int64, most int) (Transcript, error)
}

var talksPage = control{
	pattern: "/talks", name: "talks",
	show: func(q *Request, _ *filled) (html.HTML, error) {
		query := searched(q.HTTP)
		if query == "" {
			all, err := q.Desk.Talks(q.HTTP.Context())
			return q.search("") + html.F(`<section class="card">%s</section>`, q.list(len(all), "talks.none", html.Each(all, q.talkRow))), err
		}
		found, err := q.Desk.FindSaid(q.HTTP.Context(), query)
		return q.search(query) + html.F(`<section class="card"><h2>%s</h2>%s</section>`, q.t("talks.found", query),
			q.list(len(found), "talks.nothing", html.Each(found, func(f Found) html.HTML {
				return html.F(`<li><p class="head"><a href="/talks/%s?at=%s#m%s">%s</a> %s</p><div class="clip3">%s</div></li>`, f.Session, f.Message, f.Message, place(q, f.Name, f.Chat), q.time(f.At), q.Markdown(f.Text))
			}))), err
	},
}

// place names a chat: its title or person, or what it is on this machine.
func place(q *Request, name, chat string) string {
	channel, _, _ := strings.Cut(chat, "_")
	if channel == "web" || channel == "console" {
		return q.t("part." + channel)
	}
	return cmp.Or(name, chat)
}

func (q *Request) talkRow(t Talk) html.HTML {
	return html.F(`<li><p class="head"><a href="/talks/%s"><strong>%s</strong></a> %s</p><p class="meta">%s · %s%s</p></li>`, t.ID, place(q, t.Name, t.Chat), q.time(t.LastAt),
		t.Chat, q.t("talks.messages", t.Messages), html.If(t.Model != "", " · %s", t.Model))
}

// saidShown is how many messages of a conversation a page shows first.
const saidShown = 100

var talkPage = control{
	pattern: "/talks/{id}", name: "talk",
	show: func(q *Request, f *filled) (html.HTML, error) {
		id, err := numbered(q.HTTP, "id")
		if err != nil {
			return "", err
		}
		at, _ := strconv.ParseInt(q.HTTP.URL.Query().Get("at"), 10, 64) // none shows the newest
		most, err := strconv.Atoi(q.HTTP.URL.Query().Get("most"))
		if err != nil {
			most = saidShown
		}
		t, err := q.Desk.Transcript(q.HTTP.Context(), id, at, most)
		f.Title, f.Up = place(q, t.Name, t.Chat), q.crumb("/talks", "talks.title")
		return q.transcript(t, at), err
	},
}

func (q *Request) transcript(t Transcript, at int64) html.HTML {
	before := html.If(t.Older > 0, `<a href="/talks/%s?most=%s">%s</a>`, t.ID, t.Older, q.t("talks.older")) + html.If(t.Earlier > 0, ` <a href="/talks/%s">%s</a>`, t.Earlier, q.t("talks.earlier"))
	said := html.F(`<p class="empty">%s</p>`, q.t("talks.empty"))
	if len(t.Said) > 0 {
		said = html.F(`<ol class="talk">%s</ol>`, html.Each(t.Said, func(s Said) html.HTML { return q.said(s, s.ID == at) }))
	}
	return html.F(`<p class="meta">%s%s · %s · %s</p>%s%s%s`, t.Chat, html.If(t.Model != "", " · %s", t.Model), q.t("talks.since", q.when(t.LastAt)), q.t("talks.readonly"),
		html.If(before != "", `<p class="meta">%s</p>`, before), said, html.If(t.Later > 0, `<p class="meta"><a href="/talks/%s">%s</a></p>`, t.Later, q.t("talks.later")))
}

func (q *Request) said(s Said, here bool) html.HTML {
	if s.Type == "session_break" {
		return html.F(`<li class="break"><span>%s · %s</span></li>`, q.t("talks.break"), q.when(s.At))
	}
	who, text := "klawbot", html.If(s.Text != "", `<p class="pre">%s</p>`, s.Text)
	calls := html.Each(s.Calls, func(c string) html.HTML { return html.F(`<p class="call"><code>%s</code></p>`, c) })
	switch s.Role {
	case "user":
		if who = cmp.Or(s.Name, q.t("talks.user")); who == "you" { // at this machine
			who = q.t("approvals.useryou")
		}
	case "assistant":
		if s.Text != "" {
			text = html.F(`<div class="text">%s</div>`, q.Markdown(s.Text))
		}
	case "tool":
		names := html.Each(s.Calls, func(c string) html.HTML { return html.F(`<code>%s</code> `, c) })
		who, calls, text = q.t("role.tool"), "", html.F(`<details class="long"><summary>%s</summary><p class="pre">%s</p></details>`, names, s.Text)
	default:
		who = q.t("role." + s.Role)
	}
	return html.F(`<li id="m%s" class="%s%s"><p class="meta">%s · %s%s</p>%s%s</li>`, s.ID, s.Role, html.If(here, " here"), who, q.time(s.At), html.If(s.Type != "", " · %s", s.Type), text, calls)
}
