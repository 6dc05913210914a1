package telegramtest_test

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/internal/telegramtest"
)

func pngOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPeopleSendFiles(t *testing.T) {
	s := telegramtest.New(telegramtest.Config{})
	t.Cleanup(s.Close)
	photo := s.AddFile(telegramtest.File{Name: "a.png", Data: pngOf(t, 30, 20)})
	voice := s.AddFile(telegramtest.File{Name: "v.ogg", Data: []byte("OggS")})
	p := s.User(7)
	p.PostAlbum(telegramtest.Draft{Photo: photo}, telegramtest.Draft{Photo: photo, Text: "both"})
	p.Post(telegramtest.Draft{Voice: voice, Seconds: 7, MIME: "audio/ogg"})
	resp, err := http.Get(s.URL() + "/bot" + s.Token() + "/getUpdates")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"media_group_id":"album-1"`, `"caption":"both"`, `"width":30,"height":20`,
		`"voice":{"file_id":"` + voice + `","file_unique_id":"u` + voice + `","file_name":"v.ogg","file_size":4,"mime_type":"audio/ogg","duration":7}`,
	} {
		if !strings.Contains(string(body), want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

func TestDownloadFaults(t *testing.T) {
	root := t.TempDir()
	s := telegramtest.New(telegramtest.Config{FilesRoot: root})
	t.Cleanup(s.Close)
	id := s.AddFile(telegramtest.File{Name: "a.txt", Data: []byte("content")})
	fetch := func() (string, error) {
		resp, err := http.Get(s.URL() + "/file/bot" + s.Token() + "/documents/" + id)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	s.Fault(telegramtest.Fault{Method: telegramtest.Downloads, Kind: telegramtest.FaultMalformed})
	if body, err := fetch(); err == nil || body != "con" {
		t.Errorf("cut download: %q, %v", body, err)
	}
	s.Fault(telegramtest.Fault{Method: telegramtest.Downloads, Kind: telegramtest.FaultDelay, Delay: time.Millisecond})
	if body, err := fetch(); err != nil || body != "content" {
		t.Errorf("slow download: %q, %v", body, err)
	}
	if n := s.Count(telegramtest.Downloads); n != 2 {
		t.Errorf("%d downloads", n)
	}
	resp, err := http.Get(s.URL() + "/bot" + s.Token() + "/getFile?file_id=" + id)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if data, err := os.ReadFile(filepath.Join(root, id)); err != nil || string(data) != "content" {
		t.Errorf("file of an own server: %q, %v", data, err)
	}
	s.Expire(id)
	if body, err := fetch(); err != nil || strings.Contains(body, "content") {
		t.Errorf("expired file: %q, %v", body, err)
	}
}
