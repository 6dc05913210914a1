package health

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"klawbot/engine/internal/toolset"
	"klawbot/engine/settings"
	"klawbot/internal/httpclient"
)

// TestDoctorHears: the built-in clip goes through what hears people; nobody there is a
// fault only where somebody is named.
func TestDoctorHears(t *testing.T) {
	answer := `{"text": "Hello, can you hear me?"}`
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	t.Cleanup(h.Close)
	server := settings.Service{Type: "auto", Provider: "whisper", BaseURL: h.URL + "/v1", Model: "whisper-1"}
	for name, c := range map[string]struct {
		service settings.Service
		answer  string
		ok      bool
		says    string
	}{
		"a server":            {server, answer, true, `heard: "Hello, can you hear me?" (whisper-1 at whisper, in `},
		"a server mishears":   {server, `{"text": "Thank you."}`, false, `whisper-1 heard "Thank you." instead of`},
		"nobody":              {settings.Service{Type: "auto"}, "", true, "– hearing    none → klawbot assets pull --speech"},
		"off":                 {settings.Service{Type: "off"}, "", true, "– hearing    off → media.transcription.type"},
		"local, not there":    {settings.Service{Type: "local"}, "", false, "none: klawbot assets pull --speech"},
		"a server, unnamed":   {settings.Service{Type: "openai"}, "", false, "none: "},
		"a server of nothing": {settings.Service{Type: "auto", Provider: "whisper", BaseURL: "nowhere", Model: "whisper-1"}, "", false, "baseURL"},
	} {
		t.Run(name, func(t *testing.T) {
			answer = c.answer
			var s settings.Settings
			s.Language = "en"
			s.Media.Transcription.Service, s.Media.Transcription.Language = c.service, "en"
			config := toolset.Config{Settings: func() settings.Settings { return s }, HTTP: httpclient.New(httpclient.Options{}), Log: slog.New(slog.DiscardHandler)}
			f := hearingFinding(t.Context(), config)
			if f.OK != c.ok || !strings.Contains(f.Line(), c.says) || (f.State == StateOK) != (f.Fix == "") {
				t.Errorf("%+v, want %q", f, c.says)
			}
		})
	}
}

// TestDoctorSpeaks: no voice is a fault only where one is wanted; a server, which costs
// money, is only named.
func TestDoctorSpeaks(t *testing.T) {
	for says, c := range map[string]struct {
		service settings.Service
		ok      bool
	}{
		"– speaking   none → klawbot assets pull --voice en": {settings.Service{Type: "auto"}, true},
		"✗ speaking   none: ":                                {settings.Service{Type: "local"}, false},
		"– speaking   off → media.voice.type":                {settings.Service{Type: "off"}, true},
		"✓ speaking   tts-1 at studio":                       {settings.Service{Type: "auto", Provider: "studio", BaseURL: "http://127.0.0.1:1", Model: "tts-1"}, true},
	} {
		var s settings.Settings
		s.Media.Voice.Service = c.service
		config := toolset.Config{Settings: func() settings.Settings { return s }, HTTP: httpclient.New(httpclient.Options{}), Log: slog.New(slog.DiscardHandler)}
		if f := speakingFinding(t.Context(), config); f.OK != c.ok || !strings.HasPrefix(f.Line(), says) || (f.State == StateOK) != (f.Fix == "") {
			t.Errorf("%+v, want %q", f, says)
		}
	}
}
