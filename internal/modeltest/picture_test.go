package modeltest_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"strings"
	"testing"

	"klawbot/internal/modeltest"
)

// TestPicturesAreChecked: each body must be refused for its picture.
func TestPicturesAreChecked(t *testing.T) {
	s := modeltest.Start("secret")
	defer s.Close()
	s.SetCapabilities(0, "completion", "vision")
	encode := func(w, h int, into func(*bytes.Buffer, image.Image)) string {
		var b bytes.Buffer
		into(&b, image.NewRGBA(image.Rect(0, 0, w, h)))
		return base64.StdEncoding.EncodeToString(b.Bytes())
	}
	jpg := func(b *bytes.Buffer, m image.Image) { _ = jpeg.Encode(b, m, nil) }
	good := encode(8, 8, jpg)
	camera := encode(8, 8, func(b *bytes.Buffer, m image.Image) {
		jpg(b, m)
		b.WriteString("Exif\x00\x00")
	})
	moving := encode(8, 8, func(b *bytes.Buffer, m image.Image) { _ = gif.Encode(b, m, nil) })
	part := func(url string) string { return `[{"type":"image_url","image_url":{"url":"` + url + `"}}]` }
	source := func(mime, data string) string {
		return `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"` + mime + `","data":"` + data + `"}}]}`
	}
	for _, c := range []struct{ path, message, want string }{
		{"/v1/chat/completions", `{"role":"user","content":` + part("data:image/jpeg;base64,"+good) + `}`, ""},
		{"/v1/chat/completions", `{"role":"user","content":` + part("https://example.com/a.jpg") + `}`, "no data URL"},
		{"/v1/chat/completions", `{"role":"user","content":` + part("data:image/png;base64,"+good) + `}`, "appears to be image/jpeg"},
		{"/v1/chat/completions", `{"role":"user","content":` + part("data:image/jpeg;base64,"+good[:40]) + `}`, "could not process image"},
		{"/v1/chat/completions", `{"role":"user","content":` + part("data:image/jpeg;base64,"+camera) + `}`, "EXIF"},
		{"/v1/chat/completions", `{"role":"user","content":` + part("data:image/gif;base64,"+moving) + `}`, "neither"},
		{"/v1/chat/completions", `{"role":"user","content":[{"type":"text","text":"hi"}]}`, "list without pictures"},
		{"/v1/chat/completions", `{"role":"user","content":` + part("data:image/jpeg;base64,"+encode(8001, 1, jpg)) + `}`, "dimensions exceed"},
		{"/v1/messages", source("image/jpeg", good), ""},
		{"/v1/messages", source("", good), "media_type is expected"},
		{"/v1/messages", source("image/jpeg", "?"), "invalid base64"},
		{"/api/chat", `{"role":"user","content":"","images":["` + good + `"]}`, ""},
		{"/api/chat", `{"role":"user","content":"hi","images":["data:image/jpeg;base64,` + good + `"]}`, "invalid base64"},
		{"/api/chat", `{"role":"system","content":"hi","images":["` + good + `"]}`, "role system"},
	} {
		status, text := postAs(t, s.URL+c.path, fmt.Sprintf(`{"model":"m","max_tokens":5,"messages":[%s]}`, c.message))
		if (status == 200) != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s, want %q", c.path, status, text, c.want)
		}
	}
}

func TestRulesSeePictures(t *testing.T) {
	respond, err := modeltest.Rules([]byte(`{"match":"","pictures":1,"text":"I see {pictures}"}`))
	if err != nil {
		t.Fatal(err)
	}
	m := modeltest.Message{Role: "user", Content: []byte(`"look"`)}
	if r := respond(modeltest.Request{Messages: []modeltest.Message{m}}); r.Text != "OK" {
		t.Errorf("without a picture: %q", r.Text)
	}
	m.Pictures = []modeltest.Picture{{Width: 8, Height: 4, Colour: "red"}}
	if r := respond(modeltest.Request{Messages: []modeltest.Message{m}}); r.Text != "I see red 8x4" {
		t.Errorf("with one: %q", r.Text)
	}
}
