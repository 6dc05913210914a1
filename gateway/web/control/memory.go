package control

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"klawbot/gateway/web/html"
)

// Remembered is what the bot remembers.
type Remembered struct {
	// Core is the core memory, which every prompt contains, the bot's part first.
	Core []CorePart
	// CoreFault says why it cannot be read.
	CoreFault string
	// CoreChanged says that its last change can be undone.
	CoreChanged bool
	// Facts are the memories that were found or stored last.
	Facts   []Fact
	Changes []MemoryChange
	// Model finds memories by their meaning, "" for none.
	Model string
}

// CorePart is the core memory of the bot, of a chat or of a user.
type CorePart struct {
	// Kind is "" for the bot, "chats" or "people"; ID is the chat.
	Kind, ID string
	Facts    []CoreFact
}

// CoreFact is a line of the core memory.
type CoreFact struct{ Section, Key, Value string }

// Fact is a memory.
type Fact struct {
	ID int64
	// Chat is the one that may find it, empty for all.
	Chat, Key, Category, Source, Provenance string
	At                                      time.Time
	Content                                 string
}

// MemoryChange is a change of the memories that can be undone.
type MemoryChange struct {
	ID int64
	At time.Time
	// Saved says that a memory was stored: After, unless it is gone. Before is the one
	// that went.
	Saved         bool
	Before, After string
	Undone        bool
}

// MemoryDesk reads and changes what the bot remembers.
type MemoryDesk interface {
	// Remembered finds memories with a text, or lists the newest for an empty one.
	Remembered(ctx context.Context, text string) (Remembered, error)
	SaveFact(ctx context.Context, key, content string) error
	// ForgetFact deletes a memory and returns the change, which UndoMemory takes back.
	ForgetFact(ctx context.Context, id int64) (change int64, err error)
	UndoMemory(ctx context.Context, change int64) error
	// SetCore stores a fact of the core memory; an empty value deletes it. The part is
	// that of a CorePart.
	SetCore(ctx context.Context, kind, id string, f CoreFact) error
	// UndoCore takes back the last change of the core memory.
	UndoCore(ctx context.Context) error
}

var memoryPage = control{
	pattern: "/memory", name: "memory",
	show: func(q *Request, f *filled) (html.HTML, error) {
		text := searched(q.HTTP)
		all, err := q.Desk.Remembered(q.HTTP.Context(), text)
		return q.search(text) + q.facts(all, text, f) + q.coreMemory(all) + q.changes(all.Changes), err
	},
	acts: []act{
		{"/memory/save", func(q *Request) (string, error) {
			text := strings.TrimSpace(q.HTTP.PostFormValue("content"))
			if text == "" {
				return "", Say(q.t("memory.notext"))
			}
			return done("/memory", "save"), q.Desk.SaveFact(q.HTTP.Context(), strings.TrimSpace(q.HTTP.PostFormValue("key")), text)
		}},
		{"/memory/forget", func(q *Request) (string, error) {
			id, err := strconv.ParseInt(q.HTTP.PostFormValue("id"), 10, 64)
			if err != nil {
				return "", ErrNotFound
			}
			change, err := q.Desk.ForgetFact(q.HTTP.Context(), id)
			return done("/memory", "forget") + "&undo=" + strconv.FormatInt(change, 10), err
		}},
		{"/memory/undo", func(q *Request) (string, error) {
			if q.HTTP.PostFormValue("change") == "core" {
				return done("/memory", "undo"), q.Desk.UndoCore(q.HTTP.Context())
			}
			change, err := strconv.ParseInt(q.HTTP.PostFormValue("change"), 10, 64)
			if err != nil {
				return "", ErrNotFound
			}
			return done("/memory", "undo"), q.Desk.UndoMemory(q.HTTP.Context(), change)
		}},
		{"/memory/core", func(q *Request) (string, error) {
			form := q.HTTP.PostFormValue
			f := CoreFact{Section: form("section"), Key: form("key"), Value: form("value")}
			if form("delete") != "" {
				f.Value = ""
			} else if strings.TrimSpace(f.Value) == "" {
				return "", Say(q.t("memory.novalue"))
			}
			return done("/memory", "core"), q.Desk.SetCore(q.HTTP.Context(), form("kind"), form("id"), f)
		}},
	},
}

// maxQuery bounds what is searched for, in characters.
const maxQuery = 500

// searched is what a request searches for.
func searched(r *http.Request) string {
	text := []rune(strings.TrimSpace(r.URL.Query().Get("q")))
	return string(text[:min(len(text), maxQuery)])
}

func (q *Request) facts(all Remembered, query string, f *filled) html.HTML {
	title, none, back := q.t("memory.facts"), "memory.none", "/memory"
	if query != "" {
		title, none, back = q.t("memory.found", query), "memory.nothing", "/memory?"+url.Values{"q": {query}}.Encode()
	}
	search := q.t("memory.keywords")
	if all.Model != "" {
		search = q.t("memory.hybrid", all.Model)
	}
	list := q.list(len(all.Facts), none, html.Each(all.Facts, func(m Fact) html.HTML { return q.fact(m, back) }))
	return html.F(`<section class="card"><h2>%s</h2><p class="meta">%s</p>%s
<details class="add"><summary>%s</summary><form class="stack" method="post" action="/memory/save">
<label for="content">%s</label><textarea id="content" name="content" rows="3" required maxlength="20000">%s</textarea>
<label for="key">%s</label><input id="key" name="key" maxlength="120" value="%s" autocomplete="off"><button class="main">%s</button></form></details></section>`,
		title, search, list, q.t("memory.add"), q.t("memory.text"), f.Form.Get("content"), q.t("memory.key"), f.Form.Get("key"), q.t("save"))
}

func (q *Request) fact(m Fact, back string) html.HTML {
	by, chat := m.Provenance, m.Chat
	if known("by." + by) {
		by = q.t("by." + by)
	}
	if chat == "" {
		chat = q.t("memory.all")
	}
	var forget html.HTML
	if m.ID != 0 {
		forget = q.confirm("memory.forget", q.t("memory.ask"), "/memory/forget", back, html.F(`<input type="hidden" name="id" value="%s">`, m.ID))
	}
	return html.F(`<li><p class="pre">%s</p><div class="line"><p class="meta">%s%s · %s%s%s</p>%s</div></li>`, m.Content, q.when(m.At),
		html.If(m.Key != "", " · <b>%s</b>", m.Key), chat, html.If(m.Source != "", " · %s", m.Source), html.If(by != "", " · %s", by), forget)
}

func (q *Request) coreMemory(all Remembered) html.HTML {
	parts := html.Each(all.Core, func(p CorePart) html.HTML {
		head := html.If(p.Kind != "", `<h3>%s <span class="tag">%s</span></h3>`, p.ID, q.t("core."+p.Kind))
		if p.Kind != "" && len(p.Facts) == 0 {
			return head
		}
		return head + html.F(`<div class="core">%s</div>`, q.list(len(p.Facts), "memory.nocore", html.Each(p.Facts, func(f CoreFact) html.HTML { return q.coreFact(p, f) })))
	})
	return q.card("memory.core", html.F(`<p class="meta">%s</p>%s%s
<details class="add"><summary>%s</summary><form class="stack" method="post" action="/memory/core">
<label for="section">%s</label><select id="section" name="section"><option value="user">%s</option><option value="agent">%s</option></select>
<label for="corekey">%s</label><input id="corekey" name="key" required maxlength="60" autocomplete="off">
<label for="value">%s</label><input id="value" name="value" required maxlength="16000"><button class="main">%s</button></form></details>
%s`,
		q.t("memory.corehint"), html.If(all.CoreFault != "", `<p class="fault">%s</p>`, q.words(all.CoreFault)), parts, q.t("memory.addcore"),
		q.t("memory.section"), q.t("core.user"), q.t("core.agent"), q.t("memory.name"), q.t("memory.value"), q.t("save"),
		html.If(all.CoreChanged, `<form method="post" action="/memory/undo"><input type="hidden" name="change" value="core"><button>%s</button></form>`, q.t("memory.undocore"))))
}

func (q *Request) coreFact(p CorePart, f CoreFact) html.HTML {
	return html.F(`<li><form method="post" action="/memory/core"><input type="hidden" name="kind" value="%s"><input type="hidden" name="id" value="%s">
<input type="hidden" name="section" value="%s"><input type="hidden" name="key" value="%s">
<label><span>%s <span class="tag">%s</span></span><textarea name="value" rows="1" maxlength="16000">%s</textarea></label>
<span class="acts"><button>%s</button><button name="delete" value="1">%s</button></span></form></li>`,
		p.Kind, p.ID, f.Section, f.Key, f.Key, q.t("core."+f.Section), f.Value, q.t("save"), q.t("memory.drop"))
}

func (q *Request) changes(all []MemoryChange) html.HTML {
	return q.card("memory.changes", q.list(len(all), "memory.nochanges", html.Each(all, func(c MemoryChange) html.HTML {
		what := "memory.gone"
		if c.Saved && c.Before != "" {
			what = "memory.replaced"
		} else if c.Saved {
			what = "memory.saved"
		}
		undo := html.F(`<span class="tag">%s</span>`, q.t("memory.undone"))
		if !c.Undone {
			undo = q.undo(c.ID)
		}
		return html.F(`<li><div class="line"><p class="head">%s %s</p>%s</div>%s</li>`, q.time(c.At), q.t(what), undo, html.If(c.Before != "", `<p class="meta clip"><del>%s</del></p>`, c.Before)+html.If(c.After != "", `<p class="meta clip">%s</p>`, c.After))
	})))
}
