package health

import (
	"net/http"
	"testing"

	"klawbot/engine/settings"
	"klawbot/internal/modeltest"
)

func TestSeeingText(t *testing.T) {
	for want, change := range map[string]func(*settings.Settings){
		"no: there is no model": func(s *settings.Settings) { s.Models.Default = "" },
		"main, if m has vision": func(*settings.Settings) {},
		"no: m has no vision": func(s *settings.Settings) {
			s.Models.Entries["main"] = settings.Model{Name: "m", Vision: settings.VisionOff}
		},
		"main": func(s *settings.Settings) { s.Models.Entries["main"] = settings.Model{Name: "m", Type: "anthropic"} },
		"eyes": func(s *settings.Settings) { s.Media.Vision = "eyes" },
	} {
		s := settings.Settings{Models: settings.Models{Default: "main", Entries: map[string]settings.Model{
			"main": {Name: "m", Type: "openai"}, "eyes": {Name: "e", Type: "openai", Vision: settings.VisionOn},
		}}}
		change(&s)
		if got, _ := seeingText(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSeeingFinding(t *testing.T) {
	fake := modeltest.Start("")
	defer fake.Close()
	fake.Respond(func(r modeltest.Request) modeltest.Reply { return modeltest.Text(r.Pictures()[0].Colour) })
	s := settings.Settings{Models: settings.Models{Default: "main", Entries: map[string]settings.Model{
		"main": {Name: "m", Type: "openai", Provider: "p", BaseURL: fake.URL + "/v1"},
	}}}
	for _, c := range []struct {
		refusal, text string
		ok            bool
	}{
		{"", `m took a red picture and says "red"`, true},
		{"model does not support images", "no: m has no vision", true},
		{"unknown model m", "", false},
	} {
		fake.Blind(c.refusal)
		f := seeingFinding(t.Context(), http.DefaultClient, s)
		if f.OK != c.ok || c.ok && f.Text != c.text {
			t.Errorf("%q: %+v", c.refusal, f)
		}
	}
}
