//go:build speech && linux

package transcribe_test

import (
	"syscall"
	"testing"
	"time"

	"klawbot/engine/internal/transcribe"
	"klawbot/internal/speechtest"
)

// hear hears a file with the real model, in a child process.
func hear(t *testing.T, assets, file string) string {
	t.Helper()
	heard, err := ears(transcribe.Settings{}, nil, assets).Hear(t.Context(), file, "", 0, "en")
	if err != nil {
		t.Fatal(err)
	}
	if !heard.Local || heard.Model != transcribe.Model {
		t.Errorf("%+v", heard)
	}
	return heard.Text
}

// TestSpeechOfClips: a clip of 10 seconds without an error, also as a voice message of any
// quality; one of 44 seconds with at most 5 in 100 words; little memory.
func TestSpeechOfClips(t *testing.T) {
	assets := speechtest.Assets(t)
	beckett := speechtest.Clip(t, "beckett.wav")
	files := map[string]string{"wav": beckett}
	for _, kbits := range []string{"8", "16", "24", "64"} {
		files["opus of "+kbits+" kbit/s"] = speechtest.Opus(t, beckett, kbits)
	}
	for name, file := range files {
		text := hear(t, assets, file)
		if errors, _ := speechtest.WordErrors(speechtest.Beckett, text); errors > 0 {
			t.Errorf("%s: %d wrong words in %q", name, errors, text)
		}
	}
	began := time.Now()
	text := hear(t, assets, speechtest.Clip(t, "two_cities.wav"))
	took := time.Since(began)
	errors, words := speechtest.WordErrors(speechtest.TwoCities, text)
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		t.Fatal(err)
	}
	t.Logf("44 s in %.1f s, %d of %d words wrong, %d MB in memory: %s", took.Seconds(), errors, words, usage.Maxrss>>10, text)
	if errors*20 > words {
		t.Errorf("%d of %d words are wrong", errors, words)
	}
	if usage.Maxrss > 200<<10 {
		t.Errorf("a child took %d MB", usage.Maxrss>>10)
	}
}

// TestSpeechOfEspeak: what a machine says, over a voice message, comes back. The model was
// made for people; these voices are clear enough.
func TestSpeechOfEspeak(t *testing.T) {
	assets := speechtest.Assets(t)
	for _, c := range [][2]string{
		{"en-us+f3", "Please remind me tomorrow at nine to call the doctor."},
		{"en-us+m3", "What is the weather in London today?"},
	} {
		text := hear(t, assets, speechtest.Opus(t, speechtest.Spoken(t, c[0], c[1]), "24"))
		if errors, _ := speechtest.WordErrors(c[1], text); errors > 0 {
			t.Errorf("%d wrong words in %q", errors, text)
		}
	}
}

// TestSpeechOfDoctor: the built-in clip is understood.
func TestSpeechOfDoctor(t *testing.T) {
	if heard, err := ears(transcribe.Settings{Language: "en"}, nil, speechtest.Assets(t)).Try(t.Context()); err != nil || !heard.Local {
		t.Errorf("%+v, %v", heard, err)
	}
}
