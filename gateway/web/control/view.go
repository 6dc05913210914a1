package control

import (
	"fmt"
	"time"

	"klawbot/gateway/web/html"
)

// t is a text in the language of the browser.
func (q *Request) t(key string, args ...any) string { return say(q.Language, key, args...) }

// words is a text of the engine in the language of the browser: a key of Texts, or one of
// the phrases.
func (q *Request) words(text string) string {
	switch {
	case known(text):
		return q.t(text)
	case q.Language == "ru":
		text = russian(text)
	}
	return advised(text)
}

func (q *Request) when(at time.Time) string { return When(q.Language, at) }

// time is a time for people and for programs.
func (q *Request) time(at time.Time) html.HTML {
	return html.F(`<time datetime="%s">%s</time>`, at.Format(time.RFC3339), q.when(at))
}

// notice says what the last form did, or why it did nothing.
func (q *Request) notice(f filled) html.HTML {
	notice := html.If(f.Fault != "", `<p class="notice fault" role="alert">✗ %s</p>`, f.Fault)
	if f.Done == "" {
		return notice
	}
	var undo html.HTML
	if f.Done == "forget" && f.Undo > 0 {
		undo = q.undo(f.Undo)
	}
	return notice + html.F(`<div class="notice" role="status"><span>%s</span> %s</div>`, q.t("done."+f.Done), undo)
}

// undo is a button that takes a change of the memory back.
func (q *Request) undo(change int64) html.HTML {
	return html.F(`<form method="post" action="/memory/undo"><input type="hidden" name="change" value="%s"><button>%s</button></form>`, change, q.t("memory.undo"))
}

// crumb is a link to the page above.
func (q *Request) crumb(to, title string) html.HTML {
	return html.F(`<p class="crumb"><a href="%s">← %s</a></p>`, to, q.t(title))
}

func (q *Request) card(title string, body html.HTML) html.HTML {
	return html.F(`<section class="card"><h2>%s</h2>%s</section>`, q.t(title), body)
}

// list is rows, or a sentence when there are none.
func (q *Request) list(rows int, none string, body html.HTML) html.HTML {
	if rows == 0 {
		return html.F(`<p class="empty">%s</p>`, q.t(none))
	}
	return html.F(`<ul class="rows">%s</ul>`, body)
}

func (q *Request) search(query string) html.HTML {
	return html.F(`<form class="search" method="get" role="search"><label class="unseen" for="q">%s</label><input id="q" type="search" name="q" value="%s" placeholder="%s" maxlength="500" data-search><button>%s</button></form>`,
		q.t("search.label"), query, q.t("search.label"), q.t("search.go"))
}

// confirm is a button that asks before a form is sent.
func (q *Request) confirm(act, ask, to, back string, fields html.HTML) html.HTML {
	return html.F(`<details class="confirm"><summary>%s</summary><div><p>%s</p><form method="post" action="%s">%s<button class="danger">%s</button> <a class="button" href="%s">%s</a></form></div></details>`,
		q.t(act), ask, to, fields, q.t(act), back, q.t("keep"))
}

// long is a text that opens when it has more than its first sentence.
func long(text string, more html.HTML) html.HTML {
	if first := brief(text); first != text || more != "" {
		return html.F(`<details class="long"><summary>%s</summary><p class="pre">%s</p>%s</details>`, first, text, more)
	}
	return html.F(`<p class="pre">%s</p>`, text)
}

// sign is the mark of a state.
func sign(state string) string {
	switch state {
	case "ok":
		return "✓"
	case "off":
		return "–"
	case "limited":
		return "!"
	case "broken":
		return "✗"
	}
	return "…"
}

// Size is a number of bytes as people read it.
func Size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1_000_000)
}
