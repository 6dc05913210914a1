package control

import (
	"context"
	"net/url"
	"time"

	"klawbot/gateway/web/html"
)

// Schedule is a schedule or reminder. Its times are in its own zone.
type Schedule struct {
	Name, Kind, When, State, Note, Message string
	// Next are the next times, at most three.
	Next []time.Time
	// Last and LastState are the latest run.
	Last      time.Time
	LastState string
	// To is the chat that gets the results, empty for none.
	To      string
	Model   string
	CostUSD float64
	// Once says that it is due a single time, Fixed that it comes from HEARTBEAT.md.
	Once, Fixed bool
}

// Run is one run of a schedule.
type Run struct {
	At        time.Time
	Took      time.Duration
	State     string
	Cause     string
	Tokens    int
	CostUSD   float64
	Delivered string
	Delivery  string
	// Text is the result, or a note about the run.
	Text string
}

// SchedulesDesk reads and changes what is planned.
type SchedulesDesk interface {
	ListSchedules(ctx context.Context) ([]Schedule, error)
	// Runs are the latest runs of a schedule, the latest first.
	Runs(ctx context.Context, name string) ([]Run, error)
	// ActOnSchedule does run, pause, resume, skip or delete.
	ActOnSchedule(ctx context.Context, name, verb string) error
}

var schedulesPage = control{
	pattern: "/schedules", name: "schedules",
	show: func(q *Request, _ *filled) (html.HTML, error) {
		all, err := q.Desk.ListSchedules(q.HTTP.Context())
		if len(all) == 0 {
			return html.F(`<section class="card"><p class="empty">%s</p></section>`, q.t("schedules.none")), err
		}
		return html.F(`<ul class="rows cards">%s</ul>`, html.Each(all, q.planned)), err
	},
}

var schedulePage = control{
	pattern: "/schedules/{name}", name: "schedule",
	show: func(q *Request, f *filled) (html.HTML, error) {
		all, err := q.Desk.ListSchedules(q.HTTP.Context())
		if err != nil {
			return "", err
		}
		f.Title, f.Up = q.HTTP.PathValue("name"), q.crumb("/schedules", "schedules.title")
		body := html.F(`<section class="card"><p class="empty">%s</p></section>`, q.t("schedules.gone")) // its runs may still be there
		for _, s := range all {
			if s.Name == f.Title {
				body = q.schedule(s)
			}
		}
		runs, err := q.Desk.Runs(q.HTTP.Context(), f.Title)
		return body + q.card("schedules.runs", q.list(len(runs), "schedules.noruns", html.Each(runs, q.run))), err
	},
	acts: []act{{"/schedules/{name}/{verb}", func(q *Request) (string, error) {
		name, verb := q.HTTP.PathValue("name"), q.HTTP.PathValue("verb")
		to := "/schedules/" + url.PathEscape(name)
		if verb == "delete" {
			to = "/schedules"
		}
		return done(to, verb), q.Desk.ActOnSchedule(q.HTTP.Context(), name, verb)
	}}},
}

// times are the next times of a schedule.
func (q *Request) times(all []time.Time, between html.HTML) (text html.HTML) {
	for i, at := range all {
		text += html.If(i > 0, "%s", between) + q.time(at)
	}
	return text
}

// last is the latest run, or the next one if that was skipped by hand.
func last(q *Request, s Schedule) html.HTML {
	if s.Last.After(time.Now()) {
		return html.F(`<p class="meta">%s</p>`, q.t("schedules.skipped", q.when(s.Last)))
	}
	return html.If(!s.Last.IsZero(), `<p class="meta">%s <span class="tag %s">%s</span> · %s</p>`, q.t("schedules.last", q.when(s.Last)), s.LastState, q.t("run."+s.LastState), usd(s.CostUSD))
}

// planned is a schedule in the list.
func (q *Request) planned(s Schedule) html.HTML {
	next := html.F("%s", q.t("schedules.nonext"))
	if len(s.Next) > 0 {
		next = html.F("%s %s", q.t("schedules.next"), q.times(s.Next, ", "))
	}
	return html.F(`<li class="card"><p class="head"><a href="/schedules/%s"><strong>%s</strong></a> <span class="tag %s">%s</span></p><p>%s%s</p>%s<p class="meta">%s</p>%s%s</li>`,
		s.Name, s.Name, s.State, q.t("job."+s.State), s.When, html.If(s.To != "", ` <span class="meta">→ %s</span>`, s.To),
		html.If(s.Message != "", `<p class="meta clip">%s</p>`, s.Message), next,
		last(q, s), q.jobActs(s))
}

func (q *Request) schedule(s Schedule) html.HTML {
	next, to := html.F("%s", q.t("schedules.nonext")), s.To
	if len(s.Next) > 0 {
		next = q.times(s.Next, "<br>")
	}
	if to == "" {
		to = q.t("schedules.logonly")
	}
	return html.F(`<section class="card"><dl>
<dt>%s</dt><dd>%s <span class="tag %s">%s</span> %s</dd>
<dt>%s</dt><dd>%s</dd>
<dt>%s</dt><dd class="pre">%s</dd>
<dt>%s</dt><dd>%s</dd>%s
<dt>%s</dt><dd>%s</dd></dl>%s%s</section>`,
		q.t("schedules.when"), s.When, s.State, q.t("job."+s.State), q.words(s.Note), q.t("schedules.next"), next, q.t("schedules.task"), s.Message,
		q.t("schedules.to"), to, html.If(s.Model != "", `<dt>%s</dt><dd>%s</dd>`, q.t("schedules.model"), s.Model),
		q.t("schedules.cost"), usd(s.CostUSD), html.If(s.Fixed, `<p class="meta">%s</p>`, q.t("schedules.fixed")), q.jobActs(s))
}

// jobActs are the buttons of a schedule.
func (q *Request) jobActs(s Schedule) html.HTML {
	button := func(verb, class string) html.HTML {
		return html.F(`<form method="post" action="/schedules/%s/%s"><button class="%s">%s</button></form>`, s.Name, verb, class, q.t("job."+verb))
	}
	acts := button("run", "")
	if s.State == "paused" {
		acts += button("resume", "main")
	} else {
		acts += button("pause", "")
		if !s.Once {
			acts += button("skip", "")
		}
	}
	if to := "/schedules/" + url.PathEscape(s.Name); !s.Fixed {
		acts += q.confirm("job.delete", q.t("job.deleteask"), to+"/delete", to, "")
	}
	return html.F(`<div class="acts">%s</div>`, acts)
}

func (q *Request) run(r Run) html.HTML {
	return html.F(`<li><p class="head">%s <span class="tag %s">%s</span>%s</p><p class="meta">%s%s · %s%s</p>%s</li>`, q.time(r.At), r.State, q.t("run."+r.State),
		html.If(r.Cause != "" && r.Cause != "due", ` <span class="tag">%s</span>`, q.words(r.Cause)), html.If(r.Took > 0, "%s · ", took(q.Language, r.Took)),
		q.t("schedules.tokens", number(r.Tokens)), usd(r.CostUSD), html.If(r.Delivered != "", " · → %s %s", r.Delivered, q.words(r.Delivery)), long(q.words(r.Text), ""))
}
