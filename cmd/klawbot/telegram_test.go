package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
	"klawbot/tools"
)

// The tests of this file are rows of the table of what the bot does in Telegram,
// each as the people in the chat see it. Their names begin with the row.

// slowTool takes its time.
type slowTool time.Duration

func (s slowTool) Spec() tools.Spec {
	return tools.Spec{Name: "slow", Group: tools.GroupRuntime, Timeout: 5 * time.Minute, Texts: map[string]tools.Text{
		"en": {Description: "Waits.", Parameters: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)},
		"ru": {Description: "Ждёт.", Parameters: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)},
	}}
}

func (s slowTool) Run(ctx context.Context, _ tools.Call) tools.Result {
	select {
	case <-time.After(time.Duration(s)):
		return tools.OK("waited")
	case <-ctx.Done():
		return tools.Fail(tools.Timeout, "stopped")
	}
}

// slowAnswer streams an answer of many pieces, one a second.
func slowAnswer(pieces int) modeltest.Reply {
	r := modeltest.Text(strings.Repeat("word ", pieces))
	r.Pieces, r.PieceDelay = pieces, time.Second
	return r
}

// draft is what a chat shows of a growing answer.
func (b *bubble) draft(chat int64) (d telegramtest.Preview) {
	b.telegram.View(func(v telegramtest.State) { d = v.Draft(chat) })
	return d
}

func TestC3StopButtonOfADraft(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.settings.Streaming["telegram"] = settings.StreamDraft
		b.model.Respond(func(modeltest.Request) modeltest.Reply { return slowAnswer(60) })
		b.start()
		b.telegram.User(anna).Send("tell me")
		b.until("the draft grows", func() bool { return strings.Count(b.draft(anna).Text, "word") > 3 })
		if !b.telegram.User(anna).StopDraft() {
			t.Fatal("the draft has no stop button")
		}
		began := time.Now()
		b.until("it is stopped", func() bool { return len(b.shows(anna)) == 2 && b.idle() })
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("stopping took %v", took)
		}
		all := strings.Join(b.shows(anna), "|")
		if !strings.Contains(all, "word") || !strings.Contains(all, "⏹ stopped here") || !strings.Contains(all, "Stopped.") {
			t.Errorf("the chat shows %q", all)
		}
	})
}

func TestC7LongToolIsNamed(t *testing.T) {
	for _, streaming := range []string{settings.StreamEdit, settings.StreamOff, settings.StreamDraft} {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.settings.Streaming["telegram"] = streaming
			b.tools = []tools.Tool{slowTool(35 * time.Second)}
			b.model.Push(modeltest.CallTool("slow", map[string]any{}), modeltest.Text("ready"))
			b.start()
			b.telegram.User(anna).Send("go")
			for _, want := range []string{"… (slow, 10 s)", "… (slow, 20 s)", "… (slow, 30 s)"} {
				b.until(want, func() bool { return b.says(anna, want)() || b.draft(anna).Text == want })
			}
			b.until("the answer", b.says(anna, "ready"))
			if all := b.shows(anna); len(all) != 1 {
				t.Errorf("streaming %s: the chat shows %q", streaming, all)
			}
		})
	}
}

func TestD2ForwardAndItsComment(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.settings.Debounce = 100 * time.Millisecond
		b.start()
		b.telegram.User(anna).Post(telegramtest.Draft{Text: "the news", Forward: "Paper"})
		<-time.After(400 * time.Millisecond)
		b.telegram.User(anna).Send("what do you think?")
		b.until("one answer to both", b.says(anna, "re: what do you think?"))
		if n := len(b.model.Completions()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		asked := conversation(b.model.Completions()[0])
		if !strings.Contains(asked, "[forwarded from Paper]") || !strings.Contains(asked, "the news") {
			t.Errorf("the model got %s", asked)
		}
		// The wait for a comment ends.
		b.telegram.User(anna).Post(telegramtest.Draft{Text: "alone", Forward: "Paper"})
		began := time.Now()
		b.until("an answer", func() bool { return len(b.shows(anna)) == 2 && b.idle() })
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("a lone forward waited %v", took)
		}
	})
}

// push hands the bot a raw message of Anna.
func (b *bubble) push(id int, content string) {
	b.t.Helper()
	_, err := b.telegram.Push(fmt.Sprintf(`{"message":{"message_id":%d,"date":1,"chat":{"id":11,"type":"private"},"from":{"id":11,"first_name":"Anna"},%s}}`, 1000+id, content))
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestD3AlbumIsOneTurn(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.start()
		var data bytes.Buffer
		if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
			t.Fatal(err)
		}
		photo := b.telegram.AddFile(telegramtest.File{Name: "a.png", Data: data.Bytes()})
		for i := range 3 {
			b.push(i, fmt.Sprintf(`"media_group_id":"7","photo":[{"file_id":%q,"width":30,"height":20}],"caption":"picture %d"`, photo, i))
			<-time.After(300 * time.Millisecond)
		}
		b.until("an answer", func() bool { return len(b.shows(anna)) > 0 && b.idle() })
		if all, n := b.shows(anna), len(b.model.Completions()); len(all) != 1 || n != 1 || !strings.Contains(all[0], "[photo inbox/") || !strings.Contains(all[0], "]\npicture 2") {
			t.Errorf("%d calls, the chat shows %q", n, all)
		}
	})
}

func TestD7VoiceIsAnswered(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.start()
		for i, content := range []string{`"voice":{"file_id":"v","duration":3}`, `"video_note":{"file_id":"v","length":1,"duration":3}`, `"audio":{"file_id":"a","duration":3}`} {
			b.push(i, content)
			b.until("one sentence", func() bool { return len(b.shows(anna)) == i+1 })
		}
		for _, text := range b.shows(anna) {
			if text != "I can't hear voice messages yet; please write. To set it up: klawbot assets pull --speech" {
				t.Errorf("the chat shows %q", text)
			}
		}
		if n := len(b.model.Completions()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
		b.push(7, `"voice":{"file_id":"v","duration":3},"caption":"with words"`)
		b.until("words are answered", func() bool { return strings.Contains(strings.Join(b.shows(anna), "|"), "with words") })
	})
}

func TestD10D11OriginAndFormattingReachTheModel(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.start()
		b.push(1, `"text":"see this: x()","entities":[{"type":"text_link","offset":4,"length":4,"url":"https://a.b/"},{"type":"code","offset":10,"length":3}],
			"forward_origin":{"type":"user","date":1,"sender_user":{"id":7,"first_name":"Carl"}}`)
		b.until("an answer", func() bool { return len(b.shows(anna)) > 0 && b.idle() })
		if got := saidLast(b.model.Completions()[0]); got != "[forwarded from Carl]\nsee [this](https://a.b/): `x()`" {
			t.Errorf("the model got %q", got)
		}
	})
}

// TestD9ReplyToAMessageThatIsGone: Telegram sends neither its author nor its text.
func TestD9ReplyToAMessageThatIsGone(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.start()
		b.push(1, `"text":"why?","reply_to_message":{"message_id":3,"date":0,"chat":{"id":11,"type":"private"}}`)
		b.until("an answer", func() bool { return len(b.shows(anna)) > 0 && b.idle() })
		if got := saidLast(b.model.Completions()[0]); got != "[in reply to a message that cannot be read]\nwhy?" {
			t.Errorf("the model got %q", got)
		}
	})
}

func TestE9MovedGroup(t *testing.T) {
	const moved = int64(-1000000000100)
	t.Run("E9 by the service message", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.start()
			b.telegram.User(anna).In(family).Send("@klaw_test_bot one")
			b.until("an answer", b.says(family, "re: [User 11] one"))
			b.telegram.Migrate(family, moved)
			b.telegram.User(anna).In(moved).Send("@klaw_test_bot two")
			b.until("an answer there", b.says(moved, "re: [User 11] two"))
			last := b.model.Completions()[1]
			if text := conversation(last); !strings.Contains(text, "re: [User 11] one") {
				t.Errorf("the conversation did not move along: %s", text)
			}
			if !slices.Equal(b.migrated, []int64{family, moved}) {
				t.Errorf("migrated %v", b.migrated)
			}
		})
	})
	t.Run("E9 by the refusal of a send, which is repeated once", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.model.Respond(func(modeltest.Request) modeltest.Reply {
				r := modeltest.Text("late")
				r.Delay = 10 * time.Second
				return r
			})
			b.start()
			b.telegram.User(anna).In(family).Send("@klaw_test_bot one")
			b.until("it works", b.says(family, "…"))
			b.telegram.Migrate(family, moved)
			b.until("the answer comes to the new chat", b.says(moved, "late"))
			<-time.After(time.Minute)
			if all := b.shows(moved); len(all) != 1 {
				t.Errorf("the new chat shows %q", all)
			}
		})
	})
}

func TestE10LostChat(t *testing.T) {
	const told = "I can't reach chat telegram_11 (User 11)"
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.model.Respond(func(r modeltest.Request) modeltest.Reply {
			if saidLast(r) == "slow" {
				return slowAnswer(10_000)
			}
			return modeltest.Text("re: " + saidLast(r))
		})
		b.start()
		b.telegram.User(anna).Send("hi")
		b.until("an answer", b.says(anna, "re: hi"))
		b.telegram.User(anna).Send("slow")
		b.until("it works", func() bool { return len(b.shows(anna)) == 2 })
		b.telegram.User(anna).Block()
		b.until("the turn ends, nothing waits", b.idle)
		b.until("the owner is told", func() bool { return len(b.shows(bruno)) == 1 })
		if text := b.shows(bruno)[0]; !strings.HasPrefix(text, told) {
			t.Errorf("the owner is told %q", text)
		}
		<-time.After(time.Hour)
		if all := b.shows(bruno); len(all) != 1 {
			t.Errorf("the owner is told %q", all)
		}
		b.telegram.User(anna).Send("back again") // unblocks
		b.until("it works again", b.says(anna, "re: back again"))
	})
	t.Run("E10 by the refusal of a send", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.start()
			b.telegram.User(anna).Send("hi")
			b.until("an answer", b.says(anna, "re: hi"))
			b.telegram.User(anna).Send("one")
			b.telegram.Deny(anna, telegramtest.Deactivated)
			b.until("the owner is told", func() bool { return len(b.shows(bruno)) == 1 && b.idle() })
			sends := b.telegram.Count("sendMessage")
			<-time.After(time.Hour)
			if n := b.telegram.Count("sendMessage"); n != sends || !strings.HasPrefix(b.shows(bruno)[0], told) {
				t.Errorf("%d more sends, the owner is told %q", n-sends, b.shows(bruno))
			}
			b.model.Push(modeltest.CallTool("send_message", map[string]any{"channel": "telegram", "chatId": "11", "text": "dinner"}))
			b.telegram.User(bruno).Send("tell Anna")
			b.until("it answers", func() bool { return len(b.shows(bruno)) == 2 && b.idle() })
			if result := b.model.Completions()[len(b.model.Completions())-1].Last().Text(); !strings.HasPrefix(result, "Error: telegram_11 can't be reached: ") {
				t.Errorf("the model is told %q", result)
			}
		})
	})
}

func TestE11TriggerIsDeleted(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.settings.Streaming["telegram"] = settings.StreamOff
		b.model.Respond(func(modeltest.Request) modeltest.Reply {
			r := modeltest.Text("late")
			r.Delay = 5 * time.Second
			return r
		})
		b.start()
		id := b.telegram.User(anna).In(family).Send("@klaw_test_bot hi")
		b.until("the model is asked", func() bool { return len(b.model.Completions()) == 1 })
		if err := b.telegram.User(anna).In(family).Delete(id); err != nil {
			t.Fatal(err)
		}
		b.until("the answer is delivered", b.says(family, "late"))
	})
}

func TestE12ChannelPostIsIgnored(t *testing.T) {
	const channel = int64(-1000000000200)
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.chats = append(b.chats, channel)
		b.start()
		b.telegram.AddChat(telegramtest.Chat{ID: channel, Type: "channel", Title: "News"}, telegramtest.Open)
		_, err := b.telegram.Push(fmt.Sprintf(`{"channel_post":{"message_id":1,"date":1,"chat":{"id":%d,"type":"channel","title":"News"},"text":"@klaw_test_bot hi"}}`, channel))
		if err != nil {
			t.Fatal(err)
		}
		b.telegram.User(anna).Send("hi")
		b.until("the next one is answered", b.says(anna, "re: hi"))
		if all := b.shows(channel); len(all)+len(b.model.Completions()) != 1 {
			t.Errorf("the channel shows %q after %d calls", all, len(b.model.Completions()))
		}
	})
}

func TestF13Drafts(t *testing.T) {
	t.Run("F13 in a private chat: a draft, then a message", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.settings.Streaming["telegram"] = settings.StreamDraft
			b.model.Respond(func(modeltest.Request) modeltest.Reply { return slowAnswer(12) })
			b.start()
			b.telegram.User(anna).Send("tell me")
			b.until("the draft grows", func() bool { return strings.Count(b.draft(anna).Text, "word") > 5 })
			if all := b.shows(anna); len(all) != 0 {
				t.Errorf("beside the draft the chat shows %q", all)
			}
			b.until("the answer", func() bool { return len(b.shows(anna)) == 1 && b.draft(anna).ID == 0 })
			if n := b.telegram.Count("editMessageText"); n != 0 || strings.Count(b.shows(anna)[0], "word") != 12 {
				t.Errorf("%d edits, the chat shows %q", n, b.shows(anna))
			}
		})
	})
	t.Run("F13 in a group, and on a server without: edits", func(t *testing.T) {
		inBubble(t, telegramtest.Config{NoDrafts: true}, func(t *testing.T, b *bubble) {
			b.settings.Streaming["telegram"] = settings.StreamDraft
			b.model.Respond(func(modeltest.Request) modeltest.Reply { return slowAnswer(12) })
			b.start()
			b.telegram.User(anna).Send("one")
			b.telegram.User(anna).In(family).Send("@klaw_test_bot two")
			for _, chat := range []int64{anna, family} {
				b.until("the answer", func() bool { all := b.shows(chat); return len(all) == 1 && strings.Count(all[0], "word") == 12 })
			}
			b.telegram.User(anna).Send("three")
			b.until("the answer", func() bool { return len(b.shows(anna)) == 2 && b.idle() })
			if n := b.telegram.Count("sendMessageDraft"); n != 1 || b.telegram.Count("editMessageText") < 6 {
				t.Errorf("%d drafts were tried, %d edits", n, b.telegram.Count("editMessageText"))
			}
		})
	})
	t.Run("F13 a draft does not fade while the model thinks", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.settings.Streaming["telegram"], b.settings.Models.Timeout = settings.StreamDraft, 5*time.Minute
			b.model.Respond(func(modeltest.Request) modeltest.Reply {
				r := modeltest.Text("at last")
				r.Delay = 100 * time.Second
				return r
			})
			b.start()
			b.telegram.User(anna).Send("think")
			b.until("the answer", b.says(anna, "at last"))
			calls := b.telegram.Calls("sendMessageDraft")
			for i := 1; i < len(calls); i++ {
				if gap := calls[i].Time.Sub(calls[i-1].Time); gap > 25*time.Second {
					t.Errorf("the draft was left alone for %v", gap)
				}
			}
			if len(calls) < 5 {
				t.Errorf("%d drafts in 100 s", len(calls))
			}
		})
	})
	t.Run("F13 before something is changed: a message that stays", func(t *testing.T) {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.settings.Streaming["telegram"] = settings.StreamDraft
			b.tools = []tools.Tool{changing{slowTool(4 * time.Second)}}
			b.model.Push(modeltest.CallTool("slow", map[string]any{}), modeltest.Text("ready"))
			b.start()
			b.telegram.User(anna).Send("go")
			b.until("a placeholder", b.says(anna, "…"))
			b.until("it becomes the answer", b.says(anna, "ready"))
			if all := b.shows(anna); len(all) != 1 {
				t.Errorf("the chat shows %q", all)
			}
		})
	})
}

// changing is a slow tool that changes something.
type changing struct{ slowTool }

func (c changing) Spec() tools.Spec {
	s := c.slowTool.Spec()
	s.Changes = true
	return s
}

func TestF14LongAnswerIsAFile(t *testing.T) {
	long := "# Report\n\n" + strings.Repeat("A sentence of the report that goes on and on. ", 600)
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Text: long, Delay: time.Second} })
		b.start()
		b.telegram.User(anna).Send("report")
		b.until("the answer", func() bool { return len(b.shows(anna)) == 2 && b.idle() })
		all := b.telegram.Messages(anna)
		summary, document := all[len(all)-2], all[len(all)-1]
		if summary.Edits == 0 || !strings.HasPrefix(summary.Text, "Report\n") || !strings.HasSuffix(summary.Text, "📄 answer.md") || len(summary.Text) > 800 {
			t.Errorf("the summary is %q", summary.Text)
		}
		if got := b.telegram.Document(document.Document); got.Name != "answer.md" || strings.TrimSpace(string(got.Data)) != strings.TrimSpace(long) {
			t.Errorf("the file is %q with %d bytes, want %d", got.Name, len(got.Data), len(long))
		}
		// G9: what a caption cannot hold is a message of its own.
		if document.Text != "" {
			t.Errorf("the caption is %q", document.Text)
		}
	})
}

func TestG4LostAnswerOfASend(t *testing.T) {
	for hold, want := range map[bool]string{false: "re: hi|↻ re: hi", true: "re: hi"} {
		inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
			b.settings.Streaming["telegram"], b.settings.HoldAmbiguous = settings.StreamOff, hold
			b.telegram.Fault(telegramtest.Fault{Method: "sendMessage", Kind: telegramtest.FaultReset, Effect: true, Times: 9})
			b.start()
			b.telegram.User(anna).Send("hi")
			b.until("it is settled", func() bool { return b.telegram.Count("sendMessage") > 0 && b.idle() })
			<-time.After(time.Hour)
			if got := strings.Join(b.shows(anna), "|"); got != want {
				t.Errorf("hold %t: the chat shows %q, want %q", hold, got, want)
			}
		})
	}
}

func TestG4EditsAreRepeatedFreely(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.telegram.Fault(telegramtest.Fault{Method: "editMessageText", Kind: telegramtest.FaultReset, Effect: true, Times: 7})
		b.model.Push(modeltest.Reply{Text: "re: hi", Delay: time.Second})
		b.start()
		b.telegram.User(anna).Send("hi")
		b.until("it is settled", func() bool { return b.telegram.Count("editMessageText") == 8 && b.idle() })
		if all := b.shows(anna); len(all) != 1 || all[0] != "re: hi" {
			t.Errorf("the chat shows %q", all)
		}
	})
}

func TestG5ServerErrors(t *testing.T) {
	for _, kind := range []telegramtest.FaultKind{telegramtest.FaultError, telegramtest.FaultHTML} {
		for failures, want := range map[int]string{1: "↻ re: hi", 3: "↻ re: hi", 4: ""} {
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				b.settings.Streaming["telegram"] = settings.StreamOff
				b.telegram.Fault(telegramtest.Fault{Method: "sendMessage", Kind: kind, Status: 502, Times: failures})
				b.start()
				b.telegram.User(anna).Send("hi")
				b.until("it is settled", func() bool { return b.telegram.Count("sendMessage") >= min(failures+1, 4) && b.idle() })
				<-time.After(time.Hour)
				if got, n := strings.Join(b.shows(anna), "|"), b.telegram.Count("sendMessage"); got != want || n != min(failures+1, 4) {
					t.Errorf("%s, %d failures: %d sends, the chat shows %q, want %q", kind, failures, n, got, want)
				}
			})
		}
	}
}

func TestG10CourtesiesBlockNothing(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		for _, method := range []string{"sendChatAction", "setMyCommands", "setMessageReaction"} {
			b.telegram.Fault(telegramtest.Fault{Method: method, Kind: telegramtest.FaultHang, Times: -1})
		}
		b.model.Respond(func(modeltest.Request) modeltest.Reply { return slowAnswer(3) })
		b.start()
		began := time.Now()
		b.telegram.User(anna).Send("hi")
		b.until("the answer", func() bool { return strings.Count(strings.Join(b.shows(anna), ""), "word") == 3 && b.idle() })
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the answer took %v", took)
		}
	})
}

func TestG11FailureIsOneSentence(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		for i, fault := range []modeltest.Reply{
			modeltest.Error(500, "goroutine 1 [running]: "+canaryKey), modeltest.Error(401, "bad key "+canaryKey), {Fault: modeltest.Malformed},
		} {
			b.model.Respond(func(modeltest.Request) modeltest.Reply { return fault })
			if i == 0 {
				b.start()
			}
			b.telegram.User(anna).Send("hi")
			b.until("a sentence", func() bool { return len(b.shows(anna)) == i+1 && b.idle() })
			text := b.shows(anna)[i]
			if strings.Contains(text, "\n") || len(text) > 200 || strings.Contains(text, "canary") || strings.Contains(text, "goroutine") || text == "…" {
				t.Errorf("the person reads %q", text)
			}
		}
	})
}

func TestH10UnknownCommand(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.start()
		b.telegram.User(anna).Send("/frobnicate now")
		b.until("a line of help", b.says(anna, "Unknown command: /frobnicate. See /help."))
		if n := len(b.model.Completions()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

// TestH10UnknownCommandInAGroup: others may obey a command that names no bot.
func TestH10UnknownCommandInAGroup(t *testing.T) {
	inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
		b.start()
		for _, text := range []string{"/frobnicate", "/frobnicate@other_bot", "/frobnicate@klaw_test_bot now"} {
			b.telegram.User(anna).In(family).Send(text)
		}
		b.until("a line of help", b.says(family, "Unknown command: /frobnicate. See /help."))
		b.until("it rests", b.idle)
		if all, n := b.shows(family), len(b.model.Completions()); len(all) != 1 || n != 0 {
			t.Errorf("the group reads %q, and the model was asked %d times", all, n)
		}
	})
}
