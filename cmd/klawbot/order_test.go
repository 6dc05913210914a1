package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// inParts is an answer about a task that comes as so many messages. Each says whose
// part it is.
func inParts(task string, parts int) string {
	var all []string
	for i := range parts {
		all = append(all, fmt.Sprintf("%s part %d %s", task, i+1, strings.Repeat("x", 3000)))
	}
	return strings.Join(all, "\n\n")
}

// partName finds the last task that a message names, and which part it is.
var partName = regexp.MustCompile(`^(?:↻ )?(?:done \d+\. )*(?:done|side) (\d+)\.?(?: part (\d+))?`)

// disorder names the messages of a chat that stand behind one of a later turn, or
// behind a later part of their own.
func disorder(all []telegramtest.Message) (late []string) {
	last, name := [2]int{-1, 0}, ""
	for _, m := range all {
		found := partName.FindStringSubmatch(m.Text)
		if !m.Bot || m.Deleted || found == nil {
			continue
		}
		task, _ := strconv.Atoi(found[1])
		part, _ := strconv.Atoi(found[2]) // 0 when there is only one
		at := [2]int{task, part}
		if slices.Compare(at[:], last[:]) < 0 {
			late = append(late, fmt.Sprintf("%q behind %q", found[0], name))
			continue
		}
		last, name = at, found[0]
	}
	return late
}

// TestPartsOfTwoAnswers: long answers, and a message while each is worked on. Whatever
// delays a part of one answer, nothing of the next stands before it.
func TestPartsOfTwoAnswers(t *testing.T) {
	for name, hit := range map[string]telegramtest.Fault{
		"nothing fails":        {},
		"a part has to wait":   {Method: "sendMessage", Times: 1, Kind: telegramtest.FaultError, RetryAfter: 3},
		"a part is in doubt":   {Method: "sendMessage", Times: 1, Kind: telegramtest.FaultReset},
		"the server fails":     {Method: "sendMessage", Times: 3, Kind: telegramtest.FaultHTML},
		"the edits are slow":   {Method: "editMessageText", Times: 9, Kind: telegramtest.FaultDelay, Delay: 2 * time.Second},
		"the edits are lost":   {Method: "editMessageText", Times: 3, Kind: telegramtest.FaultReset},
		"the edit is refused":  {Method: "editMessageText", Times: 9, Kind: telegramtest.FaultError, Status: 400, Description: "Bad Request: MESSAGE_TOO_LONG"},
		"the message has gone": {Method: "editMessageText", Times: 9, Kind: telegramtest.FaultError, Status: 400, Description: "Bad Request: message to edit not found"},
	} {
		for _, streaming := range []string{settings.StreamEdit, settings.StreamDraft, settings.StreamOff} {
			t.Run(name+"/"+streaming, func(t *testing.T) {
				inBubble(t, telegramtest.Config{Network: telegramtest.UsualNetwork}, func(t *testing.T, b *bubble) {
					b.settings.Streaming["telegram"] = streaming
					partsOfAnswers(t, b, hit)
				})
			})
		}
	}
}

func partsOfAnswers(t *testing.T, b *bubble, hit telegramtest.Fault) {
	const answers, parts = 3, 3
	b.model.Respond(func(r modeltest.Request) modeltest.Reply {
		reply := modeltest.Text(inParts(saidLast(r), parts))
		reply.Delay, reply.PieceDelay = time.Second, time.Second
		return reply
	})
	b.telegram.Inject(func(c telegramtest.Call) *telegramtest.Fault {
		if hit.Times == 0 || c.Method != hit.Method || !strings.Contains(c.Params["text"], "done 1 part") {
			return nil
		}
		hit.Times--
		return &hit
	})
	b.start()
	for n := range answers {
		b.telegram.User(anna).Send(fmt.Sprintf("done %d", n))
		b.until("it is worked on", func() bool { return len(b.model.Completions()) > n })
	}
	b.until("everything is answered", func() bool { return b.idle() && len(b.shows(anna)) >= answers*parts })
	all := b.telegram.Messages(anna)
	if late := disorder(all); len(late) > 0 {
		t.Errorf("out of order: %q", late)
	}
	for n := range answers * parts {
		if want := fmt.Sprintf("done %d part %d ", n/parts, n%parts+1); !strings.Contains(strings.Join(b.shows(anna), "\n"), want) {
			t.Errorf("the chat misses %q", want)
		}
	}
	if gone := strings.Contains(hit.Description, "not found"); !gone && slices.Contains(b.shows(anna), "…") {
		t.Error("a placeholder is left")
	}
}

// TestPartsOfTwoAnswersOfAProcess is the same with the real program on real sockets.
func TestPartsOfTwoAnswersOfAProcess(t *testing.T) {
	t.Parallel() // it mostly waits
	const answers, parts, chat = 5, 3, 11
	r := newRig(t, settings.StreamEdit, chat)
	r.model.Respond(func(q modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: inParts(saidLast(q), parts), PieceDelay: time.Second} // its beginning keeps the next message from joining
	})
	b := r.start("")
	for n := range answers {
		r.telegram.User(chat).Send(fmt.Sprintf("done %d", n))
		r.wait(b, "it is worked on", func(telegramtest.State) bool { return len(r.model.Completions()) > n })
	}
	r.wait(b, "everything is answered", func(v telegramtest.State) bool {
		return strings.Contains(v.Transcript(chat), fmt.Sprintf("done %d part %d ", answers-1, parts))
	})
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	all := r.telegram.Messages(chat)
	if late := disorder(all); len(late) > 0 || len(all) != answers*(parts+1) {
		t.Errorf("%d messages, out of order: %q", len(all), late)
	}
}

// TestSentFileKeepsItsOrder: a file that Telegram does not take comes as
// messages, before the answer that waits behind it already.
func TestSentFileKeepsItsOrder(t *testing.T) {
	long := strings.Repeat("A sentence of the report that goes on and on.\n", 600)
	inBubble(t, telegramtest.Config{Network: telegramtest.UsualNetwork}, func(t *testing.T, b *bubble) {
		b.model.Push(modeltest.Text(long), modeltest.Text("the next answer"))
		b.telegram.Fault(telegramtest.Fault{Method: "sendDocument", Kind: telegramtest.FaultError, RetryAfter: 5})
		b.telegram.Fault(telegramtest.Fault{Method: "sendDocument", Kind: telegramtest.FaultError, Status: 400, Description: "Bad Request: PHOTO_EXT_INVALID"})
		b.start()
		b.telegram.User(anna).Send("report")
		b.until("the beginning", func() bool { return len(b.shows(anna)) == 1 })
		b.telegram.User(anna).Send("and now?")
		b.until("everything is answered", func() bool { return b.idle() && len(b.shows(anna)) > 2 })
		all := b.shows(anna)
		if last := all[len(all)-1]; last != "the next answer" || len(all) < 5 {
			t.Errorf("the last of %d messages is %q", len(all), last)
		}
	})
}

// TestNothingStandsBetweenTheParts: what is said while a turn is at work stands above its
// answer.
func TestNothingStandsBetweenTheParts(t *testing.T) {
	for parts, want := range map[int][]string{1: {"Nothing", "done 0 part 1"}, 3: {"Nothing", "done 0 part 1", "done 0 part 2", "done 0 part 3"}} {
		inBubble(t, telegramtest.Config{Network: telegramtest.UsualNetwork}, func(t *testing.T, b *bubble) {
			b.model.Push(modeltest.Reply{Text: inParts("done 0", parts), Delay: 4 * time.Second})
			b.start()
			b.telegram.User(anna).Send("go")
			b.until("a placeholder", b.says(anna, "…"))
			b.telegram.User(anna).Send("/status")
			b.until("it is answered", func() bool { return len(b.shows(anna)) == len(want) && b.idle() })
			for i, text := range b.shows(anna) {
				if strings.HasPrefix(text, "done") != strings.HasPrefix(want[i], "done") || strings.HasPrefix(text, "done") && !strings.HasPrefix(text, want[i]) {
					t.Errorf("message %d of %d is %.40q, want %q", i, len(want), text, want[i])
				}
			}
		})
	}
}

// TestTextComesSoon: of an answer that has begun at 0.3 s the first words stand there
// at 0.7 s, wherever it grows.
func TestTextComesSoon(t *testing.T) {
	for _, streaming := range []string{settings.StreamEdit, settings.StreamDraft} {
		for _, chat := range []int64{anna, family} {
			t.Run(fmt.Sprint(streaming, " ", chat), func(t *testing.T) {
				inBubble(t, telegramtest.Config{Network: telegramtest.UsualNetwork}, func(t *testing.T, b *bubble) {
					b.settings.Streaming["telegram"] = streaming
					b.model.Push(modeltest.Reply{Text: strings.Repeat("one two ", 50), Pieces: 50, Delay: 300 * time.Millisecond, PieceDelay: 100 * time.Millisecond})
					b.start()
					<-time.After(time.Second)
					b.telegram.User(anna).In(chat).Send("@klaw_test_bot go")
					began, first := time.Now(), time.Duration(0)
					b.until("it is answered", func() bool { return b.idle() && strings.HasSuffix(strings.Join(b.shows(chat), ""), "two") })
					for _, c := range b.telegram.Calls("") {
						if strings.HasPrefix(c.Params["text"], "one") && first == 0 {
							first = c.Time.Sub(began)
						}
					}
					if first < placeholderTime || first > placeholderTime+100*time.Millisecond {
						t.Errorf("the first words came after %v", first)
					}
				})
			})
		}
	}
}

// placeholderTime is when a turn that lasts shows more than the typing sign.
const placeholderTime = 700 * time.Millisecond

// TestWhenThePlaceholderComes: not before 0.7 s, and with what is there of the answer.
func TestWhenThePlaceholderComes(t *testing.T) {
	for name, tc := range map[string]struct {
		reply modeltest.Reply
		sent  time.Duration // the first message
		edits int           // so many within a second from there on
	}{
		"a quick answer":           {modeltest.Reply{Text: "ready", Delay: 600 * time.Millisecond}, 600 * time.Millisecond, 0},
		"a slow answer":            {modeltest.Reply{Text: "ready", Delay: 1500 * time.Millisecond}, 700 * time.Millisecond, 1},
		"one that begins early":    {modeltest.Reply{Text: "one two three four", Pieces: 4, Delay: 300 * time.Millisecond, PieceDelay: 1500 * time.Millisecond}, 700 * time.Millisecond, 1},
		"one that begins too late": {modeltest.Reply{Text: "one two three four", Pieces: 4, Delay: 3 * time.Second, PieceDelay: time.Second}, 700 * time.Millisecond, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, telegramtest.Config{}, func(t *testing.T, b *bubble) {
				b.model.Push(tc.reply)
				b.start()
				b.telegram.User(anna).Send("go")
				began := time.Now()
				b.until("it is answered", func() bool { return b.idle() && b.says(anna, tc.reply.Text)() })
				first, edits := b.telegram.Calls("sendMessage")[0], 0
				for _, c := range b.telegram.Calls("editMessageText") {
					if c.Time.Sub(first.Time) < time.Second {
						edits++
					}
				}
				if at := first.Time.Sub(began).Round(10 * time.Millisecond); at != tc.sent || edits != tc.edits {
					t.Errorf("the first message came after %v with %d edits soon, want %v and %d", at, edits, tc.sent, tc.edits)
				}
			})
		})
	}
}
