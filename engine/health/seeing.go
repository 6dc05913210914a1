package health

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"klawbot/engine/internal/llm"
	"klawbot/engine/internal/model"
	"klawbot/engine/probe"
	"klawbot/engine/settings"
	"klawbot/internal/clip"
)

// looker is the model that looks at pictures: the one for it, else the default.
func looker(s settings.Settings) (name string, m settings.Model) {
	if m, ok := s.Models.Entries[s.Media.Vision]; ok {
		return s.Media.Vision, m
	}
	return s.Models.For("")
}

// seeingText says which model looks at pictures, as far as the configuration tells it: no
// server is asked.
func seeingText(s settings.Settings) (text string, sees bool) {
	name, m := looker(s)
	switch {
	case name == "":
		return "no: there is no model", false
	case m.Vision == settings.VisionOff, m.Type == model.Managed && m.Vision != settings.VisionOn:
		return fmt.Sprintf("no: %s has no vision", m.Name), false
	case m.Vision == settings.VisionOn, m.Type == "anthropic":
		return name, true
	}
	return fmt.Sprintf("%s, if %s has vision", name, m.Name), true
}

// seeingFinding shows a red picture to the model that looks at pictures.
func seeingFinding(ctx context.Context, client *http.Client, s settings.Settings) Finding {
	name, m := looker(s)
	if name == "" {
		return without("seeing", "no: there is no model")
	}
	blind := without("seeing", fmt.Sprintf("no: %s has no vision", m.Name))
	if m.Vision == settings.VisionOff || m.Type == model.Managed || m.Type == "script" {
		return blind
	}
	provider, err := model.NewProvider(m, client, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		return Broken("seeing", "correct models in config.yaml", err)
	}
	if seer, ok := provider.(llm.Seer); ok && m.Vision != settings.VisionOn {
		if yes, known := seer.Sees(ctx, m.Name); known && !yes {
			return blind
		}
	}
	answer, err := askAboutSample(ctx, provider, m)
	fail, _ := errors.AsType[*llm.Error](err)
	switch {
	case fail != nil && fail.Kind == llm.Unsupported:
		return blind
	case err != nil:
		return Broken("seeing", "check the network and models in config.yaml", fmt.Errorf("%s at %s: %w", m.Name, m.Provider, probe.Explain(m, err)))
	}
	return OK("seeing", "%s took a red picture and says %q", m.Name, clip.Runes(strings.Join(strings.Fields(answer), " "), 60))
}

// askAboutSample shows a model a red picture.
func askAboutSample(ctx context.Context, provider llm.Provider, m settings.Model) (string, error) {
	const side = 64
	sample := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		sample.SetRGBA(i%side, i/side, color.RGBA{R: 220, G: 20, B: 20, A: 255})
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, sample, nil); err != nil {
		return "", err
	}
	request := llm.Request{
		Model: m.Name, MaxTokens: min(cmp.Or(m.MaxTokens, probeTokens), probeTokens),
		Messages: []llm.Message{{Role: llm.RoleUser, Blocks: []llm.Block{
			{Image: &llm.Image{Sum: "sample", MIME: "image/jpeg", Width: side, Height: side, Label: "sample"}},
			{Text: "Which colour is this picture? Answer in one word."},
		}}},
		Open: func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil },
	}
	result, err := provider.Stream(ctx, request, func(llm.Event) {})
	return result.Message.PlainText(), err
}
