//go:build speech && linux

package voice_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"klawbot/engine/internal/transcribe"
	"klawbot/engine/internal/voice"
	"klawbot/engine/settings"
	"klawbot/internal/needs"
	"klawbot/internal/speechtest"
)

// TestSpeechOfVoice: the bot hears without an error what it has said, with no network.
func TestSpeechOfVoice(t *testing.T) {
	needs.Program(t, "espeak-ng", "espeak-ng")
	needs.Program(t, "opus-tools", "opusenc")
	assets := speechtest.Assets(t)
	if err := os.MkdirAll(filepath.Join(assets, voice.Folder("en")), 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"en_US-joe-medium.onnx": "model.onnx", "en_US-joe-medium.onnx.json": "model.onnx.json"} {
		raw, err := os.ReadFile(filepath.Join(speechtest.Voice(t), from))
		if err != nil {
			t.Fatal(err)
		}
		// Without noise a text always sounds the same.
		if filepath.Ext(to) == ".json" {
			raw = regexp.MustCompile(`"(noise_scale|noise_w)": [0-9.]+`).ReplaceAll(raw, []byte(`"$1": 0`))
		}
		if err := os.WriteFile(filepath.Join(assets, voice.Folder("en"), to), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := voice.New(voice.Config{Settings: func() settings.Settings { return settings.Settings{Language: "en"} }, Dirs: []string{assets}, Log: slog.New(slog.DiscardHandler)})
	ears := transcribe.New(transcribe.Config{Settings: func() transcribe.Settings { return transcribe.Settings{} }, Dirs: []string{assets}, Log: slog.New(slog.DiscardHandler)})
	for _, text := range []string{
		"Please remind me tomorrow morning to call the doctor.",
		"Good morning. The train to London leaves at half past seven, and it will rain today. Shall I wake you up at six?",
	} {
		began := time.Now()
		ogg, length, err := m.Say(t.Context(), text, "")
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		file := filepath.Join(t.TempDir(), "voice.ogg")
		if err := os.WriteFile(file, ogg, 0o600); err != nil {
			t.Fatal(err)
		}
		heard, err := ears.Hear(t.Context(), file, "audio/ogg", length, "en")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s of sound, %d kB, in %s: %s", length, len(ogg)>>10, took, heard.Text)
		if errors, _ := speechtest.WordErrors(text, heard.Text); errors > 0 {
			t.Errorf("%d wrong words in %q", errors, heard.Text)
		}
	}
}
