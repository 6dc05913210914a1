package telegram_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"klawbot/gateway"
	"klawbot/internal/telegramtest"
)

// file puts content into a file and returns it as a document.
func file(t *testing.T, name, kind string, content []byte) *gateway.Document {
	t.Helper()
	path := filepath.Join(t.TempDir(), "0a1b")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return &gateway.Document{Name: name, MIME: kind, Sum: "0a1b", Size: int64(len(content)), Path: path}
}

// picture is a PNG of a size.
func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPicturesAndFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		document func(*testing.T) *gateway.Document
		photo    bool
	}{
		"G8 a picture is a photo": {func(t *testing.T) *gateway.Document { return file(t, "a.png", "image/png", picture(t, 40, 2)) }, true},
		"G8 a picture too long":   {func(t *testing.T) *gateway.Document { return file(t, "a.png", "image/png", picture(t, 41, 2)) }, false},
		"G8 a picture too large":  {func(t *testing.T) *gateway.Document { return file(t, "a.png", "image/png", picture(t, 9000, 1001)) }, false},
		"G8 a picture of more than 10 MB": {func(t *testing.T) *gateway.Document {
			return file(t, "a.png", "image/png", append(picture(t, 2, 2), make([]byte, 10<<20)...))
		}, false},
		"G8 what only says that it is a picture": {func(t *testing.T) *gateway.Document { return file(t, "a.png", "image/png", []byte("no")) }, false},
		"G8 a drawing":                           {func(t *testing.T) *gateway.Document { return file(t, "a.svg", "image/svg+xml", []byte("<svg/>")) }, false},
		"an archive": {func(t *testing.T) *gateway.Document {
			return file(t, "a.zip", "application/zip", []byte("PK\x03\x04\x00\xff"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				d := tt.document(t)
				want, err := os.ReadFile(d.Path)
				if err != nil {
					t.Fatal(err)
				}
				id, err := w.Send(t.Context(), to(5, 0), gateway.Part{
					Text: "look", Entities: []gateway.Entity{{Type: "bold", Length: 4}}, Silent: true, Document: d,
					Buttons: [][]gateway.Button{{{Text: "Yes", Data: "y"}}},
				})
				if err != nil {
					t.Fatal(err)
				}
				m := last(w, 5)
				if m.ID != id || m.Text != "look" || len(m.Entities) != 1 || !m.Silent || len(m.Buttons) != 1 {
					t.Errorf("sent %+v", m)
				}
				if (m.Photo != "") != tt.photo || (m.Document != "") == tt.photo {
					t.Errorf("photo %q, file %q", m.Photo, m.Document)
				}
				got := w.fake.Document(m.Photo + m.Document)
				if !bytes.Equal(got.Data, want) || got.Name != d.Name {
					t.Errorf("%s has %d bytes of %d", got.Name, len(got.Data), len(want))
				}
			})
		})
	}
}

func TestRefusedPhotoIsSentAsAFile(t *testing.T) {
	for _, text := range []string{"Bad Request: PHOTO_INVALID_DIMENSIONS", "Bad Request: IMAGE_PROCESS_FAILED", "Bad Request: file is too big for a photo; the maximum size is 10485760 bytes"} {
		inWorld(t, nil, func(t *testing.T, w *world) {
			w.fake.Fault(telegramtest.Fault{Method: "sendPhoto", Kind: telegramtest.FaultError, Status: 400, Description: text})
			_, err := w.Send(t.Context(), to(5, 0), gateway.Part{Text: "look", Document: file(t, "a.png", "image/png", picture(t, 2, 2))})
			if m := last(w, 5); err != nil || m.Document == "" || m.Text != "look" || w.fake.Count("sendDocument") != 1 {
				t.Errorf("%s: %v, %+v", text, err, m)
			}
		})
	}
	inWorld(t, nil, func(t *testing.T, w *world) {
		w.fake.Fault(telegramtest.Fault{Method: "sendPhoto", Kind: telegramtest.FaultError, Status: 403, Description: "Forbidden: bot was blocked by the user"})
		_, err := w.Send(t.Context(), to(5, 0), gateway.Part{Document: file(t, "a.png", "image/png", picture(t, 2, 2))})
		if failed := w.sendError(err); failed.Kind != gateway.Dead || w.fake.Count("sendDocument") != 0 {
			t.Errorf("blocked: %v", err)
		}
	})
}

// TestVoiceMessages: a voice message is one, with its length; for a person who refuses them,
// and for what is none, it is a file.
func TestVoiceMessages(t *testing.T) {
	ogg := append([]byte("OggS"), append(make([]byte, 24), "OpusHead and more"...)...)
	for name, c := range map[string]struct {
		content      []byte
		forbidden    bool
		voice, asked bool
	}{
		"Opus":        {ogg, false, true, false},
		"forbidden":   {ogg, true, false, true},
		"another one": {[]byte("OggS and no Opus"), false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				if c.forbidden {
					w.fake.ForbidVoice(5)
				}
				d := file(t, "voice.ogg", "audio/ogg", c.content)
				d.As, d.Seconds = gateway.AsVoice, 7
				if _, err := w.Send(t.Context(), to(5, 0), gateway.Part{Document: d}); err != nil {
					t.Fatal(err)
				}
				m := last(w, 5)
				if (m.Voice != "") != c.voice || (m.Document != "") == c.voice || c.voice && m.Seconds != 7 {
					t.Errorf("%+v", m)
				}
				if got := w.fake.Count("sendDocument"); (got == 1) != c.asked || w.fake.Count("sendVoice") != 1 {
					t.Errorf("%d files, %d voice messages were tried", got, w.fake.Count("sendVoice"))
				}
				if got := w.fake.Document(m.Voice + m.Document); !bytes.Equal(got.Data, c.content) {
					t.Errorf("%d bytes of %d", len(got.Data), len(c.content))
				}
			})
		})
	}
	inWorld(t, nil, func(t *testing.T, w *world) { // a picture that is wanted as a file
		d := file(t, "a.png", "image/png", picture(t, 4, 4))
		d.As = gateway.AsFile
		if _, err := w.Send(t.Context(), to(5, 0), gateway.Part{Document: d}); err != nil || last(w, 5).Document == "" {
			t.Errorf("%v, %+v", err, last(w, 5))
		}
	})
}

func TestFileThatCannotBeSent(t *testing.T) {
	for name, tt := range map[string]struct {
		fault telegramtest.Fault
		want  gateway.Failure
	}{
		"G8 too large for the server":  {telegramtest.Fault{Kind: telegramtest.FaultError, Status: 413, Description: "Request Entity Too Large"}, gateway.Rejected},
		"G8 too large for the gateway": {telegramtest.Fault{Kind: telegramtest.FaultHTML, Status: 413}, gateway.Rejected},
		"file is too big":              {telegramtest.Fault{Kind: telegramtest.FaultError, Status: 400, Description: "Bad Request: file is too big"}, gateway.Rejected},
		"reset after the write":        {telegramtest.Fault{Kind: telegramtest.FaultReset, Effect: true}, gateway.Ambiguous},
		"flood":                        {telegramtest.Fault{Kind: telegramtest.FaultError, RetryAfter: 7}, gateway.Retry},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, nil, func(t *testing.T, w *world) {
				tt.fault.Method = "sendDocument"
				w.fake.Fault(tt.fault)
				_, err := w.Send(t.Context(), to(5, 0), gateway.Part{Document: file(t, "a.bin", "application/octet-stream", []byte{0, 1})})
				if failed := w.sendError(err); failed.Kind != tt.want || w.fake.Count("sendDocument") != 1 {
					t.Errorf("%v after %d calls, want %s", err, w.fake.Count("sendDocument"), tt.want)
				}
			})
		})
	}
	t.Run("gone", func(t *testing.T) {
		inWorld(t, nil, func(t *testing.T, w *world) {
			_, err := w.Send(t.Context(), to(5, 0), gateway.Part{Document: &gateway.Document{Name: "a.bin", Sum: "0a", Path: "/nowhere/0a"}})
			if failed := w.sendError(err); failed.Kind != gateway.Rejected || w.fake.Count("sendDocument") != 0 {
				t.Error(err)
			}
		})
	})
}

// TestUploadIsNotHeldInMemory counts what an upload of 40 MB allocates. The fake
// is another program in production, so it only counts bytes here.
func TestUploadIsNotHeldInMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 40<<20); err != nil {
		t.Fatal(err)
	}
	c, received := counting(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.Send(t.Context(), to(5, 0), gateway.Part{Document: &gateway.Document{Name: "big", Sum: "0a", Path: path}})
	runtime.ReadMemStats(&after)
	if err != nil || received.Load() < 40<<20 {
		t.Fatalf("%d bytes came, %v", received.Load(), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

func TestNamesOfFilesCannotBreakTheForm(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		for name, want := range map[string]string{"я \"b\".txt": `я "b".txt`, "a\r\nX: y": "", strings.Repeat("x", 200): strings.Repeat("x", 200)} {
			if _, err := w.Send(t.Context(), to(5, 0), gateway.Part{Document: file(t, name, "text/plain", []byte("x"))}); err != nil {
				t.Errorf("%q: %v", name, err)
				continue
			}
			if got := w.fake.Document(last(w, 5).Document).Name; want != "" && got != want || strings.ContainsAny(got, "\r\n") {
				t.Errorf("%q becomes %q", name, got)
			}
		}
	})
}
