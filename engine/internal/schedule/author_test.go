package schedule

import (
	"testing"

	"klawbot/engine/internal/store"
	"klawbot/engine/settings"
	"klawbot/gateway"
)

// TestTaskKeepsAuthor: a task belongs to who wrote it; an owner who touches it
// gives it no more rights.
func TestTaskKeepsAuthor(t *testing.T) {
	owned := settings.Settings{Owners: map[string][]int64{"telegram": {111}}}
	h := NewHeartbeat(HeartbeatConfig{Editor: New(Config{Settings: func() settings.Settings { return owned }})})
	group, owner := author{gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: -100}}, 222}, author{gateway.Address{Chat: gateway.ChatID{Channel: "telegram", ID: 111}}, 111}
	task := func(name, cron, message string, by author) store.Job {
		return store.Job{Kind: store.JobHeartbeat, Name: name, Cron: cron, Message: message, Home: by.home, Creator: by.person}
	}
	removed := func(j store.Job) store.Job {
		j.State = store.JobRemoved
		return j
	}
	for name, c := range map[string]struct {
		was    []store.Job
		wanted store.Job
		by     author
		want   author
	}{
		"a new one":                          {nil, task("a", "@daily", "look", author{}), group, group},
		"a new one by hand":                  {nil, task("a", "@daily", "look", author{}), author{}, author{}},
		"as it was":                          {[]store.Job{task("a", "@daily", "look", group)}, task("a", "@daily", "look", author{}), owner, group},
		"the owner's, as it was":             {[]store.Job{task("a", "@daily", "look", owner)}, task("a", "@daily", "look", author{}), group, owner},
		"the time, by hand":                  {[]store.Job{task("a", "@daily", "look", group)}, task("a", "@hourly", "look", author{}), author{}, group},
		"the name, by the owner":             {[]store.Job{task("a", "@daily", "look", group)}, task("b", "@daily", "look", author{}), owner, group},
		"a line, by the owner":               {[]store.Job{task("a", "@daily", "look\nthere", group)}, task("a", "@daily", "look\nhere", author{}), owner, group},
		"another text, by the owner":         {[]store.Job{task("a", "@daily", "look", group)}, task("a", "@daily", "listen", author{}), owner, owner},
		"the owner's time, by the group":     {[]store.Job{task("a", "@daily", "look", owner)}, task("a", "@hourly", "look", author{}), group, group},
		"removed, the same by the owner":     {[]store.Job{removed(task("a", "@daily", "look", group))}, task("a", "@daily", "look", author{}), author{}, group},
		"removed, the owner's, by the group": {[]store.Job{removed(task("a", "@daily", "look", owner))}, task("a", "@daily", "look", author{}), group, group},
	} {
		wanted := []store.Job{c.wanted}
		h.attribute(wanted, c.by, c.was)
		if got := (author{wanted[0].Home, wanted[0].Creator}); got != c.want {
			t.Errorf("%s: it is of %+v, want %+v", name, got, c.want)
		}
	}
}
