package model_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/model"
	"klawbot/engine/settings"
	"klawbot/internal/httpclient"
	"klawbot/internal/modeltest"
	"klawbot/internal/redact"
)

// eyes is a client of one fake model.
type eyes struct {
	*model.Client
	t      *testing.T
	fake   *modeltest.Server
	models map[string]model.Candidate
}

func newEyes(t *testing.T) *eyes {
	t.Helper()
	fake, dial := modeltest.StartPipe("")
	http := httpclient.New(httpclient.Options{Dial: dial})
	t.Cleanup(func() {
		http.CloseIdleConnections()
		fake.Close()
	})
	fake.Respond(func(r modeltest.Request) modeltest.Reply {
		var seen []string
		for _, p := range r.Pictures() {
			seen = append(seen, p.String())
		}
		return modeltest.Text("sees " + strings.Join(seen, ", ") + " reads " + r.LastUser())
	})
	e := &eyes{t: t, fake: fake, models: map[string]model.Candidate{}}
	for kind, base := range map[string]string{"openai": fake.URL + "/v1", "anthropic": fake.URL, "ollama": fake.URL} {
		e.models[kind] = model.Candidate{Name: kind, Model: settings.Model{Provider: kind, Type: kind, BaseURL: base, Name: "test-model", ContextBudget: 32_000}}
	}
	files := map[string][]byte{"red": jpegOf(t, 16, 8, color.RGBA{R: 255, A: 255}), "blue": jpegOf(t, 32, 32, color.RGBA{B: 255, A: 255})}
	e.Client = model.New(model.Config{
		HTTP: http, Redact: new(redact.Set), Log: slog.New(slog.DiscardHandler),
		Settings: func() settings.Settings {
			return settings.Settings{Language: "en", MaxConcurrentModelCalls: 2, Models: settings.Models{Timeout: time.Minute}}
		},
		Open: func(sum string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files[sum])), nil },
	})
	t.Cleanup(e.Client.Close)
	return e
}

func jpegOf(t *testing.T, w, h int, c color.Color) []byte {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		p.Set(i%w, i/w, c)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, p, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// with changes an entry, and returns it.
func (e *eyes) with(name string, change func(*model.Candidate)) model.Candidate {
	c := e.models[name]
	change(&c)
	return c
}

func showing(words string, sums ...string) []llm.Message {
	m := llm.Text(llm.RoleUser, words)
	for _, sum := range sums {
		size := map[string]int{"red": 16, "blue": 32}[sum]
		m.Blocks = append(m.Blocks, llm.Block{Image: &llm.Image{Sum: sum, MIME: "image/jpeg", Width: size, Height: size, Label: "photo " + sum + ".jpg"}})
	}
	return []llm.Message{m}
}

// ask returns what the model says, and what the person is told beside it.
func (e *eyes) ask(c model.Candidate, noPictures bool, msgs []llm.Message) (said, told string) {
	e.t.Helper()
	a, err := e.Ask(e.t.Context(), model.Call{
		Candidate: c, NoPictures: noPictures, Request: llm.Request{Model: c.Model.Name, Messages: msgs}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		e.t.Fatalf("%s: %v", c.Name, err)
	}
	return a.Result.Message.PlainText(), strings.Join(e.News(1, a.Notices...), "; ")
}

const (
	sees   = "sees red 16x8 reads look"
	blind  = "sees  reads look\n\n[photo red.jpg, not shown: you can't see pictures]"
	notice = " can't see pictures; it got only your words"
)

func TestModelWithVision(t *testing.T) {
	e := newEyes(t)
	e.fake.SetCapabilities(0, "completion", "vision")
	for name, c := range e.models {
		if said, told := e.ask(c, false, showing("look", "red")); said != sees || told != "" {
			t.Errorf("%s: %q, %q", name, said, told)
		}
	}
}

func TestModelWithoutVision(t *testing.T) {
	for name, set := range map[string]func(*eyes) model.Candidate{
		"off": func(e *eyes) model.Candidate {
			return e.with("openai", func(c *model.Candidate) { c.Model.Vision = settings.VisionOff })
		},
		"capabilities": func(e *eyes) model.Candidate { return e.models["ollama"] },
	} {
		e := newEyes(t)
		c := set(e)
		said, told := e.ask(c, false, showing("look", "red"))
		if said != blind || told != c.Name+notice {
			t.Errorf("%s: %q, %q", name, said, told)
		}
		if _, told := e.ask(c, false, showing("look", "red")); told != "" {
			t.Errorf("%s: told again: %q", name, told)
		}
		if n := len(e.fake.Completions()); n != 2 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// TestRefusedPicturesAreRemembered: the first request is refused, the others go without.
func TestRefusedPicturesAreRemembered(t *testing.T) {
	for name, words := range map[string]string{
		"openai": "No endpoints found that support image input", "anthropic": "this model does not support image input", "ollama": "model does not support images",
	} {
		e := newEyes(t)
		e.fake.SetCapabilities(0, "completion", "vision")
		e.fake.Blind(words)
		for i, want := range []int{2, 3, 4} {
			said, told := e.ask(e.models[name], false, showing("look", "red"))
			if said != blind || (told == name+notice) != (i == 0) {
				t.Errorf("%s: %q, %q", name, said, told)
			}
			if n := len(e.fake.Completions()); n != want {
				t.Errorf("%s: %d requests, want %d", name, n, want)
			}
		}
		e.fake.Blind("")
		other := e.with(name, func(c *model.Candidate) { c.Model.APIKey = "another" })
		if said, _ := e.ask(other, false, showing("look", "red")); said != sees {
			t.Errorf("%s: another entry is blind, too: %q", name, said)
		}
	}
}

// TestVisionOnAsksEachTime: what the owner says counts for more than a refusal.
func TestVisionOnAsksEachTime(t *testing.T) {
	e := newEyes(t)
	c := e.with("ollama", func(c *model.Candidate) { c.Model.Vision = settings.VisionOn })
	e.fake.SetCapabilities(0, "completion", "vision")
	e.fake.Blind("model does not support images")
	if said, _ := e.ask(c, false, showing("look", "red")); said != blind {
		t.Errorf("got %q", said)
	}
	e.fake.Blind("")
	if said, _ := e.ask(c, false, showing("look", "red")); said != sees {
		t.Errorf("got %q", said)
	}
}

func TestModelThatMayNotSee(t *testing.T) {
	e := newEyes(t)
	if said, told := e.ask(e.models["openai"], true, showing("look", "red")); said != blind || told != "openai"+notice {
		t.Errorf("%q, %q", said, told)
	}
}

func TestPictureThatIsTooLargeIsLeftOut(t *testing.T) {
	for _, refusal := range []modeltest.Reply{
		modeltest.Error(400, "image exceeds 5 MB maximum: 6 bytes > 5242880 bytes"), modeltest.Error(413, "Request Entity Too Large"),
		modeltest.Error(400, "At most 1 image(s) may be provided in one request."),
	} {
		e := newEyes(t)
		e.fake.Push(refusal)
		want := "sees red 16x8 reads look\n\n[photo blue.jpg, not shown: it was refused]"
		for range 2 {
			if said, told := e.ask(e.models["openai"], false, showing("look", "red", "blue")); said != want || told != "" {
				t.Errorf("%s: %q, %q", refusal.Message, said, told)
			}
		}
		if n := len(e.fake.Completions()); n != 3 {
			t.Errorf("%s: %d requests", refusal.Message, n)
		}
	}
}

// TestEyesAreAskedAboutOnce: a server that says nothing is not asked with each picture.
func TestEyesAreAskedAboutOnce(t *testing.T) {
	e := newEyes(t)
	for range 3 {
		e.ask(e.models["openai"], false, showing("look", "red"))
	}
	lists := 0
	for _, entry := range e.fake.Journal() {
		if entry.Path == "/v1/models" {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("asked %d times", lists)
	}
}
