package message_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"klawbot/internal/redact"
	"klawbot/tools"
	"klawbot/tools/message"
)

// mouth is a fake voice.
type mouth struct{ what string }

func (m mouth) Say(_ context.Context, text, _ string) ([]byte, time.Duration, error) {
	if text == "fail" {
		return nil, 0, errors.New("the voice has broken down")
	}
	return []byte("OggS " + text), 67 * time.Second, nil
}

func (m mouth) Describe() (string, bool) { return m.what, m.what != "" }

// TestSpeak: the voice message leaves with the result, to the chat and the topic of the
// call; where nothing speaks the tool is not there.
func TestSpeak(t *testing.T) {
	for name, c := range map[string]struct {
		what, chat, text string
		want             string
		shown            bool
	}{
		"spoken":      {"a voice for en, here", "telegram_7", "Hello.", "OK: voice message of 1:07 goes to the chat with your answer", true},
		"breaks down": {"a voice for en, here", "telegram_7", "fail", "the voice has broken down; write the text in your answer instead", true},
		"no chat":     {"a voice for en, here", "", "Hello.", "this call has no chat", true},
		"off":         {"off", "telegram_7", "Hello.", "nothing can speak here", false},
		"none":        {"", "telegram_7", "Hello.", "nothing can speak here", false},
	} {
		t.Run(name, func(t *testing.T) {
			registry, err := tools.NewRegistry(message.New(message.Config{Door: door{"telegram_7"}, Speaker: mouth{c.what}})...)
			if err != nil {
				t.Fatal(err)
			}
			e := tools.NewExecutor(tools.ExecutorConfig{
				Registry: registry, Redact: &redact.Set{}, Log: slog.New(slog.DiscardHandler),
				Keep: func(r io.Reader) (string, error) {
					content, err := io.ReadAll(r)
					return string(content), err
				},
			})
			arguments, err := json.Marshal(map[string]string{"text": c.text})
			if err != nil {
				t.Fatal(err)
			}
			call := tools.Call{ID: "1", Name: "speak", Arguments: arguments, Chat: c.chat, Thread: 3}
			r, err := e.Execute(t.Context(), call, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(r.Output, c.want) {
				t.Errorf("%q, want %q", r.Output, c.want)
			}
			shown := false
			for _, offered := range e.Offered(call) {
				shown = shown || offered.Spec().Name == "speak"
			}
			if shown != c.shown {
				t.Errorf("shown: %v", shown)
			}
			if strings.HasPrefix(c.want, "OK") {
				o := r.Outgoing[0]
				if o.Chat != c.chat || o.Thread != 3 || o.Text != "" || o.File.Path != "OggS Hello." || o.File.Voice != 67*time.Second || o.File.Name != "voice.ogg" {
					t.Errorf("%+v %+v", o, o.File)
				}
			} else if len(r.Outgoing) > 0 {
				t.Error("something leaves")
			}
		})
	}
}
