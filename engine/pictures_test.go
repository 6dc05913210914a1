package engine_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"klawbot/engine"
	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
	"klawbot/tools"
)

func TestMain(m *testing.M) {
	engine.MediaMain() // children of these tests read pictures
	os.Exit(m.Run())
}

// pngOf is a picture of one colour.
func pngOf(t *testing.T, w, h int, c color.Color) []byte {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		p.Set(i%w, i/w, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var red, blue = color.RGBA{R: 255, A: 255}, color.RGBA{B: 255, A: 255}

// seen is what the fake saw in a request.
func seen(r modeltest.Request) string {
	var all []string
	for _, p := range r.Pictures() {
		all = append(all, p.String())
	}
	return strings.Join(all, ", ")
}

// viewing gives a house the sizes of pictures and a picture in the workspace.
func viewing(t *testing.T, h *house) *house {
	t.Helper()
	h.settings.Media.Images = settings.Images{MaxSide: 100, MaxPerRequest: 4}
	if err := os.WriteFile(filepath.Join(h.workspace(), "cat.png"), pngOf(t, 200, 100, red), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

// looker calls image_look once and then says what it sees, by the model that is asked.
func looker(r modeltest.Request) modeltest.Reply {
	switch last := r.Last(); {
	case strings.HasPrefix(r.System(), "You look at a picture"):
		return modeltest.Text("a " + seen(r) + " thing; asked: " + r.LastUser())
	case last.Role == "user" && len(last.Pictures) == 0 && !strings.Contains(last.Text(), "[pictures of the calls above]"):
		return modeltest.Reply{Calls: []modeltest.Call{{Name: "image_look", Arguments: `{"path":"cat.png","question":"which colour?"}`}}}
	case seen(r) != "":
		return modeltest.Text("I see " + seen(r))
	default:
		return modeltest.Text("I read " + last.Text())
	}
}

func TestImageLookShowsTheChatsModelThePicture(t *testing.T) {
	h := viewing(t, build(t))
	h.model.Respond(looker)
	h.start().says(alice, "look at cat.png")
	h.shows(alice, "I see red 100x50")
	for _, r := range h.model.Completions() {
		for _, m := range r.Messages {
			if m.Role == "tool" && (!strings.HasPrefix(m.Text(), "[outside data ") || !strings.Contains(m.Text(), "Your question: which colour?")) {
				t.Errorf("the result is %q", m.Text())
			}
		}
	}
}

func TestImageLookAsksTheModelForPictures(t *testing.T) {
	h := viewing(t, chain(t))
	main := h.settings.Models.Entries["main"]
	main.Vision = settings.VisionOff
	h.settings.Models.Entries["main"], h.settings.Media.Vision = main, "claude"
	h.model.Respond(looker)
	h.start().says(alice, "look at cat.png")
	last := h.messenger.wait
	_ = last
	h.showsAll()
	texts := h.messenger.texts(alice)
	if len(texts) != 1 || !strings.Contains(texts[0], "a red 100x50 thing; asked: which colour?") {
		t.Errorf("shown: %q", texts)
	}
	for _, r := range h.model.Completions() {
		if r.Model != "claude-x" && len(r.Pictures()) > 0 {
			t.Errorf("%s sees the picture", r.Model)
		}
	}
}

func TestImageLookWithoutEyes(t *testing.T) {
	h := viewing(t, build(t))
	main := h.settings.Models.Entries["main"]
	main.Vision = settings.VisionOff
	h.settings.Models.Entries["main"], h.settings.Media.Documents.OCR = main, "off"
	h.model.Respond(looker)
	h.start().says(alice, "look at cat.png")
	h.showsAll()
	if texts := h.messenger.texts(alice); len(texts) != 1 || !strings.Contains(texts[0], "no model here can see pictures") {
		t.Errorf("shown: %q", texts)
	}
}

// shooter is a tool that hands a picture to the chat, as the browser does.
func shooter(t *testing.T) tools.Tool {
	return stubbed("shoot", "takes a picture", false, func(c tools.Call) tools.Result {
		dir, err := c.Scratch()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "shot.png"), pngOf(t, 30, 30, blue), 0o600)
		}
		if err != nil {
			return tools.Fail(tools.Execution, err.Error())
		}
		r := tools.OK("OK")
		r.Artifacts = []tools.Artifact{{Name: "shot.png", MIME: "image/png", Path: "shot.png"}}
		return r
	})
}

func TestPicturesOfToolsReachTheModel(t *testing.T) {
	for kind, wires := range map[string]int{"main": 1, "claude": 1} {
		h := viewing(t, chain(t))
		h.settings.Models.Default, h.settings.Models.Fallback = kind, nil
		h.tools = append(h.tools, shooter(t))
		h.model.Respond(func(r modeltest.Request) modeltest.Reply {
			if len(r.Messages) > 0 && r.Last().Role == "user" && len(r.Last().Pictures) == 0 {
				return modeltest.Reply{Calls: []modeltest.Call{{Name: "shoot", Arguments: `{}`}}}
			}
			return modeltest.Text("I see " + seen(r))
		})
		h.start().says(alice, "take a picture")
		h.showsAll()
		if texts := h.messenger.texts(alice); len(texts) == 0 || texts[0] != "I see blue 30x30" {
			t.Errorf("%s: shown %q, %d", kind, texts, wires)
		}
		h.restart()
		h.says(alice, "again?")
		requests := h.model.Completions()
		if last := requests[len(requests)-1]; kind == "main" && fmt.Sprint(len(last.Pictures())) == "0" {
			h.showsAll()
		}
		h.end()
	}
}

func TestAFallbackElsewhereSeesNoPictures(t *testing.T) {
	for _, vision := range []string{"", "claude"} {
		h := viewing(t, chain(t))
		h.settings.Media.Vision = vision
		h.tools = append(h.tools, shooter(t))
		h.model.Respond(func(r modeltest.Request) modeltest.Reply {
			switch {
			case r.Model == "test-model" && len(r.Pictures()) > 0:
				return modeltest.Error(401, "Incorrect API key")
			case r.Model == "test-model":
				return modeltest.Reply{Calls: []modeltest.Call{{Name: "shoot", Arguments: `{}`}}}
			}
			return modeltest.Text("I see " + seen(r))
		})
		h.start().says(alice, "take a picture")
		h.showsAll()
		want := map[string]string{"": "I see \n\n(claude can't see pictures; it got only your words)\n\n", "claude": "I see blue 30x30\n\n"}[vision]
		if texts := h.messenger.texts(alice); len(texts) == 0 || !strings.HasPrefix(texts[0], strings.TrimSpace(want)) {
			t.Errorf("vision %q: shown %q", vision, texts)
		}
		h.end()
	}
}
