package telegram_test

import (
	"context"
	"strings"
	"testing"

	"klawbot/gateway"
	"klawbot/internal/telegramtest"
)

func TestLongTextIsAFile(t *testing.T) {
	line := strings.Repeat("word ", 19) + "\n"
	for name, test := range map[string]struct {
		markdown string
		parts    int
		document bool
	}{
		"F14 five messages":            {strings.Repeat(line, 200), 5, false},
		"F14 more than five":           {strings.Repeat(line, 300), 2, true},
		"F14 a long block of code":     {"Look:\n```go\n" + strings.Repeat(line, 160) + "```\n", 2, true},
		"F14 a shorter block of code":  {"Look:\n```go\n" + strings.Repeat(line, 100) + "```\n", 3, false},
		"F14 one word without an end":  {strings.Repeat("x", 30_000), 2, true},
		"G8 larger than a file may be": {strings.Repeat(line, 20_000), 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				parts := w.Render(test.markdown)
				last := parts[len(parts)-1]
				if len(parts) != test.parts || (last.Document != nil) != test.document {
					t.Fatalf("%d parts, a document: %t", len(parts), last.Document != nil)
				}
				if !test.document {
					return
				}
				if n := len(last.Document.Content); n > gateway.MaxDocument || n < min(len(test.markdown), gateway.MaxDocument) {
					t.Errorf("the file has %d bytes of %d", n, len(test.markdown))
				}
				if n := len([]rune(parts[0].Text)); n > 700 || !strings.HasSuffix(parts[0].Text, "📄 answer.md") {
					t.Errorf("the summary has %d characters and ends with %q", n, parts[0].Text[max(0, len(parts[0].Text)-40):])
				}
			})
		})
	}
}

func TestSendDocument(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		group := int64(-100)
		question := w.fake.User(5).In(group).Send("hi")
		id, err := w.Send(t.Context(), to(group, 0), gateway.Part{
			Text: "a caption", ReplyTo: question, Silent: true, Document: &gateway.Document{Name: "a.md", Content: "# A\xff"},
		})
		if err != nil {
			t.Fatal(err)
		}
		messages := w.fake.Messages(group)
		m := messages[len(messages)-1]
		if m.ID != id || m.Text != "a caption" || m.ReplyTo != question || !m.Silent || w.fake.Document(m.Document).Name != "a.md" {
			t.Errorf("sent %+v", m)
		}
	})
	t.Run("G9 what a caption cannot hold is a message before the file", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			parts := w.Render("**" + strings.Repeat("x", 900) + "** " + strings.Repeat("and on and on ", 3000))
			for _, p := range parts {
				if _, err := w.Send(t.Context(), to(5, 0), p); err != nil {
					t.Fatal(err)
				}
			}
			if all := w.fake.Messages(5); len(all) != 2 || all[0].Document != "" || all[1].Document == "" || all[1].Text != "" {
				t.Errorf("the chat shows %+v", all)
			}
		})
	})
}

func TestDraft(t *testing.T) {
	draft := func(w *world, chat int64, text string) gateway.Failure {
		w.t.Helper()
		return w.sendError(w.Draft(context.Background(), to(chat, 0), 7, gateway.Part{Text: text, Yield: true})).Kind
	}
	t.Run("F13 a private chat has drafts, a group has none", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			if kind := draft(w, 5, ""); kind != "" {
				t.Errorf("thinking: %s", kind)
			}
			if kind := draft(w, 5, "at once"); kind != gateway.Busy {
				t.Errorf("at once: %q", kind)
			}
			pass(2e9)
			if kind := draft(w, 5, "hal\xff"); kind != "" {
				t.Errorf("later: %s", kind)
			}
			w.fake.View(func(v telegramtest.State) {
				if d := v.Draft(5); d.ID != 7 || d.Text != "hal\uFFFD" || !d.CanStop {
					t.Errorf("the chat shows %+v", d)
				}
			})
			if kind := draft(w, -100, "x"); kind != gateway.Rejected || w.fake.Count("sendMessageDraft") != 2 {
				t.Errorf("in a group: %q after %d calls", kind, w.fake.Count("sendMessageDraft"))
			}
		})
	})
	t.Run("F13 a server without drafts is asked once", func(t *testing.T) {
		inWorld(t, func(s *setup) { s.fake.NoDrafts = true }, func(t *testing.T, w *world) {
			for range 3 {
				if kind := draft(w, 5, "x"); kind != gateway.Rejected {
					t.Errorf("got %q", kind)
				}
			}
			if n := w.fake.Count("sendMessageDraft"); n != 1 {
				t.Errorf("asked %d times", n)
			}
		})
	})
	t.Run("F13 a flood holds drafts and messages back", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.Fault(telegramtest.Fault{Kind: telegramtest.FaultError, RetryAfter: 30})
			if kind := draft(w, 5, "x"); kind != gateway.Retry {
				t.Errorf("got %q", kind)
			}
			pass(10e9)
			if kind := draft(w, 5, "x"); kind != gateway.Busy {
				t.Errorf("while told to wait: %q", kind)
			}
		})
	})
}
