package telegramtest_test

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"klawbot/internal/telegramtest"
)

func TestDocuments(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	body, kind := upload(t, "document", "notes.txt", "the content")
	resp, err := c.http.Post(c.base+"sendDocument?chat_id=42&caption=here", kind, body)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	m := s.Messages(alice)[1]
	if resp.StatusCode != 200 || m.Text != "here" || m.Document == "" {
		t.Fatalf("%d %+v", resp.StatusCode, m)
	}
	var f struct {
		Path string `json:"file_path"`
		Size int    `json:"file_size"`
	}
	c.decode(c.call("getFile", obj{"file_id": m.Document}), &f)
	resp, err = c.http.Get(s.URL() + "/file/bot" + s.Token() + "/" + f.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != "the content" || f.Size != len(got) {
		t.Errorf("%q %v", got, err)
	}
	c.refused("editMessageText", obj{"chat_id": alice, "message_id": m.ID, "text": "x"}, 400, "Bad Request: there is no text in the message to edit")
}

// upload is a multipart body with one file.
func upload(t *testing.T, field, name, content string) (body *bytes.Buffer, kind string) {
	t.Helper()
	body = new(bytes.Buffer)
	w := multipart.NewWriter(body)
	part, err := w.CreateFormFile(field, name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(part, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body, w.FormDataContentType()
}

// picture is a PNG of a size.
func picture(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPhotos(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	for name, tt := range map[string]struct {
		content string
		status  int
		want    string
	}{
		"a photo":    {picture(t, 40, 2), 200, `"photo":[{"file_id":"file-`},
		"too wide":   {picture(t, 41, 2), 400, "Bad Request: PHOTO_INVALID_DIMENSIONS"},
		"too large":  {picture(t, 9000, 1001), 400, "Bad Request: PHOTO_INVALID_DIMENSIONS"},
		"no picture": {"GIF89a", 400, "Bad Request: IMAGE_PROCESS_FAILED"},
		"too many bytes": {
			picture(t, 2, 2) + strings.Repeat("x", 10<<20), 400, "Bad Request: file is too big for a photo; the maximum size is 10485760 bytes",
		},
		"nothing": {"", 400, "Bad Request: file must be non-empty"},
	} {
		t.Run(name, func(t *testing.T) {
			body, kind := upload(t, "photo", "p.png", tt.content)
			resp, err := c.http.Post(c.base+"sendPhoto?chat_id=42&caption=look", kind, body)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			answer, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tt.status || !strings.Contains(string(answer), tt.want) {
				t.Errorf("%d %s %v", resp.StatusCode, answer, err)
			}
		})
	}
	m := s.Messages(alice)[1]
	if m.Text != "look" || m.Photo == "" || m.Document != "" || !strings.Contains(s.Transcript(alice), "look (photo)") {
		t.Errorf("%+v", m)
	}
	c.refused("editMessageText", obj{"chat_id": alice, "message_id": m.ID, "text": "x"}, 400, "Bad Request: there is no text in the message to edit")
	c.refused("sendPhoto", obj{"chat_id": alice}, 400, "Bad Request: there is no photo in the request")
}

func TestDocumentOfMoreThan50MB(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	for n, want := range map[int]int{50 << 20: 200, 50<<20 + 1: 413} {
		body, kind := upload(t, "document", "big", strings.Repeat("x", n))
		resp, err := c.http.Post(c.base+"sendDocument?chat_id=42", kind, body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%d bytes: %d", n, resp.StatusCode)
		}
	}
}

func TestFilesThatCannotBeHad(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	big := s.AddFile(telegramtest.File{Name: "big", Data: make([]byte, 20<<20+1)})
	c.refused("getFile", nil, 400, "Bad Request: file_id not specified")
	c.refused("getFile", obj{"file_id": "x"}, 400, "Bad Request: wrong file_id or the file is temporarily unavailable")
	c.refused("getFile", obj{"file_id": big}, 400, "Bad Request: file is too big")
	s.User(alice).Post(telegramtest.Draft{Text: "look", Document: big})
	if got := string(c.call("getUpdates", nil).Result); !strings.Contains(got, `"caption":"look"`) {
		t.Error(got)
	}
	c.refused("sendDocument", obj{"chat_id": alice}, 400, "Bad Request: there is no document in the request")
	c.refused("sendDocument", obj{"chat_id": alice, "document": big, "caption": strings.Repeat("x", 1025)}, 400, "Bad Request: message caption is too long")
}
