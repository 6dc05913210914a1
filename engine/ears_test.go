package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"klawbot/gateway"
)

const (
	offered   = "🎙 Learn to listen? 44 MB; nothing leaves this machine."
	unheard   = "I can't hear voice messages yet; please write. To set it up: klawbot assets pull --speech"
	nowHears  = "🎙 I understand English voice messages now."
	heardThis = "🎙 water the plants"
)

// slowFile is the name of a file that comes when the messenger's slow is closed.
const slowFile = "slow"

// Fetch gives every file the same content.
func (m *messenger) Fetch(_ context.Context, a gateway.Attachment, _ int64, w io.Writer) error {
	if a.File == slowFile {
		<-m.slow
	}
	_, err := fmt.Fprint(w, "OggS ", a.File)
	return err
}

// pupil is a house without ears. A server stands in for those that it gets.
func pupil(t *testing.T) *house {
	h := build(t)
	h.echo()
	h.ears = new(atomic.Bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"text": "water the plants"}`)
	}))
	t.Cleanup(s.Close)
	h.settings.Media.Quota, h.settings.Media.MaxDownload = 1<<30, 20<<20
	h.settings.Media.Transcription.Language, h.settings.Media.Transcription.Echo = "en", true
	h.settings.Media.Transcription.Longest = time.Minute
	h.settings.Media.Transcription.BaseURL, h.settings.Media.Transcription.Model = s.URL+"/v1", "whisper"
	return h
}

// speaks lets a person send a voice message.
func (h *house) speaks(person int64) {
	h.t.Helper()
	h.accept(h.next(gateway.Message{
		Address: private(person), Sender: gateway.Sender{ID: person, Name: "Person"}, Text: "[voice message]", Described: true,
		Attachments: []gateway.Attachment{{Kind: gateway.AttachVoice, File: "file-id", Unique: "unique", MIME: "audio/ogg", Duration: 2 * time.Second}},
	}))
}

// last is the newest message in a chat.
func (h *house) last(chat int64) shown {
	h.messenger.mu.Lock()
	defer h.messenger.mu.Unlock()
	for _, s := range slices.Backward(h.messenger.shown) {
		if s.to == private(chat) {
			return s
		}
	}
	return shown{}
}

// TestOwnerTeachesToListen: the owner who is not heard is offered the speech model. The
// download outlasts a restart, and then the message is heard.
func TestOwnerTeachesToListen(t *testing.T) {
	h := pupil(t)
	var begun atomic.Int32
	h.learn = func(ctx context.Context) error {
		if begun.Add(1) == 1 {
			<-ctx.Done()
			return ctx.Err()
		}
		h.ears.Store(true)
		return nil
	}
	h.start()
	h.speaks(bob)
	h.shows(bob, unheard) // no owner
	h.speaks(alice)
	h.shows(alice, offered)
	q := h.last(alice)
	h.told(h.press(bob, private(bob), 1, q.part.Buttons[0][0].Data), "Only an owner can decide.")
	h.told(h.tap(alice, q, 0), "⏳ Downloading 44 MB…")
	h.shows(alice, "⏳ Downloading 44 MB…")
	h.until("the download begins", func() bool { return begun.Load() == 1 })
	h.restart()
	h.shows(alice, nowHears, heardThis, "re: [voice 0:02] water the plants")
	if n := len(h.model.Completions()); n != 1 || begun.Load() != 2 {
		t.Errorf("%d model calls, %d downloads", n, begun.Load())
	}
	h.press(alice, private(alice), q.id, q.part.Buttons[0][0].Data) // changes nothing any more
	h.says(alice, "bye")
	h.shows(alice, nowHears, heardThis, "re: [voice 0:02] water the plants", "re: bye")
}

// TestSeveralFilesAreCounted: the chat sees which of several files is read.
func TestSeveralFilesAreCounted(t *testing.T) {
	h := pupil(t)
	h.ears.Store(true)
	h.messenger.slow = make(chan struct{})
	h.start()
	voice := gateway.Attachment{Kind: gateway.AttachVoice, File: "file-id", Unique: "unique", MIME: "audio/ogg", Duration: 2 * time.Second}
	slow := voice
	slow.File, slow.Unique = slowFile, slowFile
	h.accept(h.next(gateway.Message{
		Address: private(alice), Sender: gateway.Sender{ID: alice, Name: "Anna"}, Text: "[voice message]", Described: true,
		Attachments: []gateway.Attachment{voice, slow, voice},
	}))
	h.until("the chat sees the second file", func() bool {
		return strings.Contains(strings.Join(h.messenger.log(), "\n"), "Reading the files … 2 of 3")
	})
	close(h.messenger.slow)
	h.until("the answer is there", func() bool { return strings.HasPrefix(h.last(alice).text, "re: ") })
}

// TestDownloadFailsAndIsTriedAgain keeps the button.
func TestDownloadFailsAndIsTriedAgain(t *testing.T) {
	h := pupil(t)
	var tried atomic.Int32
	h.learn = func(context.Context) error {
		if tried.Add(1) == 1 {
			return errors.New("no network")
		}
		h.ears.Store(true)
		return nil
	}
	h.start()
	h.speaks(alice)
	h.shows(alice, offered)
	h.tap(alice, h.last(alice), 0)
	h.shows(alice, "✗ The download failed. Try again later, or: klawbot assets pull --speech")
	h.tap(alice, h.last(alice), 0)
	h.shows(alice, nowHears, heardThis, "re: [voice 0:02] water the plants")
}

// TestNothingToLearn: who says no is not heard, and a model that would not help is not
// offered.
func TestNothingToLearn(t *testing.T) {
	h := pupil(t)
	h.learn = func(context.Context) error { t.Error("downloads"); return nil }
	h.start()
	h.speaks(alice)
	h.shows(alice, offered)
	h.tap(alice, h.last(alice), 1)
	h.shows(alice, unheard)
	h.end()
	h.settings.Media.Transcription.Language = "ru"
	h.start()
	h.speaks(alice)
	h.shows(alice, unheard, "I can't hear voice messages yet; please write. The owner can set it up: /docs speech")
}
