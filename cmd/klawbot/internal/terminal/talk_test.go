package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"klawbot/gateway/console"
)

// TestTalkSurvivesRefusedMessage: while the disk is full a person reads so
// and can go on.
func TestTalkSurvivesRefusedMessage(t *testing.T) {
	said := 0
	bot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if said++; said == 1 {
			http.Error(w, "the message was not stored: the disk is full", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintln(w, `{"id": 7}`)
	}))
	defer bot.Close()
	var out strings.Builder
	k := &talk{client: console.NewClient(bot.Client(), bot.URL), out: &out}
	events, lines := make(chan console.Event, 1), make(chan string, 2)
	events <- console.Event{Type: console.TypeReady}
	lines <- "hello"
	lines <- "hello again"
	close(lines)
	err := k.Converse(t.Context(), lines, events)
	if want := "> ✗ the message was not stored: the disk is full\n> \n"; !errors.Is(err, errEnd) || said != 2 || out.String() != want {
		t.Errorf("%v after %d messages, shown %q, want %q", err, said, out.String(), want)
	}
}

// TestLateAnswerIsShown: a question stands between a line of a pipe and its
// answer, which comes while the talk waits for the next line. Only answers to what
// was said before the talk are dropped.
func TestLateAnswerIsShown(t *testing.T) {
	var out strings.Builder
	k := &talk{out: &out}
	events, lines := make(chan console.Event), make(chan string)
	go func() {
		events <- console.Event{Type: console.TypeMessage, ID: 10, Text: "an old answer", ReplyTo: 4, Last: true}
		events <- console.Event{Type: console.TypeMessage, ID: 11, Text: "the late answer", ReplyTo: 5, Last: true}
		close(lines)
	}()
	if _, more, err := k.next(t.Context(), lines, events, 5); err != nil || more || out.String() != "the late answer\n" {
		t.Errorf("%q, %v, %v", out.String(), more, err)
	}
}

func TestAnswerIsPrintedWhenComplete(t *testing.T) {
	var out strings.Builder
	k := &talk{out: &out}
	for _, e := range []console.Event{
		{Type: console.TypeMessage, ID: 1, Text: "…"},
		{Type: console.TypeMessage, ID: 2, Text: "a\x1b[2Jside"},
		{Type: console.TypeMessage, ID: 3, Text: "gone"},
		{Type: console.TypeDelete, ID: 3},
		{Type: console.TypeEdit, ID: 1, Text: "part one"},
		{Type: console.TypeMessage, ID: 4, Text: "part two", Last: true},
	} {
		k.show(e)
	}
	if want := "part one\na\ufffd[2Jside\npart two\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestOtherMessagesEndNoWait: reminders, notices and answers to older messages that come
// before the answer do not end the wait for it.
func TestOtherMessagesEndNoWait(t *testing.T) {
	answer := console.Event{Type: console.TypeMessage, ID: 20, Text: "the answer", ReplyTo: 7, Last: true}
	question := console.Event{Type: console.TypeMessage, ID: 12, Text: "Delete it?", Last: true, Refusal: "n"}
	for name, c := range map[string]struct {
		before       []console.Event
		one          bool // klawbot chat -m
		out, notices string
		said         []string
	}{
		"a reminder":          {[]console.Event{{Type: console.TypeMessage, ID: 10, Text: "⏰ tea", Last: true}}, true, "the answer\n", "ⓘ ⏰ tea\n", []string{"hello"}},
		"a reminder, piped":   {[]console.Event{{Type: console.TypeMessage, ID: 10, Text: "⏰ tea", Last: true}}, false, "⏰ tea\nthe answer\n", "", []string{"hello"}},
		"two notices":         {[]console.Event{{Type: console.TypeMessage, ID: 10, Text: "a", Last: true}, {Type: console.TypeMessage, ID: 11, Text: "b", Last: true}}, true, "the answer\n", "ⓘ a\nⓘ b\n", []string{"hello"}},
		"a failed notice":     {[]console.Event{{Type: console.TypeMessage, ID: 10, Text: "a", Last: true, Failed: true}}, true, "the answer\n", "ⓘ a\n", []string{"hello"}},
		"an older answer":     {[]console.Event{{Type: console.TypeMessage, ID: 10, Text: "old", ReplyTo: 6, Last: true}}, true, "the answer\n", "", []string{"hello"}},
		"an older, growing":   {[]console.Event{{Type: console.TypeMessage, ID: 10, Text: "…", ReplyTo: 6}, {Type: console.TypeEdit, ID: 10, Text: "old", ReplyTo: 6, Last: true}}, true, "the answer\n", "", []string{"hello"}},
		"in the middle of it": {[]console.Event{{Type: console.TypeMessage, ID: 20, Text: "…", ReplyTo: 7}, {Type: console.TypeMessage, ID: 10, Text: "⏰ tea", Last: true}}, true, "the answer\n", "ⓘ ⏰ tea\n", []string{"hello"}},
		"a question":          {[]console.Event{question}, true, "the answer\n", "ⓘ Delete it?\n", []string{"hello", "n"}},
		"a question, piped":   {[]console.Event{question}, false, "Delete it?\nthe answer\n", "", []string{"hello", "y"}},
		"commands to escape":  {[]console.Event{{Type: console.TypeMessage, ID: 10, Text: "a\x1b[2J", Last: true}}, true, "the answer\n", "ⓘ a\ufffd[2J\n", []string{"hello"}},
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			began, all := make(chan bool), make(chan bool) // closed when something, and everything, was said
			bot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m struct{ Text string }
				if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
					t.Error(err)
				}
				said = append(said, m.Text)
				if len(said) == 1 {
					close(began)
				}
				if len(said) == len(c.said) {
					close(all)
				}
				w.WriteHeader(http.StatusAccepted)
				fmt.Fprintf(w, `{"id": %d}`, 6+len(said))
			}))
			defer bot.Close()
			var out, notices strings.Builder
			k := &talk{client: console.NewClient(bot.Client(), bot.URL), out: &out}
			events, lines := make(chan console.Event), make(chan string, 2)
			lines <- "hello"
			if c.one {
				k.notices, k.refuses = &notices, true
			} else if c.before[0].Refusal != "" {
				lines <- "y"
			}
			close(lines)
			go func() {
				events <- console.Event{Type: console.TypeReady}
				<-began
				for _, e := range c.before {
					events <- e
				}
				<-all
				events <- answer
			}()
			if err := k.recite(t.Context(), lines, events); !errors.Is(err, errEnd) {
				t.Error(err)
			}
			if out.String() != c.out || notices.String() != c.notices || !slices.Equal(said, c.said) {
				t.Errorf("shown %q and %q, said %q", out.String(), notices.String(), said)
			}
		})
	}
}
