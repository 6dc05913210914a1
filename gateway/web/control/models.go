package control

import (
	"cmp"
	"context"

	"klawbot/gateway/web/html"
)

// Models are the configured models and what they took.
type Models struct {
	Entries []Model
	// Days are the latest days with calls, the latest first.
	Days []Day
	// BudgetUSD and BudgetTokens bound a day, 0 for no bound.
	BudgetUSD    float64
	BudgetTokens int
	// Fixed says why the default cannot be changed here, "" when it can.
	Fixed string
}

// Model is an entry of the configuration.
type Model struct {
	// Entry names it in the configuration, Name at its provider.
	Entry, Name, Provider, Type string
	Default, Small              bool
	// Fallback is its place among those that are asked when the default fails, 0 for none.
	Fallback int
	Window   int
	// State is how it is reached: "ok", "broken" with Fault, or "" while that is asked.
	State, Fault string
	Priced       bool
}

// Day is what the models took on a day.
type Day struct {
	Day           string
	Calls, Tokens int
	CostUSD       float64
	Unpriced      int
}

// ModelsDesk reads the models and chooses the default.
type ModelsDesk interface {
	ListModels(ctx context.Context) (Models, error)
	// SetDefaultModel makes an entry the default.
	SetDefaultModel(ctx context.Context, entry string) error
}

var modelsPage = control{
	pattern: "/models", name: "models",
	show: func(q *Request, _ *filled) (html.HTML, error) {
		m, err := q.Desk.ListModels(q.HTTP.Context())
		entries := q.list(len(m.Entries), "models.none", html.Each(m.Entries, func(e Model) html.HTML { return q.entry(e, m.Fixed != "") }))
		return q.card("models.entries", entries+html.If(m.Fixed != "", `<p class="meta">%s</p>`, q.words(m.Fixed))) + q.card("models.cost", q.days(m)), err
	},
	acts: []act{{"/models/default", func(q *Request) (string, error) {
		return done("/models", "default"), q.Desk.SetDefaultModel(q.HTTP.Context(), q.HTTP.PostFormValue("entry"))
	}}},
}

func (q *Request) entry(m Model, fixed bool) html.HTML {
	state := q.t("models.asking")
	if m.State != "" {
		state = q.t("mark." + m.State)
	}
	tags := html.If(m.Default, ` <span class="tag ok">%s</span>`, q.t("models.default")) + html.If(m.Small, ` <span class="tag">%s</span>`, q.t("models.small")) +
		html.If(m.Fallback > 0, ` <span class="tag">%s</span>`, q.t("models.fallback", m.Fallback))
	return html.F(`<li><div class="line"><div><p class="head"><span class="mark %s">%s<span class="unseen"> %s</span></span> <strong>%s</strong>%s</p>
<p class="meta">%s · %s (%s) · %s%s</p>%s</div>%s</div></li>`, cmp.Or(m.State, "off"), sign(m.State), state, m.Entry, tags,
		m.Name, m.Provider, m.Type, q.t("models.window", number(m.Window)), html.If(!m.Priced, " · %s", q.t("models.unpriced")),
		html.If(m.Fault != "", `<p class="fault">%s</p>`, q.words(m.Fault)),
		html.If(!m.Default && !fixed, `<form method="post" action="/models/default"><input type="hidden" name="entry" value="%s"><button>%s</button></form>`, m.Entry, q.t("models.choose")))
}

// days is a table of what the models took.
func (q *Request) days(m Models) html.HTML {
	budget := html.If(m.BudgetUSD > 0, " %s", usd(m.BudgetUSD)) + html.If(m.BudgetTokens > 0, " %s", q.t("schedules.tokens", number(m.BudgetTokens)))
	budget = html.If(budget != "", `<p class="meta">%s%s</p>`, q.t("models.budget"), budget)
	if len(m.Days) == 0 {
		return budget + html.F(`<p class="empty">%s</p>`, q.t("models.nodays"))
	}
	most := 0.0
	for _, d := range m.Days {
		most = max(most, d.CostUSD)
	}
	rows := html.Each(m.Days, func(d Day) html.HTML {
		return html.F(`<tr><th scope="row">%s</th><td class="n">%s</td><td class="n">%s</td><td class="n">%s%s%s</td></tr>`, d.Day, number(d.Calls), number(d.Tokens), usd(d.CostUSD),
			html.If(d.Unpriced > 0, `<abbr title="%s">*</abbr>`, q.t("status.unpriced", d.Unpriced)),
			html.If(most > 0, `<meter min="0" max="%s" value="%s" aria-hidden="true"></meter>`, most, d.CostUSD))
	})
	return budget + html.F(`<table><thead><tr><th scope="col">%s</th><th scope="col" class="n">%s</th><th scope="col" class="n">%s</th><th scope="col" class="n">%s</th></tr></thead><tbody>%s</tbody></table>`,
		q.t("models.day"), q.t("models.calls"), q.t("models.tokens"), q.t("models.usd"), rows)
}
