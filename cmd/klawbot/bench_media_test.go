//go:build bench

package main

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"klawbot/internal/modeltest"
	"klawbot/internal/telegramtest"
)

// mediaOff switches off what reads, hears and speaks.
const mediaOff = "media: {documents: {pdf: off, ocr: off}, transcription: {type: off}, voice: {type: off}}\n"

// senses measures what files cost a bot that is idle: able to read and hear compared with
// unable, and after a photo, a document and a voice message compared with three texts.
func (b *figures) senses(binary string) {
	ears := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"text":"buy milk"}`) }))
	defer ears.Close()
	on := "media: {transcription: {type: openai, provider: ears, model: whisper, echo: false}}\n"
	idle := func(config string, drafts func(*rig) []telegramtest.Draft) float64 {
		const chat = 11
		var all []float64
		for range max(scale(10), 6) {
			r := newRigAt(b.t, 0, "off", chat)
			r.edit("agent:", wordsAlone+config+"agent:")
			r.edit("  providers: {", fmt.Sprintf("  providers: {ears: {baseURL: %q, apiKey: none}, ", ears.URL+"/v1"))
			r.model.Respond(func(modeltest.Request) modeltest.Reply { return modeltest.Text("done") })
			p := r.start(binary)
			r.wait(p, "the first poll", func(v telegramtest.State) bool { return v.Polling() })
			for i, d := range drafts(r) {
				r.telegram.User(chat).Post(d)
				r.wait(p, "an answer", func(v telegramtest.State) bool { return strings.Count(v.Transcript(chat), "done") > i })
			}
			<-time.After(2 * time.Second)
			all = append(all, memoryMB(b.t, p.cmd.Process.Pid, "RssAnon:"))
			p.stop()
		}
		return slices.Min(all) // the rest is what was not collected yet
	}
	nothing := func(*rig) []telegramtest.Draft { return nil }
	words := func(*rig) []telegramtest.Draft {
		return []telegramtest.Draft{{Text: "one"}, {Text: "two"}, {Text: "three"}}
	}
	files := func(r *rig) []telegramtest.Draft {
		add := func(name string, data []byte) string {
			return r.telegram.AddFile(telegramtest.File{Name: name, Data: data})
		}
		return []telegramtest.Draft{
			{Photo: add("photo.jpg", snapshot(b.t))},
			{Document: add("list.csv", []byte("what,how many\nmilk,2\n"))},
			{Voice: add("voice.ogg", []byte("OggS and so on")), Seconds: 3, MIME: "audio/ogg"},
		}
	}
	able := idle(on, nothing) - idle(mediaOff, nothing)
	b.add("idle, files read and heard: memory more than off", able, "MB", "<= 1", able <= 1)
	used := idle(on, files) - idle(mediaOff, words)
	b.add("idle after a photo, a document, a voice message: memory more than after 3 texts", used, "MB", "<= 1", used <= 1)
}

// snapshot is a photo as Telegram sends it, 1280x960.
func snapshot(t interface{ Fatal(...any) }) []byte {
	p := image.NewRGBA(image.Rect(0, 0, 1280, 960))
	for i := range p.Pix {
		p.Pix[i] = byte(rand.N(64) + i/4096%128)
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, p, &jpeg.Options{Quality: 70}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
