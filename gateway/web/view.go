package web

import (
	"fmt"
	"strings"
	"time"

	"klawbot/gateway"
	"klawbot/gateway/web/control"
	"klawbot/gateway/web/html"
	"klawbot/gateway/web/markdown"
)

// The pages in the navigation: those in the bar, and those below More.
var (
	inBar  = []string{"chat", "status", "talks", "schedules", "memory"}
	inMore = []string{"approvals", "people", "models", "tools", "settings", "logs", "browsers"}
)

// layout is a page in its frame.
func (q *request) layout(p control.Shown) html.HTML {
	var header html.HTML
	if q.browser.ID != 0 {
		header = q.header()
	}
	v := assetVersion()
	return html.F(`<!doctype html>
<html lang="%s">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<title>%s · klawbot</title>
<link rel="icon" href="/static/%s/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/%s/style.css">
<script src="/static/%s/app.js" defer></script>
</head>
<body class="page-%s">
<a class="skip" href="#main">%s</a>
%s<main id="main" tabindex="-1">
%s
</main>
</body>
</html>
`, q.lang, p.Title, v, v, v, p.Name, q.t("skip"), header, p.Body)
}

func (q *request) header() html.HTML {
	first, _, _ := strings.Cut(strings.TrimPrefix(q.r.URL.Path, "/"), "/")
	link := func(name string) html.HTML {
		here := first == name || first == "" && name == "chat"
		return html.F(`<li><a href="%s"%s>%s</a></li>`, "/"+name, html.If(here, ` aria-current="page"`), q.t("nav."+name))
	}
	return html.F(`<header class="top">
<a class="brand" href="/chat" aria-label="klawbot"><svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M5 4c2 3 2 7 1 11M12 3c1 4 1 9 0 13M19 4c-2 3-2 7-1 11" fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round"/></svg><span>klawbot</span></a>
<nav aria-label="%s"><ul>%s<li><details class="more"><summary>%s</summary><ul>%s<li><form method="post" action="/out"><button class="plain">%s</button></form></li></ul></details></li></ul></nav>
<form class="language" method="post" action="/language"><input type="hidden" name="back" value="%s">
<button class="plain" name="language" value="en" lang="en" aria-label="EN, English"%s>EN</button><button class="plain" name="language" value="ru" lang="ru" aria-label="RU, Русский"%s>RU</button></form>
</header>
`, q.t("nav"), html.Each(inBar, link), q.t("nav.more"), html.Each(inMore, link), q.t("out"), q.path(),
		html.If(q.lang == "en", ` aria-current="true"`), html.If(q.lang == "ru", ` aria-current="true"`))
}

// icon is a drawing of 24 by 24, for a button.
func icon(lines string) html.HTML {
	return html.F(`<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path d="%s" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>`, lines)
}

// chatView is what the chat shows.
type chatView struct {
	messages html.HTML
	rev      int64
	// older is the id before which older messages are, 0 for none. past says that newer
	// ones are not shown.
	older int64
	past  bool
}

func (q *request) chat(v chatView) html.HTML {
	page := html.F(`<h1 class="unseen">%s</h1>
<div id="scroll"><div id="messages" role="log" aria-live="off" data-rev="%s"%s>
%s%s%s%s
</div></div>
<div id="live" class="unseen" aria-live="polite"></div>
`, q.t("chat.title"), v.rev, html.If(v.past, " data-past"),
		html.If(v.older > 0, `<p class="older"><a href="/chat/before/%s">%s</a></p>`, v.older, q.t("chat.older")),
		html.If(v.messages == "", `<p class="empty" id="empty">%s</p>`, q.t("chat.empty")), v.messages,
		html.If(v.past, `<p class="older"><a href="/chat">%s</a></p>`, q.t("chat.newest")))
	if v.past {
		return page
	}
	return page + q.composer()
}

// composer is where people write, with what the bot is at above it.
func (q *request) composer() html.HTML {
	mic := html.If(q.desk.Hears(), `<button type="button" class="icon" id="mic" hidden aria-pressed="false" aria-label="%s" title="%s">%s</button>
`, q.t("chat.speak"), q.t("chat.speak"), icon("M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4"))
	return html.F(`<div class="foot">
<div class="state"><p id="work" hidden><span class="spinner" aria-hidden="true"></span> <span id="what"></span> <span id="seconds"></span></p>
<p id="lost" role="status" hidden>%s</p><p id="paused" role="status" hidden>%s</p>
<form id="stop" method="post" action="/chat/stop"><button class="small">%s</button></form>
<form id="new" method="post" action="/chat/new"><button class="small plain">%s</button></form></div>
<form id="say" method="post" action="/chat/say" enctype="multipart/form-data" data-most="%s">
<input type="hidden" name="key" value="%s">
<ul id="files" hidden></ul>
<div class="composer">
<label class="icon" title="%s"><input type="file" name="file" multiple aria-label="%s">%s</label>
%s<textarea name="text" id="text" rows="1" aria-label="%s" placeholder="%s" autofocus maxlength="20000" enterkeyhint="send"></textarea>
<button class="main icon" aria-label="%s" title="%s">%s</button>
</div></form></div>
<template id="pending"><article class="message said pending"><div class="text"><p class="written"></p></div><footer>%s</footer></article></template>
<template id="words" data-copied="%s" data-failed="%s" data-mute="%s" data-speaking="%s" data-drop="%s" data-left="%s"></template>`,
		q.t("chat.lost"), q.t("chat.elsewhere"), q.t("chat.stop"), q.t("chat.new"), q.site.config.MaxUpload, secret(16),
		q.t("chat.file"), q.t("chat.file"), icon("M12 5v14M5 12h14"), mic, q.t("chat.message"), q.t("chat.write"),
		q.t("chat.send"), q.t("chat.send"), icon("M4 12 20 4l-5 16-3.5-6.5z"),
		q.t("chat.waiting"), q.t("code.copied"), q.t("chat.failed"), q.t("chat.mute"), q.t("chat.speaking"), q.t("chat.drop"), q.t("chat.left", "%s"))
}

// pending is the key with which a browser sent a message.
func (m Message) pending() string { return strings.TrimPrefix(m.Key, "said/") }

// message is a message; growing says that it is not at its end.
func (q *request) message(m Message, growing bool) html.HTML {
	class, who, text := "said", q.t("chat.you"), html.F(`<p class="written">%s</p>`, m.Text)
	if !m.Said {
		class, who, text = "bot", q.t("chat.bot"), q.markdown(m.Text)
	}
	at := m.At.In(q.zone())
	return html.F(`<article class="message %s%s" id="m%s"%s%s>
<h2 class="unseen">%s</h2>
%s%s%s
<footer><time datetime="%s">%s</time>%s</footer>
</article>`, class, html.If(len(m.Buttons) > 0, " ask"), m.ID, html.If(growing, " data-growing"), html.If(m.Said, ` data-key="%s"`, m.pending()), who,
		html.If(m.Text != "", `<div class="text">%s</div>`, text), q.file(m), buttons(m), at.Format(time.RFC3339), stamp(at, time.Now().In(q.zone())), q.left(m))
}

// left is for how long a question can be answered; the script counts down.
func (q *request) left(m Message) html.HTML {
	s := int(time.Until(m.Until).Seconds())
	return html.If(s > 0 && len(m.Buttons) > 0, ` · <span class="left" data-until="%s">%s</span>`, m.Until.UnixMilli(), q.t("chat.left", fmt.Sprintf("%d:%02d", s/60, s%60)))
}

func (q *request) file(m Message) html.HTML {
	if m.File == nil {
		return ""
	}
	return html.F(`<div class="file">%s%s<a href="/chat/file/%s" download>%s</a> <span class="quiet">%s</span></div>`,
		html.If(m.File.Kind == "image", `<a href="/chat/file/%s" download><img src="/chat/file/%s" alt="%s" loading="lazy"></a>`, m.ID, m.ID, m.File.Name),
		html.If(m.File.Kind == "audio", `<audio controls preload="none" src="/chat/file/%s"></audio>`, m.ID), m.ID, m.File.Name, control.Size(m.File.Size))
}

func buttons(m Message) html.HTML {
	if len(m.Buttons) == 0 {
		return ""
	}
	return html.F(`<form class="buttons" method="post" action="/chat/press"><input type="hidden" name="message" value="%s">%s</form>`, m.ID,
		html.Each(m.Buttons, func(row []gateway.Button) html.HTML {
			return html.F(`<div>%s</div>`, html.Each(row, func(b gateway.Button) html.HTML {
				if b.URL != "" {
					return html.F(`<a class="button" href="%s" target="_blank" rel="noopener noreferrer">%s</a>`, b.URL, b.Text)
				}
				return html.F(`<button name="data" value="%s">%s</button>`, b.Data, b.Text)
			}))
		}))
}

// markdown is Markdown as HTML.
func (q *request) markdown(text string) html.HTML {
	return html.HTML(markdown.HTML(text, q.t("code.copy"), q.desk.Secrets())) // it escapes all text
}

// zone is the one of the times that people see.
func (q *request) zone() *time.Location {
	if q.desk == nil {
		return time.UTC
	}
	return q.desk.Zone()
}

// stamp is the time of a message: the clock, with the day before today.
func stamp(at, now time.Time) string {
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}
