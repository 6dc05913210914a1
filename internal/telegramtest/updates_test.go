package telegramtest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/internal/telegramtest"
)

func TestOffsets(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	for i := range 6 {
		s.User(alice).Send(fmt.Sprint("message ", i))
	}
	for _, step := range []struct {
		name   string
		params obj
		want   []int64
	}{
		{"omitted: earliest unconfirmed", obj{}, []int64{1, 2, 3, 4, 5, 6}},
		{"omitted again: nothing was confirmed", obj{"limit": 2}, []int64{1, 2}},
		{"offset confirms", obj{"offset": 3}, []int64{3, 4, 5, 6}},
		{"confirmed ones do not come back", obj{"offset": 1}, []int64{3, 4, 5, 6}},
		{"limit is clamped", obj{"limit": 1000}, []int64{3, 4, 5, 6}},
		{"far in the future: from the head", obj{"offset": 5000}, []int64{3, 4, 5, 6}},
		{"negative keeps the last", obj{"offset": -2}, []int64{5, 6}},
		{"and drops the others", obj{}, []int64{5, 6}},
		{"more than there are", obj{"offset": -9}, []int64{5, 6}},
		{"behind the last", obj{"offset": 7}, []int64{}},
	} {
		if got := c.updates(step.params); !slices.Equal(got, step.want) {
			t.Errorf("%s: got %v, want %v", step.name, got, step.want)
		}
	}
}

func TestIDsStartAnew(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.ResetUpdateIDs(9000)
	s.User(alice).Send("before")
	if got := c.updates(obj{}); !slices.Equal(got, []int64{9000}) {
		t.Fatal(got)
	}
	c.updates(obj{"offset": 9001})
	s.ResetUpdateIDs(5)
	s.User(alice).Send("after")
	if got := c.updates(obj{"offset": 9001}); !slices.Equal(got, []int64{5}) {
		t.Errorf("got %v, want the lower id", got)
	}
}

func TestLongPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := startPipe(t, telegramtest.Config{})
		began := time.Now()
		if got := c.updates(obj{"timeout": 20}); len(got) != 0 {
			t.Error(got)
		}
		if d := time.Since(began); d != 20*time.Second {
			t.Errorf("an empty poll took %v", d)
		}
		began = time.Now()
		c.updates(obj{"timeout": 600})
		if d := time.Since(began); d != 50*time.Second {
			t.Errorf("a poll longer than allowed took %v", d)
		}
		time.AfterFunc(3*time.Second, func() { s.User(alice).Send("hello") })
		began = time.Now()
		if got := c.updates(obj{"timeout": 20}); !slices.Equal(got, []int64{1}) {
			t.Error(got)
		}
		if d := time.Since(began); d != 3*time.Second {
			t.Errorf("a poll was woken after %v", d)
		}
	})
}

func TestUpdatesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := startPipe(t, telegramtest.Config{})
		s.User(alice).Send("old")
		time.Sleep(23 * time.Hour)
		s.User(alice).Send("new")
		if got := c.updates(obj{}); !slices.Equal(got, []int64{1, 2}) {
			t.Error(got)
		}
		time.Sleep(time.Hour)
		if got := c.updates(obj{}); !slices.Equal(got, []int64{2}) {
			t.Error(got)
		}
	})
}

func TestSecondPollerEndsTheFirst(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	first := make(chan reply)
	go func() {
		r, err := c.try("getUpdates", obj{"timeout": 50})
		if err != nil {
			t.Error(err)
		}
		first <- r
	}()
	waitFor(t, s, telegramtest.State.Polling)
	c.updates(obj{})
	r := <-first
	if r.Code != 409 || r.Description != "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running" {
		t.Errorf("%+v", r)
	}
}

func TestWebhook(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	c.refused("setWebhook", obj{"url": "http://a.b"}, 400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook")
	c.call("setWebhook", obj{"url": "https://a.b/c"})
	c.refused("getUpdates", obj{}, 409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	var info struct {
		URL     string `json:"url"`
		Pending int    `json:"pending_update_count"`
	}
	c.decode(c.call("getWebhookInfo", nil), &info)
	if info.URL != "https://a.b/c" || info.Pending != 1 {
		t.Errorf("%+v", info)
	}
	c.call("deleteWebhook", nil)
	if got := c.updates(obj{}); len(got) != 1 {
		t.Errorf("deleteWebhook dropped updates: %v", got)
	}
	c.call("deleteWebhook", obj{"drop_pending_updates": true})
	if got := c.updates(obj{}); len(got) != 0 {
		t.Error(got)
	}
}

func TestSetWebhookEndsThePoll(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	poll := make(chan reply)
	go func() {
		r, err := c.try("getUpdates", obj{"timeout": 50})
		if err != nil {
			t.Error(err)
		}
		poll <- r
	}()
	waitFor(t, s, telegramtest.State.Polling)
	c.call("setWebhook", obj{"url": "https://a.b/c"})
	if r := <-poll; r.Description != "Conflict: terminated by setWebhook request" {
		t.Errorf("%+v", r)
	}
}

func TestAllowedUpdatesAreRemembered(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	c.updates(obj{"allowed_updates": []string{"callback_query"}})
	s.User(alice).Send("not asked for")
	if got := c.updates(obj{}); len(got) != 0 {
		t.Error(got)
	}
	c.updates(obj{"allowed_updates": []string{}})
	s.User(alice).Send("asked for by default")
	if got := c.updates(obj{}); len(got) != 1 {
		t.Error(got)
	}
}

func TestPush(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	id, err := s.Push(`{"update_id":99,"new_thing":{"a":[1]}}`)
	if err != nil || id != 1 {
		t.Fatal(id, err)
	}
	if _, err := s.Push(`{}`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Push(`[1]`); err == nil {
		t.Error("an array went in")
	}
	var list []json.RawMessage
	c.decode(c.call("getUpdates", obj{}), &list)
	if len(list) != 2 || string(list[0]) != `{"update_id":1,"new_thing":{"a":[1]}}` || string(list[1]) != `{"update_id":2}` {
		t.Errorf("%s", list)
	}
}

func TestPathsAndTokens(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	c.refused("noSuchMethod", nil, 404, "Not Found")
	if r := c.call("GETME", nil); !r.OK {
		t.Error("names of methods know no case")
	}
	for token, want := range map[string]int{"1:wrong": 401, "nonsense": 404, "": 404} {
		c.base = s.URL() + "/bot" + token + "/"
		text := map[int]string{401: "Unauthorized", 404: "Not Found"}[want]
		c.refused("getMe", nil, want, text)
	}
	c.base = s.URL() + "/"
	c.refused("else", nil, 404, "Not Found")
}

func TestGetMe(t *testing.T) {
	_, c := start(t, telegramtest.Config{Token: "555:x", Bot: telegramtest.User{Username: "mybot"}, ReadsGroups: true})
	got := string(c.call("getMe", nil).Result)
	for _, want := range []string{`"id":555`, `"is_bot":true`, `"username":"mybot"`, `"can_read_all_group_messages":true`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}
