package control

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"klawbot/gateway/web/html"
)

// Toolbox is the tools of the bot and what they may do.
type Toolbox struct {
	Tools []Tool
	// Faults are the tools that are left out, with the reasons.
	Faults []string
	// Policy are the keys of the policy and their values.
	Policy []Setting
}

// Tool is one tool.
type Tool struct {
	Name, Group, About string
	// Changes says that it modifies data.
	Changes bool
	Aliases []string
	// Verdict is what would happen to a call without arguments, by the lists alone:
	// "allow", "ask" or "deny".
	Verdict string
}

// Verdict says what would happen to a call.
type Verdict struct {
	// Verdict is "allow", "ask" or "deny".
	Verdict, Reason, Layer string
	OwnerOnly              bool
	// OnceOnly says why it is asked about each time.
	OnceOnly string
}

// ToolsDesk says what tools there are and what they may do.
type ToolsDesk interface {
	ListTools(ctx context.Context, language string) (Toolbox, error)
	// CheckCall says what would happen to a call from a chat; nothing runs.
	CheckCall(ctx context.Context, tool, arguments, chat string) (Verdict, error)
}

var toolsPage = control{
	pattern: "/tools", name: "tools",
	show: func(q *Request, _ *filled) (html.HTML, error) {
		v := toolsView{Tool: q.HTTP.URL.Query().Get("tool"), Arguments: q.HTTP.URL.Query().Get("arguments"), Chat: q.HTTP.URL.Query().Get("chat")}
		var err error
		if v.Toolbox, err = q.Desk.ListTools(q.HTTP.Context(), q.Language); err != nil || v.Tool == "" {
			return q.toolbox(v), err
		}
		checked, err := q.Desk.CheckCall(q.HTTP.Context(), v.Tool, v.Arguments, v.Chat)
		var refused *SaidError
		if errors.As(err, &refused) {
			checked, err = Verdict{Verdict: "deny", Reason: q.words(refused.Text)}, nil
		}
		v.Checked = &checked
		return q.toolbox(v), err
	},
	acts: []act{{"/tools/check", func(q *Request) (string, error) {
		call := url.Values{}
		for _, key := range []string{"tool", "arguments", "chat"} {
			if value := strings.TrimSpace(q.HTTP.PostFormValue(key)); value != "" {
				call.Set(key, value)
			}
		}
		return "/tools?" + call.Encode() + "#check", nil
	}}},
}

type toolsView struct {
	Toolbox
	Tool, Arguments, Chat string
	Checked               *Verdict
}

// Groups are the tools by group, in the order in which groups come.
func (v toolsView) Groups() (all []toolGroup) {
	at := map[string]int{}
	for _, t := range v.Tools {
		i, known := at[t.Group]
		if !known {
			i = len(all)
			at[t.Group], all = i, append(all, toolGroup{Name: t.Group})
		}
		all[i].Tools = append(all[i].Tools, t)
	}
	return all
}

type toolGroup struct {
	Name  string
	Tools []Tool
}

func (q *Request) toolbox(v toolsView) html.HTML {
	faults := html.Each(v.Faults, func(f string) html.HTML { return html.F(`<p class="fault">%s</p>`, q.words(f)) })
	if faults != "" {
		faults = q.card("tools.faults", faults)
	}
	return q.check(v) + q.card("tools.policy", html.F(`<dl>%s</dl>`, html.Each(v.Policy, keyAndValue))) + faults + html.Each(v.Groups(), func(g toolGroup) html.HTML {
		return html.F(`<section class="card"><h2>%s <small>%s</small></h2><ul class="rows">%s</ul></section>`, g.Name, len(g.Tools), html.Each(g.Tools, q.tool))
	})
}

// check is the form that asks what would happen, with the answer.
func (q *Request) check(v toolsView) html.HTML {
	var verdict html.HTML
	if c := v.Checked; c != nil {
		verdict = html.F(`<p class="notice v-%s" role="status"><strong>%s</strong> %s%s%s%s</p>`, c.Verdict, q.t("verdict."+c.Verdict), q.words(c.Reason), html.If(c.Layer != "", ` <span class="tag">%s</span>`, c.Layer),
			html.If(c.OwnerOnly, " %s", q.t("tools.owneronly")), html.If(c.OnceOnly != "", " %s", q.t("tools.onceonly", q.words(c.OnceOnly))))
	}
	names := html.Each(v.Tools, func(t Tool) html.HTML { return html.F(`<option value="%s">`, t.Name) })
	return html.F(`<section class="card" id="check"><h2>%s</h2><p class="meta">%s</p>%s
<form class="stack" method="post" action="/tools/check"><label for="tool">%s</label><input id="tool" name="tool" list="names" required maxlength="80" value="%s" autocomplete="off"><datalist id="names">%s</datalist>
<label for="arguments">%s</label><textarea id="arguments" name="arguments" rows="2" maxlength="8000" placeholder="{&quot;command&quot;: &quot;ls&quot;}" spellcheck="false">%s</textarea>
<label for="chat">%s</label><input id="chat" name="chat" maxlength="40" value="%s" placeholder="telegram_123456" autocomplete="off"><button class="main">%s</button></form></section>`,
		q.t("tools.check"), q.t("tools.checkhint"), verdict, q.t("tools.tool"), v.Tool, names, q.t("tools.arguments"), v.Arguments, q.t("tools.chat"), v.Chat, q.t("tools.ask"))
}

func (q *Request) tool(t Tool) html.HTML {
	aliases := html.Each(t.Aliases, func(a string) html.HTML { return html.F(` <code>%s</code>`, a) })
	return html.F(`<li><p class="head"><code>%s</code>%s <span class="tag v-%s">%s</span></p>%s</li>`, t.Name, html.If(t.Changes, ` <span class="tag">%s</span>`, q.t("tools.changes")),
		t.Verdict, q.t("verdict."+t.Verdict), long(t.About, html.If(aliases != "", `<p class="meta">%s%s</p>`, q.t("tools.aliases"), aliases)))
}
