package telegramtest_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"strings"
	"testing"

	"klawbot/internal/telegramtest"
)

func TestDocuments(t *testing.T) {
	s, c := start(t, telegramtest.Config{})
	s.User(alice).Send("hello")
	body, kind := upload(t, "notes.txt", "the content")
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
func upload(t *testing.T, name, content string) (body *bytes.Buffer, kind string) {
	t.Helper()
	body = new(bytes.Buffer)
	w := multipart.NewWriter(body)
	part, err := w.CreateFormFile("document", name)
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
