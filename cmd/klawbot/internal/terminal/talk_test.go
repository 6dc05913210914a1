package terminal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"klawbot/gateway/console"
)

func TestAnswerGrowsInATerminal(t *testing.T) {
	var out strings.Builder
	k := &talk{out: &out, live: true}
	var last bool
	for _, e := range []console.Event{
		{Type: console.TypeReady},
		{Type: console.TypeMessage, ID: 1, Text: "…"},
		{Type: console.TypeEdit, ID: 1, Text: "Hel…"},
		{Type: console.TypeEdit, ID: 1, Text: "Hello the…"},
		{Type: console.TypeMessage, ID: 2, Text: "by the way"},
		{Type: console.TypeEdit, ID: 1, Text: "Hello there.", Last: true},
	} {
		last = k.show(e)
	}
	if want := "\rHello the\n\rby the way\n\rHello there.\n"; out.String() != want || !last {
		t.Errorf("got %q, %v, want %q", out.String(), last, want)
	}
}

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
		{Type: console.TypeMessage, ID: 4, Text: "part two", ReplyTo: 1, Last: true},
	} {
		k.show(e)
	}
	if want := "part one\na\ufffd[2Jside\npart two\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestAnswerComesAfterNotices: a reminder or a notice ends no wait for an answer.
func TestAnswerComesAfterNotices(t *testing.T) {
	for name, c := range map[string]struct {
		events []console.Event
		want   string
		err    error
	}{
		"a reminder first": {[]console.Event{
			{Type: console.TypeMessage, ID: 1, Text: "⏰ Tea", Last: true},
			{Type: console.TypeMessage, ID: 2, Text: "the answer", ReplyTo: 7, Last: true},
		}, "⏰ Tea\nthe answer\n", errEnd},
		"a notice while the answer grows": {[]console.Event{
			{Type: console.TypeMessage, ID: 1, Text: "…", ReplyTo: 7},
			{Type: console.TypeEdit, ID: 1, Text: "the ans", ReplyTo: 7},
			{Type: console.TypeMessage, ID: 2, Text: "A notice", Last: true},
			{Type: console.TypeEdit, ID: 1, Text: "the answer", ReplyTo: 7, Last: true},
		}, "A notice\nthe answer\n", errEnd},
		"an answer with a file": {[]console.Event{
			{Type: console.TypeMessage, ID: 1, Text: "here it is", ReplyTo: 7},
			{Type: console.TypeMessage, ID: 2, Text: "[file a.txt]", ReplyTo: 7, Last: true},
		}, "here it is\n[file a.txt]\n", errEnd},
		"a question": {[]console.Event{
			{Type: console.TypeMessage, ID: 1, Text: "Run it?", Asks: true, Last: true},
		}, "Run it?\n", errEnd},
		"a failure after a failed reminder": {[]console.Event{
			{Type: console.TypeMessage, ID: 1, Text: "Schedule failed", Last: true, Failed: true},
			{Type: console.TypeMessage, ID: 2, Text: "the answer", ReplyTo: 7, Last: true},
		}, "Schedule failed\nthe answer\n", errEnd},
		"the answer failed": {[]console.Event{
			{Type: console.TypeMessage, ID: 1, Text: "⏰ Tea", Last: true},
			{Type: console.TypeMessage, ID: 2, Text: "sorry", ReplyTo: 7, Last: true, Failed: true},
		}, "⏰ Tea\nsorry\n", ErrFailed},
	} {
		t.Run(name, func(t *testing.T) {
			bot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusAccepted)
				fmt.Fprintln(w, `{"id": 7}`)
			}))
			defer bot.Close()
			var out strings.Builder
			k := &talk{client: console.NewClient(bot.Client(), bot.URL), out: &out}
			events, lines := make(chan console.Event, 9), make(chan string, 1)
			events <- console.Event{Type: console.TypeReady}
			lines <- "hello"
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			go func() {
				for len(lines) > 0 {
					runtime.Gosched()
				}
				for _, e := range c.events {
					events <- e
				}
				close(lines)
			}()
			if err := k.recite(ctx, lines, events); !errors.Is(err, c.err) || out.String() != c.want {
				t.Errorf("%v, shown %q, want %q", err, out.String(), c.want)
			}
		})
	}
}
