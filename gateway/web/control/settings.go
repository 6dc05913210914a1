package control

import (
	"context"
	"strings"
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
	pattern: "/settings", file: "settings",
	show: func(q *Request) (any, error) {
		all, err := q.Desk.ListSettings(q.HTTP.Context())
		return sections(all), err
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
