//go:build crash

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// TestKilledWhileFilesAreRead kills the bot at each step of a message with a voice
// recording and of one with a document: after the next start nothing is downloaded,
// heard, shown or answered twice.
func TestKilledWhileFilesAreRead(t *testing.T) {
	for point, heard := range map[string]int64{
		"media.fetched": 1, "media.reading": 1, "media.read": 1, "media.fetched:2": 1, "media.reading:2": 1, "media.read:2": 1,
		"turn.committed": 1, "outbox.delivered": 1,
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			killWithFiles(t, point, heard)
		})
	}
}

func killWithFiles(t *testing.T, point string, heard int64) {
	const chat = 11
	r := newRig(t, "off", chat)
	var hearings atomic.Int64
	ears := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hearings.Add(1)
		fmt.Fprint(w, `{"text":"buy milk"}`)
	}))
	t.Cleanup(ears.Close)
	r.edit("  providers: {", fmt.Sprintf("  providers: {ears: {baseURL: %q, apiKey: none}, ", ears.URL+"/v1"))
	r.edit("health:", "media: {transcription: {type: openai, provider: ears, model: whisper}}\nhealth:")
	r.edit("debounceMs: 0", "debounceMs: 300")
	r.model.Respond(func(q modeltest.Request) modeltest.Reply {
		var all string
		for _, m := range q.Messages {
			all += m.Text()
		}
		return modeltest.Text(fmt.Sprint("the answer: ", strings.Contains(all, "] buy milk") && strings.Contains(all, "milk,2")))
	})
	b := r.start("", "KLAWBOT_CRASH="+point)
	voice := r.telegram.AddFile(telegramtest.File{Name: "voice.ogg", Data: []byte("OggS and the rest")})
	list := r.telegram.AddFile(telegramtest.File{Name: "list.csv", Data: []byte("what,how many\nmilk,2\n")})
	r.telegram.User(chat).PostAlbum(telegramtest.Draft{Voice: voice, Seconds: 3, MIME: "audio/ogg"}, telegramtest.Draft{Document: list})
	<-b.exited
	if code := b.cmd.ProcessState.ExitCode(); code != -1 {
		t.Fatalf("the bot was not killed at %s, exit code %d\n%s", point, code, tailOf(b.log.String()))
	}
	b = r.again(b)
	r.wait(b, "the answer", func(v telegramtest.State) bool {
		return strings.Contains(v.Transcript(chat), "the answer") && v.Pending() == 0
	})
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	chatNow := r.telegram.Transcript(chat)
	if strings.Count(chatNow, "the answer: true") != 1 && !strings.Contains(chatNow, "↻") || strings.Contains(chatNow, "the answer: false") {
		t.Errorf("the chat shows %s", chatNow)
	}
	if n := strings.Count(chatNow, "🎙 buy milk"); n != 1 && !strings.Contains(chatNow, "↻ 🎙") {
		t.Errorf("it was shown %d times what was heard:\n%s", n, chatNow)
	}
	if n := hearings.Load(); n > heard+1 || n > heard && point != "media.reading" {
		t.Errorf("heard %d times, want %d", n, heard)
	}
	// What is delivered is the echo, perhaps while the second file is on its way.
	if n := r.telegram.Count(telegramtest.Downloads); n != 2 && (n != 3 || point != "outbox.delivered") {
		t.Errorf("%d downloads, want 2", n)
	}
	found, err := filepath.Glob(filepath.Join(r.workspace(), "inbox", "telegram_11", "*"))
	if err != nil || len(found) != 1 {
		t.Errorf("the inbox holds %v, %v", found, err)
	}
	left, err := filepath.Glob(filepath.Join(r.dir, "data", "media", "*", "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("kept files: %v, %v", left, err)
	}
	if text, err := os.ReadFile(filepath.Join(r.workspace(), "inbox", "telegram_11", "list.csv")); err != nil || string(text) != "what,how many\nmilk,2\n" {
		t.Errorf("the copy holds %q, %v", text, err)
	}
}

// TestFileJoins: a document that comes while the model is silent joins the turn: it is
// downloaded once and answered once, together with the question before it, also when the
// bot is killed at that moment.
func TestFileJoins(t *testing.T) {
	for _, point := range []string{"none", "turn.joined", "media.fetched", "media.read"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			const chat = 11
			r := newRig(t, "off", chat)
			r.edit("debounceMs: 0", "debounceMs: 300")
			r.model.Respond(func(q modeltest.Request) modeltest.Reply {
				var all string
				for _, m := range q.Messages {
					all += m.Text()
				}
				return modeltest.Reply{Text: fmt.Sprint("both: ", strings.Contains(all, "how much milk?") && strings.Contains(all, "milk,2")), Delay: time.Second}
			})
			b := r.start("", "KLAWBOT_CRASH="+point)
			r.telegram.User(chat).Send("how much milk?")
			for len(r.model.Completions()) == 0 {
				<-time.After(10 * time.Millisecond)
			}
			list := r.telegram.AddFile(telegramtest.File{Name: "list.csv", Data: []byte("what,how many\nmilk,2\n")})
			r.telegram.User(chat).Post(telegramtest.Draft{Document: list})
			if point != "none" {
				<-b.exited
				b = r.again(b)
			}
			r.wait(b, "the answer", func(v telegramtest.State) bool {
				return strings.Contains(v.Transcript(chat), "both: ") && v.Pending() == 0
			})
			if code := b.stop(); code != 0 {
				t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
			}
			if got := r.telegram.Transcript(chat); strings.Count(got, "both: true") != 1 || strings.Contains(got, "both: false") {
				t.Errorf("the chat shows %s", got)
			}
			if n := r.telegram.Count(telegramtest.Downloads); n != 1 {
				t.Errorf("%d downloads, want 1", n)
			}
		})
	}
}

// TestKilledWhileSpeaking kills the bot around the making and the sending of a spoken
// answer: the text is there once, and the voice once, or marked as a repeat.
func TestKilledWhileSpeaking(t *testing.T) {
	for _, point := range []string{"turn.committed", "outbox.speaking", "outbox.spoken", "outbox.sending:3", "outbox.delivered:3"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			killSpeaking(t, point)
		})
	}
}

func killSpeaking(t *testing.T, point string) {
	const chat = 11
	r := newRig(t, "off", chat)
	ogg, err := os.ReadFile(filepath.Join("..", "..", "engine", "internal", "sound", "testdata", "tone.opus"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "/speech") {
			_, _ = w.Write(ogg)
			return
		}
		fmt.Fprint(w, `{"text":"when"}`)
	}))
	t.Cleanup(server.Close)
	r.edit("  providers: {", fmt.Sprintf("  providers: {sound: {baseURL: %q, apiKey: none}, ", server.URL+"/v1"))
	r.edit("health:", "media: {transcription: {type: openai, provider: sound, model: w, echo: false}, voice: {type: openai, provider: sound, model: tts}}\nhealth:")
	r.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Text("It is noon.") })
	b := r.start("", "KLAWBOT_CRASH="+point)
	r.telegram.User(chat).Send("/voice on")
	r.wait(b, "voice", func(v telegramtest.State) bool { return strings.Contains(v.Transcript(chat), "Voice: on") })
	voice := r.telegram.AddFile(telegramtest.File{Name: "voice.ogg", Data: []byte("OggS and the rest")})
	r.telegram.User(chat).Post(telegramtest.Draft{Voice: voice, Seconds: 3, MIME: "audio/ogg"})
	<-b.exited
	if code := b.cmd.ProcessState.ExitCode(); code != -1 {
		t.Fatalf("the bot was not killed at %s, exit code %d\n%s", point, code, tailOf(b.log.String()))
	}
	b = r.again(b)
	r.wait(b, "the voice", func(v telegramtest.State) bool {
		return voicesOf(v.Messages(chat), chat) > 0 && v.Pending() == 0 && v.Polling()
	})
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, tailOf(b.log.String()))
	}
	now := r.telegram.Transcript(chat)
	if strings.Count(now, "It is noon.") != 1 {
		t.Errorf("the answer is there %d times:\n%s", strings.Count(now, "It is noon."), now)
	}
	if n := voicesOf(r.telegram.Messages(chat), chat); n != 1 && !strings.Contains(now, "↻") {
		t.Errorf("%d voice messages:\n%s", n, now)
	}
}

// voicesOf counts the voice messages of the bot.
func voicesOf(all []telegramtest.Message, person int64) (n int) {
	for _, m := range all {
		if m.Voice != "" && m.From != person {
			n++
		}
	}
	return n
}
