package voice_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"klawbot/engine/internal/confined"
	"klawbot/engine/internal/embed"
	"klawbot/engine/internal/transcribe"
	"klawbot/engine/internal/voice"
	"klawbot/engine/settings"
	"klawbot/internal/httpclient"
)

func TestMain(m *testing.M) {
	confined.Main(map[string]confined.Kind{voice.Kind: voice.Child, transcribe.Kind: transcribe.Child})
	os.Exit(m.Run())
}

const key = "sk-secret-key-of-a-test"

// spoken is a voice message of one second.
func spoken(t *testing.T) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "sound", "testdata", "tone.opus"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func mouth(s settings.Voice, dirs ...string) *voice.Mouth {
	all := settings.Settings{Language: "en", Models: settings.Models{Retries: 2}}
	all.Media.Voice = s
	return voice.New(voice.Config{
		Settings: func() settings.Settings { return all }, Dirs: dirs,
		HTTP: httpclient.New(httpclient.Options{}), Log: slog.New(slog.DiscardHandler),
	})
}

// server is a fake of POST /v1/audio/speech: it fails so often, then answers. asked is how
// often it was asked, request what it got last.
func server(t *testing.T, fails, status int, body []byte) (s settings.Voice, asked *int, request map[string]string) {
	asked, request = new(int), map[string]string{}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if *asked++; *asked <= fails {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&request)
		request["path"], request["authorization"] = r.URL.Path, r.Header.Get("Authorization")
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(h.Close)
	s = settings.Voice{Service: settings.Service{Provider: "studio", BaseURL: h.URL + "/v1", APIKey: key, Model: "tts-1"}, MaxChars: 100}
	return s, asked, request
}

// TestServerSpeaks: it gets words without Markdown, and what is passing is tried again.
func TestServerSpeaks(t *testing.T) {
	s, asked, request := server(t, 1, 200, spoken(t))
	ogg, length, err := mouth(s).Say(t.Context(), "**Done**, see [the list](https://example.com) 🎉\n```\ncode\n```", "")
	if err != nil || len(ogg) != len(spoken(t)) || length.Round(100*time.Millisecond) != time.Second || *asked != 2 {
		t.Fatalf("%d bytes, %s, %v after %d requests", len(ogg), length, err, *asked)
	}
	want := map[string]string{"path": "/v1/audio/speech", "authorization": "Bearer " + key, "model": "tts-1", "input": "Done , see the list",
		"voice": "alloy", "response_format": "opus"}
	for name, value := range want {
		if request[name] != value {
			t.Errorf("%s: %q, want %q", name, request[name], value)
		}
	}
}

// TestServerSpeaksNonsense: what is no voice message is an error, without the key.
func TestServerSpeaksNonsense(t *testing.T) {
	for says, c := range map[string]struct {
		status int
		body   string
	}{
		"no Opus":         {200, "ID3 a song"},
		"Bearer":          {401, `{"error": {"message": "no such key Bearer ` + key + `"}}`},
		"no such voice":   {400, `{"error": {"message": "no such voice"}}`},
		"has no length":   {200, "OggS" + strings.Repeat("\x00", 24) + "OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00\x00\x00"},
		"speak with tts-": {500, ""},
	} {
		s, _, _ := server(t, 0, c.status, []byte(c.body))
		_, _, err := mouth(s).Say(t.Context(), "Hello.", "")
		if err == nil || strings.Contains(err.Error(), key) || says != "Bearer" && !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// TestOrderOfMouths: the voice of this machine, then the named server, else nobody.
func TestOrderOfMouths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{voice.Folder("en") + "/model.onnx", voice.Folder("en") + "/model.onnx.json", embed.LibraryName()} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("{}"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	programs := t.TempDir() // they are looked for, and the child ends before it starts them
	for _, name := range []string{"espeak-ng", "opusenc"} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	for name, c := range map[string]struct {
		kind, language string
		server         bool
		asked          int
		says           string
	}{
		"local breaks down, server":   {"auto", "", true, 1, ""},
		"local breaks down, alone":    {"local", "", true, 0, "is not of a voice of Piper"},
		"no voice for the language":   {"auto", "ru", true, 1, ""},
		"server only":                 {"openai", "", true, 1, ""},
		"off":                         {"off", "", true, 0, "nothing can speak here"},
		"nothing for the language":    {"auto", "ru", false, 0, "nothing can speak here"},
		"nothing to say, who may ask": {"auto", "", true, 0, "there is nothing to say"},
	} {
		t.Run(name, func(t *testing.T) {
			s, asked, _ := server(t, 0, 200, spoken(t))
			if !c.server {
				s.Provider = ""
			}
			s.Type = c.kind
			text := "Hello."
			if strings.HasPrefix(c.says, "there is") {
				text = "```\ncode\n```\n---\n"
			}
			_, _, err := mouth(s, dir).Say(t.Context(), text, c.language)
			if *asked != c.asked || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v after %d requests, want %q after %d", err, *asked, c.says, c.asked)
			}
		})
	}
	for want, m := range map[string]*voice.Mouth{
		"a voice for en, here true": mouth(settings.Voice{}, dir),
		"none: klawbot assets pull --voice en, with espeak-ng and opus-tools installed false": mouth(settings.Voice{}),
		"off true":             mouth(settings.Voice{Service: settings.Service{Type: "off"}}, dir),
		"tts-1 at studio true": mouth(settings.Voice{Service: settings.Service{Provider: "studio", Model: "tts-1"}}),
	} {
		if text, ok := m.Describe(); fmt.Sprint(text, " ", ok) != want {
			t.Errorf("%s %v, want %s", text, ok, want)
		}
	}
}
