package telegramtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"klawbot/internal/telegramtest"
)

// control sends an order and returns status and answer.
func control(t *testing.T, s *telegramtest.Server, verb, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(s.URL()+"/control/"+verb, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(bytes.TrimSpace(got))
}

func TestControl(t *testing.T) {
	s, c := start(t, telegramtest.Config{ReadsGroups: true})
	bot := func(text string) func() {
		return func() {
			c.send(obj{"text": text, "reply_markup": keyboard(obj{"text": "Yes", "callback_data": "y"})})
		}
	}
	for _, step := range []struct {
		verb, body string
		code       int
		want       string
		then       func()
	}{
		{"send", `{"user":42,"name":"Ann","text":"hello"}`, 200, `{"message_id":1}`, bot("hi\nyou")},
		{"edit", `{"user":42,"message_id":1,"text":"hello!"}`, 200, `{"ok":true}`, nil},
		{"wait", `{"chat":42,"after":1,"pattern":"^hi"}`, 200, `"message_id":2,`, nil},
		{"wait", `{"chat":42,"after":2,"pattern":"^hi","timeout":"1ms"}`, 408, `timeout; the chat:\nAnn: hello! (edited)\nbot: hi`, nil},
		{"wait", `{"chat":42,"pattern":"("}`, 400, `pattern`, nil},
		{"wait", `{"chat":42,"timeout":"soon"}`, 400, `soon`, nil},
		{"press", `{"user":42,"button":"Yes"}`, 200, `{"query_id":"1"}`, nil},
		{"press", `{"user":42,"button":"No"}`, 400, `shows no button`, nil},
		{"messages", `{"chat":42}`, 200, `"text":"hi\nyou"`, nil},
		{"messages", `{"chat":43}`, 200, `[]`, nil},
		{"transcript", `{"chat":42}`, 200, `{"text":"Ann: hello! (edited)\nbot: hi\n  you\n  [Yes]\n"}`, nil},
		{"journal", `{"method":"sendMessage"}`, 200, `"method":"sendMessage"`, nil},
		{"journal", `{"after":1}`, 200, `[]`, nil},
		{"status", ``, 200, `{"pending":3,"polling":false,"calls":1}`, nil},
		{"wait_calls", `{"method":"sendMessage","count":1}`, 200, `{"count":1}`, nil},
		{"fault", `{"fault":{"method":"getMe","kind":"delay"},"delay":"1ms"}`, 200, `{"ok":true}`, func() { c.call("getMe", nil) }},
		{"fault", `{"fault":{"kind":"earthquake"}}`, 400, `unknown kind of fault`, nil},
		{"fault", `{"fault":{"kind":"error","status":401,"times":-1}}`, 200, `{"ok":true}`, func() { c.refused("getMe", nil, 401, "Unauthorized") }},
		{"clear_faults", `{}`, 200, `{"ok":true}`, func() { c.call("getMe", nil) }},
		{"block", `{"user":42}`, 200, `{"ok":true}`, func() {
			c.refused("sendChatAction", obj{"chat_id": alice}, 403, "Forbidden: bot was blocked by the user")
		}},
		{"unblock", `{"user":42}`, 200, `{"ok":true}`, nil},
		{"group", `{"chat":-100500,"user":42,"title":"Home","forum":true}`, 200, `{"ok":true}`, nil},
		{"send", `{"user":42,"chat":-100500,"thread":3,"text":"in a topic"}`, 200, `{"message_id":`, nil},
		{"kick", `{"chat":-100500,"user":42}`, 200, `{"ok":true}`, nil},
		{"group", `{"chat":-5,"user":42}`, 200, `{"ok":true}`, nil},
		{"migrate", `{"chat":-5,"to":-1005}`, 200, `{"ok":true}`, nil},
		{"deny", `{"chat":42,"access":"restricted"}`, 200, `{"ok":true}`, nil},
		{"deny", `{"chat":42}`, 200, `{"ok":true}`, nil},
		{"delete", `{"user":42,"message_id":2}`, 200, `{"ok":true}`, nil},
		{"push", `{"update":{"strange":{}}}`, 200, `{"update_id":`, nil},
		{"reset_ids", `{"next":5}`, 200, `{"ok":true}`, nil},
		{"dance", `{}`, 404, `unknown verb`, nil},
		{"send", `{"usr":42}`, 400, `unknown field`, nil},
	} {
		code, got := control(t, s, step.verb, step.body)
		if code != step.code || !strings.Contains(got, step.want) {
			t.Errorf("%s %s: %d %s, want %d %s", step.verb, step.body, code, got, step.code, step.want)
		}
		if step.then != nil {
			step.then()
		}
	}
	checkSaved(t, s)
}

func checkSaved(t *testing.T, s *telegramtest.Server) {
	t.Helper()
	code, state := control(t, s, "save", "")
	if code != 200 || !json.Valid([]byte(state)) {
		t.Fatal(code, state)
	}
	again, _ := start(t, telegramtest.Config{})
	if code, got := control(t, again, "restore", state); code != 200 {
		t.Fatal(code, got)
	}
	if got, want := again.Transcript(alice), s.Transcript(alice); got != want || got == "" {
		t.Errorf("got %q, want %q", got, want)
	}
}
