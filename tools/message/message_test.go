package message_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/message"
)

// door lets messages to its chats out.
type door []string

func (d door) Check(_ context.Context, chat string) error {
	if !slices.Contains(d, chat) {
		return errors.New("chatId " + chat + " not in allowedChatIds")
	}
	return nil
}

func call(t *testing.T, c message.Config, name, arguments string) tools.Result {
	t.Helper()
	return callFrom(t, c, tools.Call{ID: "c1", Name: name, Arguments: json.RawMessage(arguments)})
}

func callFrom(t *testing.T, c message.Config, from tools.Call) tools.Result {
	t.Helper()
	registry, err := tools.NewRegistry(message.New(c)...)
	if err != nil {
		t.Fatal(err)
	}
	e := tools.NewExecutor(tools.ExecutorConfig{Registry: registry, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler)})
	r, err := e.Execute(t.Context(), from, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSend(t *testing.T) {
	allowed := door{"telegram_123", "telegram_-100"}
	for name, c := range map[string]struct {
		arguments, want string
		out             tools.Outgoing
	}{
		"a chat":            {`{"channel":"telegram","chatId":"telegram_123","text":"hello"}`, "OK: message sent to telegram/telegram_123", tools.Outgoing{Chat: "telegram_123", Text: "hello"}},
		"a bare id":         {`{"channel":"telegram","chatId":"123","text":"hello"}`, "OK: message sent to telegram/123", tools.Outgoing{Chat: "telegram_123", Text: "hello"}},
		"an id as a number": {`{"channel":"telegram","chatId":-100,"text":"hello","thread":"7"}`, "OK: message sent to telegram/-100", tools.Outgoing{Chat: "telegram_-100", Thread: 7, Text: "hello"}},
		"refused":           {`{"channel":"telegram","chatId":"telegram_5","text":"hello"}`, "Error: chatId telegram_5 not in allowedChatIds", tools.Outgoing{}},
		"a contradiction":   {`{"channel":"web","chatId":"telegram_123","text":"hello"}`, "Error: channel web contradicts chatId telegram_123; give the channel that the chatId begins with", tools.Outgoing{}},
		"no channel":        {`{"channel":" ","chatId":"123","text":"hello"}`, "Error: channel and chatId must not be empty", tools.Outgoing{}},
		"no text":           {`{"channel":"telegram","chatId":"123","text":" \n"}`, "Error: text is empty; there is nothing to send", tools.Outgoing{}},
		"no visible text":   {`{"channel":"telegram","chatId":"123","text":"\u200b\u2060"}`, "Error: text is empty; there is nothing to send", tools.Outgoing{}},
		"nothing":           {``, "Error: Missing required parameter: channel; Missing required parameter: chatId; Missing required parameter: text", tools.Outgoing{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := call(t, message.Config{Door: allowed}, "send_message", c.arguments)
			if r.Output != c.want {
				t.Errorf("got  %s\nwant %s", r.Output, c.want)
			}
			if want := strings.HasPrefix(c.want, "OK"); want != (len(r.Outgoing) == 1) || want && !reflect.DeepEqual(r.Outgoing[0], c.out) {
				t.Errorf("outgoing is %+v", r.Outgoing)
			}
		})
	}
}

// TestSendStaysInItsTopic: "this chat" is the topic in which the model was asked.
func TestSendStaysInItsTopic(t *testing.T) {
	allowed := door{"telegram_-100123", "telegram_-100999", "telegram_5"}
	for _, c := range []struct {
		name, id, thread string
		chat             string
		want             int64
	}{
		{"send-into-this-topic", "telegram_-100123", "", "telegram_-100123", 7},
		{"a bare id", "-100123", "", "telegram_-100123", 7},
		{"thread 0", "telegram_-100123", `,"thread":0`, "telegram_-100123", 7},
		{"the general topic", "telegram_-100123", `,"thread":1`, "telegram_-100123", 1},
		{"another topic", "telegram_-100123", `,"thread":9`, "telegram_-100123", 9},
		{"another topic in the id", "telegram_-100123_9", "", "telegram_-100123", 9},
		{"another group", "telegram_-100999", "", "telegram_-100999", 0},
		{"a topic of another group", "telegram_-100999_8", "", "telegram_-100999", 8},
		{"a private chat", "telegram_5", "", "telegram_5", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := callFrom(t, message.Config{Door: allowed}, tools.Call{
				ID: "c1", Name: "send_message", Chat: "telegram_-100123", Thread: 7,
				Arguments: json.RawMessage(`{"channel":"telegram","text":"hi","chatId":"` + c.id + `"` + c.thread + `}`),
			})
			if len(r.Outgoing) != 1 || r.Outgoing[0].Chat != c.chat || r.Outgoing[0].Thread != c.want {
				t.Errorf("%s: %+v", r.Output, r.Outgoing)
			}
		})
	}
}

func TestSendIsAtomic(t *testing.T) {
	for _, tool := range message.New(message.Config{}) {
		spec := tool.Spec()
		if sends := spec.Name == "send_message"; spec.Atomic != sends || spec.Changes != sends {
			t.Errorf("%s: changes %v, atomic %v", spec.Name, spec.Changes, spec.Atomic)
		}
		for _, language := range tools.Languages() {
			if spec.Texts[language].Description == "" {
				t.Errorf("%s has no text in %s", spec.Name, language)
			}
		}
	}
}

func TestCurrentTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		zone            *time.Location
		arguments, want string
	}{
		"the bot's zone":   {berlin, `{}`, "2000-01-01 01:00:00 Saturday Europe/Berlin"},
		"no zone":          {nil, ``, "2000-01-01 00:00:00 Saturday UTC"},
		"another zone":     {berlin, `{"tz":"Asia/Tokyo"}`, "2000-01-01 09:00:00 Saturday Asia/Tokyo"},
		"an unknown zone":  {berlin, `{"tz":"Mars/Base"}`, `Error: unknown time zone "Mars/Base"; an IANA name is expected, such as Europe/Berlin`},
		"a path as a zone": {berlin, `{"tz":"../../etc/passwd"}`, `Error: unknown time zone "../../etc/passwd"; an IANA name is expected, such as Europe/Berlin`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := call(t, message.Config{Location: func() *time.Location { return c.zone }}, "current_time", c.arguments)
				if r.Output != c.want {
					t.Errorf("got  %s\nwant %s", r.Output, c.want)
				}
			})
		})
	}
}
