package engine_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
	"klawbot/tools"
)

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
	h.settings.Media.Quota, h.settings.Media.MaxDownload = 1<<30, 20<<20
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

// showsSome waits until a chat shows a text that holds another one.
func (h *house) showsSome(chat int64, want string) {
	h.t.Helper()
	if !h.messenger.wait(10*time.Second, func() bool {
		return slices.ContainsFunc(h.messenger.texts(chat), func(text string) bool { return strings.Contains(text, want) })
	}) {
		h.t.Fatalf("chat %d shows %q, want %q in it", chat, h.messenger.texts(chat), want)
	}
}

// blind makes the main model one that takes no pictures.
func blind(h *house) *house {
	main := h.settings.Models.Entries["main"]
	main.Vision = settings.VisionOff
	h.settings.Models.Entries["main"] = main
	return h
}

func TestImageLookAsksTheModelForPictures(t *testing.T) {
	h := blind(viewing(t, chain(t)))
	h.settings.Media.Vision = "claude"
	h.model.Respond(looker)
	h.start().says(alice, "look at cat.png")
	h.showsSome(alice, "a red 100x50 thing; asked: which colour?")
	for _, r := range h.model.Completions() {
		if r.Model != "claude-x" && len(r.Pictures()) > 0 {
			t.Errorf("%s sees the picture", r.Model)
		}
	}
}

func TestImageLookWithoutEyes(t *testing.T) {
	h := blind(viewing(t, build(t)))
	h.settings.Media.Documents.OCR = "off"
	h.model.Respond(looker)
	h.start().says(alice, "look at cat.png")
	h.showsSome(alice, "no model here can see pictures")
}

// bomb is a PNG whose header promises 65,536 points on each side.
func bomb() string {
	head := "IHDR\x00\x01\x00\x00\x00\x01\x00\x00\x08\x06\x00\x00\x00"
	return "\x89PNG\r\n\x1a\n\x00\x00\x00\r" + string(binary.BigEndian.AppendUint32([]byte(head), crc32.ChecksumIEEE([]byte(head))))
}

func TestImageLookAtBadPictures(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"bomb":  {bomb(), "too big inside"},
		"words": {"no picture at all", "damaged, or no jpeg"},
	} {
		t.Run(name, func(t *testing.T) {
			h := viewing(t, build(t))
			if err := os.WriteFile(filepath.Join(h.workspace(), "cat.png"), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			h.model.Respond(looker)
			h.start().says(alice, "look at cat.png")
			h.showsSome(alice, c.want)
		})
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

// shoots calls that tool once in a conversation, and then says what it sees.
func shoots(r modeltest.Request) modeltest.Reply {
	if !slices.ContainsFunc(r.Messages, func(m modeltest.Message) bool { return m.Role == "tool" }) {
		return modeltest.Reply{Calls: []modeltest.Call{{Name: "shoot", Arguments: `{}`}}}
	}
	return modeltest.Text("I see " + seen(r) + ". " + said(r))
}

// TestPicturesOfToolsReachTheModel: also after a restart, and not after /new.
func TestPicturesOfToolsReachTheModel(t *testing.T) {
	for _, name := range []string{"main", "claude"} {
		t.Run(name, func(t *testing.T) {
			h := viewing(t, chain(t))
			h.settings.Models.Default, h.settings.Models.Fallback = name, nil
			h.tools = append(h.tools, shooter(t))
			h.model.Respond(shoots)
			h.start().says(alice, "take a picture")
			h.showsSome(alice, "I see blue 30x30.")
			h.restart()
			h.says(alice, "what was it?")
			h.showsSome(alice, "I see blue 30x30. what was it?")
			h.says(alice, "/new")
			h.model.Respond(func(r modeltest.Request) modeltest.Reply { return modeltest.Text("I see " + seen(r) + "nothing") })
			h.says(alice, "and now?")
			h.showsSome(alice, "I see nothing")
		})
	}
}

func TestModelWithoutVisionGetsNoPicturesOfTools(t *testing.T) {
	h := blind(viewing(t, build(t)))
	h.tools = append(h.tools, shooter(t))
	h.model.Respond(shoots)
	h.start().says(alice, "take a picture")
	h.showsSome(alice, "I see . take a picture")
	if kept, _ := os.ReadDir(filepath.Join(h.dir, "media")); len(kept) > 0 {
		t.Error("pictures are kept for a model that sees none")
	}
}

func TestAFallbackElsewhereSeesNoPictures(t *testing.T) {
	for vision, want := range map[string]string{"": "I see . take a picture\n\n(claude can't see pictures; it got only your words)", "claude": "I see blue 30x30. take a picture"} {
		t.Run(vision, func(t *testing.T) {
			h := viewing(t, chain(t))
			h.settings.Media.Vision = vision
			h.tools = append(h.tools, shooter(t))
			h.model.Respond(func(r modeltest.Request) modeltest.Reply {
				if r.Model == "test-model" && len(r.Pictures()) > 0 {
					return modeltest.Error(401, "Incorrect API key")
				}
				return shoots(r)
			})
			h.start().says(alice, "take a picture")
			h.showsSome(alice, want)
		})
	}
}
