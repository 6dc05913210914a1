//go:build bench && linux

package transcribe_test

import (
	"testing"
	"time"

	"klawbot/engine/internal/transcribe"
	"klawbot/internal/speechtest"
)

// TestBenchSpeech measures how much sound the local model hears in a second, with its
// child, and how many words of two clips are wrong. It prints rows of doc/benchmarks.md.
func TestBenchSpeech(t *testing.T) {
	e := ears(transcribe.Settings{}, nil, speechtest.Assets(t))
	for _, c := range []struct {
		clip, words string
		seconds     float64
		percent     int // of the words may be wrong
	}{{"beckett.wav", speechtest.Beckett, 10, 0}, {"two_cities.wav", speechtest.TwoCities, 44, 5}} {
		best := time.Hour
		var heard transcribe.Heard
		for range 3 {
			begun := time.Now()
			var err error
			if heard, err = e.Hear(t.Context(), speechtest.Clip(t, c.clip), "", 0, "en"); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(begun))
		}
		wrong, words := speechtest.WordErrors(c.words, heard.Text)
		t.Logf("%s: %.1f s of sound a second, goal >= 8; %d of %d words wrong, goal <= %d %%", c.clip, c.seconds/best.Seconds(), wrong, words, c.percent)
		if wrong*100 > words*c.percent {
			t.Errorf("%s: %d of %d words are wrong", c.clip, wrong, words)
		}
	}
}
