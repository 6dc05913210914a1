package telegram_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/gateway"
	"klawbot/gateway/telegram"
	"klawbot/internal/redact"
	"klawbot/internal/telegramtest"
)

func TestDecodeAttachments(t *testing.T) {
	c := silent(t, false)
	sizes := `[{"file_id":"s","width":90,"height":60},{"file_id":"m","file_unique_id":"um","width":1280,"height":853,"file_size":9},{"file_id":"l","width":2560,"height":1706}]`
	for _, tt := range []struct{ name, fields, want string }{
		{"the largest photo that a model needs", `"photo":` + sizes, "photo m um 1280x853 9"},
		{"only larger ones", `"photo":[{"file_id":"l","width":2560,"height":1706},{"file_id":"xl","width":5120,"height":3412}]`, "photo l  2560x1706 0"},
		{"live photo", `"live_photo":{"file_id":"v","photo":` + sizes + `}`, "photo m um 1280x853 9"},
		{"voice", `"voice":{"file_id":"x","file_unique_id":"u","duration":7,"mime_type":"audio/ogg","file_size":3}`, "voice x u 0x0 3 7s audio/ogg"},
		{"audio", `"audio":{"file_id":"x","duration":60,"file_name":"s.mp3"}`, "audio x  0x0 0 1m0s s.mp3"},
		{"round video", `"video_note":{"file_id":"x","length":240,"duration":5,"thumbnail":{"file_id":"t"}}`, "video_note x  240x240 0 5s video/mp4 thumb t"},
		{"animation, which is a document too", `"animation":{"file_id":"x","duration":1,"thumbnail":{"file_id":"t"}},"document":{"file_id":"x"}`, "animation x  0x0 0 1s thumb t"},
		{"video", `"video":{"file_id":"x","duration":-5,"file_name":"a.mp4"}`, "video x  0x0 0 a.mp4"},
		{"document", `"document":{"file_id":"x","file_name":"r.pdf","mime_type":"application/pdf","file_size":5}`, "document x  0x0 5 r.pdf application/pdf"},
		{"still sticker", `"sticker":{"file_id":"x","width":512,"height":512}`, "sticker x  512x512 0 image/webp"},
		{"moving sticker", `"sticker":{"file_id":"x","is_animated":true,"thumbnail":{"file_id":"t"}}`, "sticker x  0x0 0 application/x-tgsticker thumb t"},
		{"nothing to fetch", `"contact":{"first_name":"Bo","phone_number":"+1"}`, ""},
		{"no id", `"photo":[{"width":9,"height":9}]`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, a := range read(t, c, in("message", "private", tt.fields)).Attachments {
				text := fmt.Sprintf("%s %s %s %dx%d %d", a.Kind, a.File, a.Unique, a.Width, a.Height, a.Size)
				if a.Duration != 0 {
					text += " " + a.Duration.String()
				}
				for _, more := range []string{a.Name, a.MIME} {
					if more != "" && a.Kind != gateway.AttachPhoto {
						text += " " + more
					}
				}
				if a.Thumb != nil {
					text += " thumb " + a.Thumb.File
				}
				got = append(got, text)
			}
			if strings.Join(got, "; ") != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The files of a quoted message come along when it is known whose they are.
func TestDecodeQuotedAttachments(t *testing.T) {
	c := silent(t, false)
	for _, tt := range []struct {
		name, from string
		want       int
		author     int64
	}{
		{"a person", `"from":{"id":6,"first_name":"B"},`, 1, 6},
		{"the bot itself", `"from":{"id":123456789,"is_bot":true},`, 1, 123456789},
		{"another bot", `"from":{"id":8,"is_bot":true},`, 0, 0},
		{"in the name of a chat", `"from":{"id":6},"sender_chat":{"id":-5,"type":"channel"},`, 0, 0},
		{"nobody", "", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := read(t, c, in("message", "group", `"text":"what?","reply_to_message":{"message_id":3,"date":1,"chat":{"id":-100,"type":"group"},`+tt.from+`"photo":[{"file_id":"x","width":9,"height":9}]}`)).Reply
			if q == nil || len(q.Attachments) != tt.want || q.From != tt.author {
				t.Errorf("got %+v", q)
			}
		})
	}
	external := read(t, c, in("message", "group", `"text":"what?","external_reply":{"origin":{"type":"user","sender_user":{"id":6}},"photo":[{"file_id":"x","width":9,"height":9}]}`)).Reply
	if external == nil || len(external.Attachments) != 0 {
		t.Errorf("files of another chat: %+v", external)
	}
}

func fetcher(t *testing.T, fake telegramtest.Config, root string) (*telegramtest.Server, *telegram.Channel, *bytes.Buffer) {
	t.Helper()
	s := telegramtest.New(fake)
	t.Cleanup(s.Close)
	logs := new(bytes.Buffer)
	c, err := telegram.New(telegram.Config{
		Token: s.Token(), APIURL: s.URL(), FilesRoot: root, Log: slog.New(slog.NewTextHandler(logs, nil)), Redact: new(redact.Set),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, c, logs
}

func TestFetch(t *testing.T) {
	data := strings.Repeat("0123456789", 10_000)
	type fault = telegramtest.Fault
	for _, tt := range []struct {
		name  string
		fault fault
		most  int64
		want  gateway.FetchFailure
	}{
		{"as it is", fault{}, 100_000, ""},
		{"slow", fault{Method: telegramtest.Downloads, Kind: telegramtest.FaultDelay, Delay: 10 * time.Millisecond}, 100_000, ""},
		{"declared too big", fault{}, 99_999, gateway.FetchTooBig},
		{"too big for Telegram", fault{Method: "getFile", Kind: telegramtest.FaultError, Status: 400, Description: "Bad Request: file is too big"}, 100_000, gateway.FetchTooBig},
		{"expired", fault{Method: "getFile", Kind: telegramtest.FaultError, Status: 400, Description: "Bad Request: wrong file_id or the file is temporarily unavailable"}, 100_000, gateway.FetchGone},
		{"cut", fault{Method: telegramtest.Downloads, Kind: telegramtest.FaultMalformed}, 100_000, gateway.FetchRetry},
		{"reset", fault{Method: telegramtest.Downloads, Kind: telegramtest.FaultReset, Times: -1}, 100_000, gateway.FetchRetry},
		{"busy", fault{Method: "getFile", Kind: telegramtest.FaultError, RetryAfter: 3}, 100_000, gateway.FetchRetry},
		{"broken gateway with the token in its page", fault{Method: telegramtest.Downloads, Kind: telegramtest.FaultHTML}, 100_000, gateway.FetchRetry},
		{"revoked", fault{Method: "getFile", Kind: telegramtest.FaultError, Status: 401}, 100_000, gateway.FetchStopped},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, c, logs := fetcher(t, telegramtest.Config{}, "")
			id := s.AddFile(telegramtest.File{Name: "a.txt", Data: []byte(data)})
			if tt.fault.Kind != "" {
				s.Fault(tt.fault)
			}
			var got bytes.Buffer
			err := c.Fetch(t.Context(), gateway.Attachment{File: id}, tt.most, &got)
			failed, _ := errors.AsType[*gateway.FetchError](err)
			switch {
			case tt.want == "" && (err != nil || got.String() != data):
				t.Errorf("%d bytes, %v", got.Len(), err)
			case tt.want != "" && (failed == nil || failed.Kind != tt.want):
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if strings.Contains(fmt.Sprint(err)+logs.String(), "fake-token") {
				t.Errorf("the token is shown: %v\n%s", err, logs)
			}
		})
	}
}

// A file that says nothing of its size, or lies about it, ends at the limit.
func TestFetchEndlessBody(t *testing.T) {
	s, c, _ := fetcher(t, telegramtest.Config{}, "")
	id := s.AddFile(telegramtest.File{Name: "a.txt", Data: make([]byte, 5000)})
	var got bytes.Buffer
	if err := c.Fetch(t.Context(), gateway.Attachment{File: id, Size: 1}, 4999, &got); err == nil || got.Len() > 4999 {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
}

// An own server on this machine names paths of its disk. They are read in its folder only.
func TestFetchFromOwnServer(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	s, c, _ := fetcher(t, telegramtest.Config{FilesRoot: root}, root)
	id := s.AddFile(telegramtest.File{Name: "a.txt", Data: []byte("content")})
	var got bytes.Buffer
	if err := c.Fetch(t.Context(), gateway.Attachment{File: id}, 100, &got); err != nil || got.String() != "content" {
		t.Errorf("got %q, %v", got.String(), err)
	}
	if n := s.Count(telegramtest.Downloads); n != 0 {
		t.Errorf("%d downloads for a file of this machine", n)
	}
	for name, root := range map[string]string{"no folder is set": "", "another folder": other} {
		s, c, _ := fetcher(t, telegramtest.Config{FilesRoot: t.TempDir()}, root)
		id := s.AddFile(telegramtest.File{Name: "a.txt", Data: []byte("content")})
		err := c.Fetch(t.Context(), gateway.Attachment{File: id}, 100, io.Discard)
		if failed, _ := errors.AsType[*gateway.FetchError](err); failed == nil || failed.Kind != gateway.FetchGone {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A link in the folder does not lead out of it.
	secret := filepath.Join(other, "secret")
	if err := errors.Join(os.WriteFile(secret, []byte("secret"), 0o600), os.Symlink(secret, filepath.Join(root, "file-2"))); err != nil {
		t.Fatal(err)
	}
	got.Reset()
	id = s.AddFile(telegramtest.File{Name: "b.txt", Data: []byte("secret")}) // file-2: the fake writes through the link
	if err := c.Fetch(t.Context(), gateway.Attachment{File: id}, 100, &got); err == nil || got.Len() > 0 {
		t.Errorf("got %q, %v", got.String(), err)
	}
}
