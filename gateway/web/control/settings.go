package control

import (
	"cmp"
	"context"
	"strings"

	"klawbot/gateway/web/html"
)

// Setting is a key of the configuration with its value, a secret masked.
type Setting struct {
	Key, Value string
	// Settable says that SetSetting may change it.
	Settable bool
}

// SettingsDesk reads and changes the configuration.
type SettingsDesk interface {
	ListSettings(ctx context.Context) ([]Setting, error)
	// SetSetting changes one settable key, with the checks of the file.
	SetSetting(ctx context.Context, key, value string) error
}

var settingsPage = control{
	pattern: "/settings", name: "settings",
	show: func(q *Request, f *filled) (html.HTML, error) {
		all, err := q.Desk.ListSettings(q.HTTP.Context())
		v := sections(all)
		body := html.F(`<p class="meta">%s</p>`, q.t("settings.hint")) + html.Each(v.Settable, func(p settingsPart) html.HTML {
			return html.F(`<section class="card"><h2>%s</h2><ul class="rows settings">%s</ul></section>`, p.Name, html.Each(p.All, func(s Setting) html.HTML { return q.setting(s, f) }))
		})
		rest := html.Each(v.Rest, func(p settingsPart) html.HTML {
			return html.F(`<details class="long"><summary><code>%s</code> <small>%s</small></summary><dl>%s</dl></details>`, p.Name, len(p.All), html.Each(p.All, keyAndValue))
		})
		return body + q.card("settings.rest", html.F(`<p class="meta">%s</p>%s`, q.t("settings.resthint"), rest)), err
	},
	acts: []act{{"/settings", func(q *Request) (string, error) {
		return done("/settings", "setting"), q.Desk.SetSetting(q.HTTP.Context(), q.HTTP.PostFormValue("key"), q.HTTP.PostFormValue("value"))
	}}},
}

// settingsView is the configuration: what may be changed here, and the rest.
type settingsView struct{ Settable, Rest []settingsPart }

type settingsPart struct {
	Name string
	All  []Setting
}

// sections are settings by the first name of their key.
func sections(all []Setting) (v settingsView) {
	for _, s := range all {
		list := &v.Rest
		if s.Settable {
			list = &v.Settable
		}
		name, _, _ := strings.Cut(s.Key, ".")
		if n := len(*list); n == 0 || (*list)[n-1].Name != name {
			*list = append(*list, settingsPart{Name: name})
		}
		last := &(*list)[len(*list)-1]
		last.All = append(last.All, s)
	}
	return v
}

// Choices are the values of a setting that takes few; nil for any other.
func (s Setting) Choices() []string {
	switch {
	case s.Value == "true" || s.Value == "false":
		return []string{"true", "false"}
	case s.Key == "agent.language":
		return languages
	case s.Key == "log.level":
		return []string{"debug", "info", "warn", "error"}
	}
	return nil
}

// setting is a form for a key. A value that was refused is still in it, with the reason.
func (q *Request) setting(s Setting, f *filled) html.HTML {
	var about, fault html.HTML
	if key := "set." + s.Key; known(key) {
		about = html.F(`<small>%s</small>`, q.t(key))
	}
	value, choices := s.Value, s.Choices()
	if f.Fault != "" && f.Form.Get("key") == s.Key {
		value, fault = f.Form.Get("value"), html.F(`<p class="fault">%s</p>`, f.Fault)
	}
	field := html.F(`<input name="value" value="%s" maxlength="4000" autocomplete="off" spellcheck="false"%s>`, value, html.If(fault != "", ` aria-invalid="true" autofocus`))
	if choices != nil {
		field = html.F(`<select name="value">%s</select>`, html.Each(choices, func(c string) html.HTML {
			return html.F(`<option%s>%s</option>`, html.If(c == s.Value, " selected"), c)
		}))
	}
	return html.F(`<li><form method="post" action="/settings"><input type="hidden" name="key" value="%s"><label><code>%s</code> %s%s</label><button>%s</button></form>%s</li>`,
		s.Key, s.Key, about, field, q.t("save"), fault)
}

func keyAndValue(s Setting) html.HTML {
	return html.F(`<dt><code>%s</code></dt><dd>%s</dd>`, s.Key, cmp.Or(s.Value, "–"))
}
