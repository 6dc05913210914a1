package control

import (
	"context"
	"regexp"
	"time"

	"klawbot/gateway/web/html"
)

// Overview is how the bot is doing. Its times are in the bot's zone.
type Overview struct {
	Version string
	Uptime  time.Duration
	// Faults are the reasons to look, none when the bot is healthy.
	Faults []string
	Marks  []Mark
	// Model is the default model, "" for none; Calls, Tokens and CostUSD are what the
	// models took today, of at most BudgetUSD when that is not 0. Unpriced counts the
	// calls without a price.
	Model              string
	Calls, Tokens      int
	CostUSD, BudgetUSD float64
	Unpriced           int
	Queues
	BackupAt      time.Time
	BackupFault   string
	Database      string
	DatabaseBytes int64
	// Next is what is planned next, with Next[0].Next[0] as its time; empty for nothing.
	Next []Schedule
	// Knocked counts the unknown senders about whom nothing is decided.
	Knocked int
	Muted   []string
}

// Queues are how many turns run, and what waits; Waiting is since when a message does.
type Queues struct {
	Running, Inbox, Outbox int
	Waiting                time.Time
}

// Mark says how a part of the bot is.
type Mark struct {
	// State is "ok", "off", "limited" or "broken".
	State, Name, Text string
	// Fix is the next step, empty for a part that works.
	Fix string
}

// StatusDesk says how the bot is.
type StatusDesk interface {
	Overview(ctx context.Context) (Overview, error)
}

var statusPage = control{
	pattern: "/status", name: "status",
	show: func(q *Request, _ *filled) (html.HTML, error) {
		o, err := q.Desk.Overview(q.HTTP.Context())
		next := html.Each(o.Next, func(s Schedule) html.HTML {
			return html.F(`<li><p class="head"><a href="/schedules/%s">%s</a> %s</p>%s</li>`, s.Name, s.Name, q.time(s.Next[0]), html.If(s.Message != "", `<p class="meta clip">%s</p>`, s.Message))
		})
		parts := q.list(len(o.Marks), "status.unknown", html.Each(o.Marks, q.mark)) +
			html.Each(o.Muted, func(place string) html.HTML { return html.F(`<p class="fault">%s</p>`, q.t("status.muted", place)) })
		return q.sum(o) + q.tiles(o) + q.card("status.next", q.list(len(o.Next), "schedules.none", next)) + q.card("status.parts", html.F(`<div class="marks">%s</div>`, parts)), err
	},
}

// sum says in a sentence how the bot is.
func (q *Request) sum(o Overview) html.HTML {
	w := worst(o.Marks)
	text := q.t("status.well")
	switch w.State {
	case "":
		text = q.t("status.checking")
	case "limited", "broken":
		text = q.t("status."+w.State, w.Todo)
	}
	return html.F(`<section class="card sum %s"><p class="big"><span class="mark %s" aria-hidden="true">%s</span> %s</p>%s<p class="meta">klawbot %s · %s</p></section>`,
		w.State, w.State, sign(w.State), text, html.Each(o.Faults, func(f string) html.HTML { return html.F(`<p class="fault">%s</p>`, q.words(f)) }),
		o.Version, q.t("status.up", took(q.Language, o.Uptime)))
}

func (q *Request) tiles(o Overview) html.HTML {
	tile := func(title string, figure, rest html.HTML) html.HTML {
		return html.F(`<div class="tile"><h2>%s</h2><p class="figure">%s</p>%s</div>`, q.t(title), figure, rest)
	}
	model, backup := o.Model, q.t("status.nobackup")
	if model == "" {
		model = q.t("status.nomodel")
	}
	if !o.BackupAt.IsZero() {
		backup = q.when(o.BackupAt)
	}
	return html.F(`<section class="tiles">%s%s%s%s</section>`,
		tile("status.today", html.F("%s%s", usd(o.CostUSD), html.If(o.BudgetUSD > 0, " <small>%s</small>", q.t("status.of", usd(o.BudgetUSD)))),
			html.F(`<p class="meta">%s%s</p><p class="meta"><a href="/models">%s</a></p>`, q.t("status.calls", o.Calls, number(o.Tokens)), html.If(o.Unpriced > 0, " · %s", q.t("status.unpriced", o.Unpriced)), model)),
		tile("status.queues", html.F("%s <small>%s</small> · %s <small>%s</small>", o.Inbox, q.t("status.in"), o.Outbox, q.t("status.out")),
			html.F(`<p class="meta">%s%s</p>`, q.t("status.running", o.Running), html.If(o.Inbox > 0 && !o.Waiting.IsZero(), " · %s", q.t("status.oldest", q.when(o.Waiting))))),
		tile("status.backup", html.F("%s", backup), html.If(o.BackupFault != "", `<p class="fault">%s</p>`, q.words(o.BackupFault))+
			html.F(`<p class="meta">%s</p>`, q.t("status.database", o.Database, Size(o.DatabaseBytes)))),
		tile("status.people", html.F("%s <small>%s</small>", o.Knocked, q.t("status.knocked")), html.F(`<p class="meta"><a href="/people">%s</a></p>`, q.t("status.look"))))
}

func (q *Request) mark(m Mark) html.HTML {
	return html.F(`<li><p class="head"><span class="mark %s">%s<span class="unseen"> %s</span></span> <strong>%s</strong></p><p class="text">%s</p>%s</li>`,
		m.State, sign(m.State), q.t("mark."+m.State), part(q, m.Name), q.words(m.Text), html.If(m.Fix != "", `<p class="fix">→ %s</p>`, fix(q, m)))
}

// part is the name of a part; the name of a channel or a server is the same in all languages.
func part(q *Request, name string) string {
	if known("part." + name) {
		return q.t("part." + name)
	}
	return name
}

// aKey is a key of the configuration without anything around it.
var aKey = regexp.MustCompile(`^[a-z]+(\.[A-Za-z]+)+$`)

// placeOf are the pages where a part can be seen to.
var placeOf = map[string]string{"allowed": "people", "config": "settings", "model": "models"}

// fix is the next step for a part: a command, what to change and where, and the page for it.
func fix(q *Request, m Mark) html.HTML {
	text := q.words(m.Fix)
	if aKey.MatchString(m.Fix) {
		text = q.words(m.Fix + " in config.yaml")
	}
	page := placeOf[m.Name]
	return html.F("%s%s", text, html.If(page != "", ` · <a href="/%s">%s</a>`, page, q.t(page+".title")))
}

// summary is how many parts need a look, and how bad the worst is.
type summary struct {
	State string
	Todo  int
}

// worst sums up marks, none while they are checked. A part that is off needs nothing.
func worst(marks []Mark) summary {
	s := summary{}
	if len(marks) > 0 {
		s.State = "ok"
	}
	for _, m := range marks {
		if m.State == "limited" || m.State == "broken" {
			s.Todo++
			if s.State != "broken" {
				s.State = m.State
			}
		}
	}
	return s
}
