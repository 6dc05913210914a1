package telegram_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"klawbot/gateway"
	"klawbot/internal/telegramtest"
)

func TestSend(t *testing.T) {
	const forum = -1_000_000_000_200
	run := func(name string, test func(*testing.T, *world)) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				w.fake.AddChat(telegramtest.Chat{ID: forum, Forum: true}, telegramtest.Open)
				w.fake.AddTopic(forum, 7)
				test(t, w)
			})
		})
	}
	run("F11 a silent part does not ring; text, formatting, buttons", func(t *testing.T, w *world) {
		id, err := w.Send(t.Context(), to(5, 0), gateway.Part{
			Text: "😀 bold", Entities: []gateway.Entity{{Type: "bold", Offset: 3, Length: 4}}, Silent: true, ReplyTo: 1,
			Buttons: [][]gateway.Button{{{Text: "Yes", Data: "y"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		m := last(w, 5)
		if m.ID != id || m.Text != "😀 bold" || !m.Silent || m.ReplyTo != 0 {
			t.Errorf("sent %+v", m)
		}
		if diff := cmp.Diff([]telegramtest.Entity{{Type: "bold", Offset: 3, Length: 4}}, m.Entities); diff != "" {
			t.Error(diff)
		}
		if b, ok := m.Button("Yes"); !ok || b.Data != "y" {
			t.Errorf("buttons %+v", m.Buttons)
		}
	})
	run("F10 link previews are off", func(t *testing.T, w *world) {
		if _, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "https://example.org"}); err != nil || last(w, 5).Preview || last(w, 5).Silent {
			t.Errorf("err %v, sent %+v", err, last(w, 5))
		}
	})
	run("F7 bytes that are no text", func(t *testing.T, w *world) {
		if _, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "a\xff\x00b"}); err != nil || last(w, 5).Text != "a\uFFFD\uFFFDb" {
			t.Errorf("err %v, sent %q", err, last(w, 5).Text)
		}
	})
	run("E11 a group answer names its question", func(t *testing.T, w *world) {
		question := w.fake.User(5).In(-100).Send("@klaw_test_bot why?")
		if _, err := w.Send(t.Context(), to(-100, 0), gateway.Part{Text: "so", ReplyTo: question}); err != nil || last(w, -100).ReplyTo != question {
			t.Errorf("err %v, sent %+v", err, last(w, -100))
		}
		if err := w.fake.User(5).In(-100).Delete(question); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Send(t.Context(), to(-100, 0), gateway.Part{Text: "still", ReplyTo: question}); err != nil || last(w, -100).Text != "still" {
			t.Errorf("err %v, sent %+v", err, last(w, -100))
		}
	})
	run("E5 topic", func(t *testing.T, w *world) {
		if _, err := w.Send(t.Context(), to(forum, 7), gateway.Part{Text: "x"}); err != nil || last(w, forum).Thread != 7 {
			t.Errorf("err %v, sent %+v", err, last(w, forum))
		}
	})
	run("E8 the topic is gone: once without it", func(t *testing.T, w *world) {
		_, err := w.Send(t.Context(), to(forum, 8), gateway.Part{Text: "y"})
		if m := last(w, forum); err != nil || m.Text != "y" || m.Thread != 0 {
			t.Errorf("err %v, sent %+v", err, m)
		}
	})
	run("F4 formatting refused: the same plain, all else kept", func(t *testing.T, w *world) {
		question := w.fake.User(5).In(forum).Topic(7).Send("/x@klaw_test_bot")
		_, err := w.Send(t.Context(), to(forum, 7), gateway.Part{
			Text: "see this", Entities: []gateway.Entity{{Type: "text_link", Offset: 4, Length: 4, URL: "foo bar"}}, ReplyTo: question, Silent: true,
		})
		if m := last(w, forum); err != nil || m.Text != "see this" || m.Entities != nil || m.Thread != 7 || m.ReplyTo != question || !m.Silent {
			t.Errorf("err %v, sent %+v", err, m)
		}
	})
	run("edit, twice the same, without buttons", func(t *testing.T, w *world) {
		id, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "…", Buttons: [][]gateway.Button{{{Text: "Yes", Data: "y"}}}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.Edit(t.Context(), to(5, 0), id, gateway.Part{Text: "done"}); err != nil {
				t.Errorf("F12 %v", err)
			}
		}
		if m := last(w, 5); m.ID != id || m.Text != "done" || m.Edits != 1 || len(m.Buttons) != 0 || m.Preview {
			t.Errorf("edited %+v", m)
		}
	})
	run("delete, twice", func(t *testing.T, w *world) {
		id, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "…"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.Delete(t.Context(), to(5, 0), id); err != nil {
				t.Error(err)
			}
		}
		if !last(w, 5).Deleted {
			t.Error("not deleted")
		}
	})
}

// last is the last message of a chat.
func last(w *world, chat int64) telegramtest.Message {
	all := w.fake.Messages(chat)
	return all[len(all)-1]
}

func TestSendFailures(t *testing.T) {
	refused := func(status int, text string) telegramtest.Fault {
		return telegramtest.Fault{Kind: telegramtest.FaultError, Status: status, Description: text}
	}
	for _, tt := range []struct {
		name  string
		fault telegramtest.Fault
		want  gateway.Failure
	}{
		{"G4 reset after the write", telegramtest.Fault{Kind: telegramtest.FaultReset, Effect: true}, gateway.Ambiguous},
		{"G4 answer breaks off", telegramtest.Fault{Kind: telegramtest.FaultMalformed, Effect: true}, gateway.Ambiguous},
		{"G4 no answer", telegramtest.Fault{Kind: telegramtest.FaultHang}, gateway.Ambiguous},
		{"G5 502 from a gateway", telegramtest.Fault{Kind: telegramtest.FaultHTML}, gateway.Ambiguous},
		{"G5 500 from Telegram", refused(500, "Internal Server Error"), gateway.Ambiguous},
		{"a gateway refuses", telegramtest.Fault{Kind: telegramtest.FaultHTML, Status: 403}, gateway.Retry},
		{"G7 blocked", refused(403, "Forbidden: bot was blocked by the user"), gateway.Dead},
		{"G7 deactivated", refused(403, "Forbidden: user is deactivated"), gateway.Dead},
		{"G7 kicked", refused(403, "Forbidden: bot was kicked from the supergroup chat"), gateway.Dead},
		{"G7 not a member", refused(403, "Forbidden: bot is not a member of the channel chat"), gateway.Dead},
		{"G7 group deleted", refused(403, "Forbidden: the group chat was deleted"), gateway.Dead},
		{"G7 never started", refused(403, "Forbidden: bot can't initiate conversation with a user"), gateway.Dead},
		{"G7 chat not found", refused(400, "Bad Request: chat not found"), gateway.Dead},
		{"no rights", refused(400, "Bad Request: not enough rights to send text messages to the chat"), gateway.Muted},
		{"no right to write", refused(403, "Forbidden: CHAT_WRITE_FORBIDDEN"), gateway.Muted},
		{"closed topic", refused(400, "Bad Request: TOPIC_CLOSED"), gateway.Muted},
		{"no administrator", refused(400, "Bad Request: need administrator rights in the channel chat"), gateway.Muted},
		{"slow mode", refused(400, "Bad Request: SLOWMODE_WAIT_30"), gateway.Retry},
		{"empty text", refused(400, "Bad Request: message text is empty"), gateway.Rejected},
		{"token revoked", refused(401, "Unauthorized"), gateway.Stopped},
		{"G1 flood", telegramtest.Fault{Kind: telegramtest.FaultError, RetryAfter: 7}, gateway.Retry},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				tt.fault.Method = "sendMessage"
				w.fake.Fault(tt.fault)
				_, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "x"})
				if failed := w.sendError(err); failed.Kind != tt.want {
					t.Errorf("%v, want %s", err, tt.want)
				}
				if n := w.fake.Count("sendMessage"); n != 1 {
					t.Errorf("tried %d times", n)
				}
			})
		})
	}
	t.Run("G3 nobody listens", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			if err := w.pipe.Close(); err != nil {
				t.Fatal(err)
			}
			_, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "x"})
			if failed := w.sendError(err); failed.Kind != gateway.Retry {
				t.Error(err)
			}
		})
	})
	t.Run("E9 the group moved", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.Migrate(-100, -1_009_007_199_254)
			_, err := w.Send(t.Context(), to(-100, 0), gateway.Part{Text: "x"})
			if failed := w.sendError(err); failed.Kind != gateway.Moved || failed.MigrateTo != -1_009_007_199_254 {
				t.Errorf("I4 %v to %d", err, failed.MigrateTo)
			}
		})
	})
	t.Run("G1 flood: this chat waits, the others go on", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.Fault(telegramtest.Fault{Method: "sendMessage", Chat: 5, Kind: telegramtest.FaultError, RetryAfter: 300})
			part := gateway.Part{Text: "x", Entities: []gateway.Entity{{Type: "bold", Length: 1}}}
			_, err := w.Send(t.Context(), to(5, 0), part)
			failed := w.sendError(err)
			if failed.RetryAfter < 300*time.Second || failed.RetryAfter > 302*time.Second || w.fake.Count("sendMessage") != 1 {
				t.Errorf("retry after %v, tried %d times", failed.RetryAfter, w.fake.Count("sendMessage"))
			}
			start := time.Now()
			if _, err := w.Send(t.Context(), to(-100, 0), part); err != nil || time.Since(start) > time.Second {
				t.Errorf("another chat waited %v, %v", time.Since(start), err)
			}
			if err := w.Typing(t.Context(), to(5, 0)); err != nil || w.fake.Count("sendChatAction") != 0 {
				t.Errorf("typing into a blocked chat: %v", err)
			}
			part.Yield = true
			_, err = w.Send(t.Context(), to(5, 0), part)
			if w.sendError(err).Kind != gateway.Busy {
				t.Errorf("a yielding part: %v", err)
			}
			part.Yield = false
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = w.Send(ctx, to(5, 0), part)
			if failed := w.sendError(err); failed.Kind != gateway.Retry || failed.RetryAfter < 230*time.Second {
				t.Errorf("the caller stopped waiting: %v, retry after %v", err, failed.RetryAfter)
			}
			if _, err := w.Send(t.Context(), to(5, 0), part); err != nil || time.Since(start) < 300*time.Second {
				t.Errorf("sent after %v, %v", time.Since(start), err)
			}
		})
	})
	t.Run("edit of a message that is gone", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			foreign := w.fake.User(5).Send("mine")
			for _, id := range []int64{foreign, 999} {
				err := w.Edit(t.Context(), to(5, 0), id, gateway.Part{Text: "x"})
				if w.sendError(err).Kind != gateway.NotFound {
					t.Error(err)
				}
			}
		})
	})
	t.Run("the caller gives up before and after the write", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := w.Send(ctx, to(5, 0), gateway.Part{Text: "x"})
			if w.sendError(err).Kind != gateway.Retry || !errors.Is(err, context.Canceled) {
				t.Errorf("before: %v", err)
			}
			w.fake.Fault(telegramtest.Fault{Method: "sendMessage", Kind: telegramtest.FaultHang})
			ctx, cancel = context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err = w.Send(ctx, to(5, 0), gateway.Part{Text: "x"})
			if w.sendError(err).Kind != gateway.Ambiguous || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after: %v", err)
			}
		})
	})
}

func TestLogs(t *testing.T) {
	t.Run("I3 logs hold no message text", func(t *testing.T) {
		inWorld(t, func(s *setup) {
			s.Log = slog.New(slog.NewTextHandler(s.log, nil))
		}, func(t *testing.T, w *world) {
			w.fake.User(5).Send("canary in")
			w.serve(nil)
			w.until("it is there", func() bool { return w.texts() == "canary in" })
			_, err := w.Send(t.Context(), to(5, 0), gateway.Part{
				Text: "canary out", Entities: []gateway.Entity{{Type: "text_link", Length: 6, URL: "canary link"}},
			})
			if err != nil || !strings.Contains(w.log.String(), "without formatting") {
				t.Errorf("%v, log %s", err, w.log)
			}
		})
	})
}

func TestCourtesies(t *testing.T) {
	run := func(name string, test func(*testing.T, *world)) {
		t.Helper()
		t.Run(name, func(t *testing.T) { inWorld(t, nil, test) })
	}
	run("C5 typing is shown, and its refusal does not matter", func(t *testing.T, w *world) {
		if err := w.Typing(t.Context(), to(5, 0)); err != nil {
			t.Error(err)
		}
		w.fake.Fault(telegramtest.Fault{Method: "sendChatAction", Kind: telegramtest.FaultError, RetryAfter: 60})
		w.fake.Fault(telegramtest.Fault{Method: "sendChatAction", Kind: telegramtest.FaultError, Status: 403})
		start := time.Now()
		for range 2 {
			if err := w.Typing(t.Context(), to(5, 0)); err != nil {
				t.Error(err)
			}
		}
		if _, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "x"}); err != nil || time.Since(start) > time.Second {
			t.Errorf("the answer waited %v, %v", time.Since(start), err)
		}
		if calls := w.fake.Calls("sendChatAction"); len(calls) != 3 || calls[0].Params["action"] != "typing" {
			t.Errorf("calls %+v", calls)
		}
	})
	run("H2 a tap is answered, an old one does not matter", func(t *testing.T, w *world) {
		id, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "?", Buttons: [][]gateway.Button{{{Text: "Yes", Data: "y"}}}})
		if err != nil {
			t.Fatal(err)
		}
		query, err := w.fake.User(5).Press(id, "Yes")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := w.Answer(t.Context(), query, strings.Repeat("ä", 300)); err != nil {
				t.Error(err)
			}
		}
		w.fake.View(func(s telegramtest.State) {
			if text, ok := s.Answered(query); !ok || len([]rune(text)) != 200 {
				t.Errorf("answered %v with %q", ok, text)
			}
		})
	})
	run("I1 an error of the network keeps the token", func(t *testing.T, w *world) {
		if err := w.pipe.Close(); err != nil {
			t.Fatal(err)
		}
		w.fake.Fault(telegramtest.Fault{Kind: telegramtest.FaultReset, Times: -1})
		if err := w.Typing(t.Context(), to(5, 0)); err == nil {
			t.Error("no error")
		} else {
			w.clean(err.Error())
		}
	})
}
